import type { BmadError } from '../base/errors.ts';
import { argumentsText, stepArguments, type StepWriter } from '../base/step.ts';
import type { Context } from '../operations/context.ts';
import { execute } from '../operations/execute.ts';
import type { AnyOperation } from '../operations/operation.ts';
import { present } from '../base/values.ts';
import { parseGitAddress, type GitUrlSpec } from '../sources/git/address.ts';
import type * as Public from './public.ts';

/** Asks the operations of one context, until it is closed. */
export interface Asker {
  readonly context: Context;
  /** Data of an operation. Throws what the operation fails with. */
  ask<T>(operation: AnyOperation, input?: object): Promise<T>;
  /** The same for calls that never throw: what went wrong is logged, and the answer is `otherwise`. */
  askGently<T, E>(operation: AnyOperation, input: object, pick: (data: T) => E, otherwise: E): Promise<E>;
  close(): void;
}

/** A program reads hints: the steps become part of them. */
function inLibraryTerms(error: BmadError): BmadError {
  return error.with({ hint: error.wayOut(asFunctionCall), steps: [] });
}

export function createAsker(context: Context): Asker {
  const closing = new AbortController();

  /** The data was checked with the operation's schema; `T` is what that schema says. */
  async function ask<T>(operation: AnyOperation, input: object = {}): Promise<T> {
    const call = {
      signal: closing.signal,
      progress: (message: string) => context.log.info(message),
      say: asFunctionCall,
    };
    const outcome = await execute(operation, input, context, call);
    if (!outcome.ok) throw inLibraryTerms(outcome.error);
    return outcome.data as T;
  }

  return {
    context,
    ask,
    async askGently(operation, input, pick, otherwise) {
      try {
        return pick(await ask(operation, input));
      } catch (error) {
        context.log.warn(`${operation.name}: ${error instanceof Error ? error.message : String(error)}`);
        return otherwise;
      }
    },
    close() {
      closing.abort();
      context.close();
    },
  };
}

const LISTS: Partial<Record<string, string>> = {
  agents: 'listAgents()',
  workflows: 'listWorkflows()',
  resources: 'listAllFiles()',
};

const LOADERS: Partial<Record<string, string>> = { resource: 'loadFile', workflow: 'loadWorkflow' };

/** A step as a call of the library; most operations have none. */
export const asFunctionCall: StepWriter = (step) => {
  const { name, target, kind, what, query, message } = stepArguments(step);
  switch (step.operation) {
    case 'list':
      return LISTS[String(what)];
    case 'search':
      return `search(${JSON.stringify(query)})`;
    case 'execute':
      return `activate(${JSON.stringify(name)}${message === undefined ? '' : `, ${argumentsText({ message })}`})`;
    case 'read':
      return `${LOADERS[String(kind)] ?? 'loadAgent'}(${JSON.stringify(target)})`;
    default:
      return undefined;
  }
};

/** Only the parts: what is made of them for the cache, and credentials, stay inside. */
export function parseGitUrl(gitUrl: string): Public.GitUrlSpec {
  const { protocol, host, org, repo, ref, subpath } = parseGitAddress(gitUrl);
  return present<GitUrlSpec>({ protocol, host, org, repo, ref, subpath });
}
