import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { InMemoryTransport } from '@modelcontextprotocol/client';
import type { Outside } from '../../../src/app/app.ts';
import { once } from '../../../src/base/async.ts';
import type { ErrorCode } from '../../../src/base/errors.ts';
import type { StepWriter } from '../../../src/base/step.ts';
import { extractSettings } from '../../../src/config/flags.ts';
import { createBmad } from '../../../src/library/bmad.ts';
import { OFFERED } from '../../../src/operations/offered.ts';
import type { AnyOperation } from '../../../src/operations/operation.ts';
import { isOwnOption } from '../../../src/surfaces/cli/completion.ts';
import { runProgram } from '../../../src/surfaces/cli/program.ts';
import { createApiRoutes } from '../../../src/surfaces/http/api/route.ts';
import * as onDemand from '../../../src/operations/on-demand.ts';
import { stepsFor } from '../../../src/surfaces/mcp/steps.ts';
import { mcpServerFactory } from '../../../src/surfaces/mcp/server.ts';
import { contextIn } from '../app.ts';
import { STEPS_TAKEN } from '../global-setup.ts';
import { newClient, textsOf } from '../mcp-client.ts';
import { served } from '../served.ts';
import {
  stepsForModels,
  stepsForPrograms,
  stepsForRequests,
  stepsForTerminals,
  type PrintedStep,
} from './printed.ts';
import { filledIn, sampleOf } from './samples.ts';

type OnEnd = (cleanUp: () => Promise<void>) => void;

/** One way to use the product: asks for something, and takes the steps that the answers recommend. */
export interface Surface {
  name: string;
  /** Everything that a call prints; nothing where the surface does not offer the operation. */
  ask(operation: AnyOperation, input: Record<string, unknown>): Promise<string | undefined>;
  stepsIn(text: string): PrintedStep[];
  /** Takes a step as it was printed. Answers with why it leads nowhere, if it does. */
  take(step: PrintedStep): Promise<string | undefined>;
}

/** Counts a step that was taken, for the number at the end of the tests. */
export function countStep({ text }: PrintedStep): void {
  const folder = process.env['BMAD_TEST_FOLDER'];
  if (folder !== undefined) appendFileSync(join(folder, STEPS_TAKEN), `${text.replaceAll('\n', ' ')}\n`);
}

/** Errors that say that a recommended call is none, or leads to nothing. */
const NOWHERE: ReadonlySet<ErrorCode | undefined> = new Set(['invalid_input', 'not_found'] as const);

const WITHOUT_MODEL = { embedder: 'none' };

/** A context that says how the last call ended. */
async function watchedContext(folder: string, outside: Partial<Outside>) {
  const context = await contextIn(folder, outside);
  let code: ErrorCode | undefined;
  context.observe = (seen) => (code = seen.code);
  return {
    context,
    /** The code with which a call failed. */
    async codeOf(call: () => Promise<unknown>): Promise<ErrorCode | undefined> {
      code = undefined;
      await call();
      return code;
    },
  };
}

/** The official client, over a transport in memory, with these toolsets. */
export async function modelSurface(
  folder: string,
  onEnd: OnEnd,
  { toolsets, outside = {} }: { toolsets?: string | undefined; outside?: Partial<Outside> } = {},
): Promise<Surface & { write: StepWriter }> {
  const flags = { ...(outside.flags ?? WITHOUT_MODEL), ...(toolsets === undefined ? {} : { toolsets }) };
  const { context, codeOf } = await watchedContext(folder, { ...outside, flags });
  const [theirs, ours] = InMemoryTransport.createLinkedPair();
  const server = await mcpServerFactory(context)({ era: 'legacy' } as never);
  await server.connect(ours);
  const client = newClient({});
  await client.connect(theirs);
  onEnd(async () => {
    await client.close();
    context.close();
  });
  const { tools } = await client.listTools();
  const names = tools.map(({ name }) => name);
  const texts = async (name: string, args: Record<string, unknown>): Promise<string> =>
    textsOf(await client.callTool({ name, arguments: args })).join('\n');
  const terminal = once(() => terminalSurface(folder, onEnd, outside));

  return {
    name: `mcp ${toolsets ?? 'default'}`,
    write: stepsFor(context.tools, onDemand),
    async ask({ name }, input) {
      const behind = OFFERED[name]?.behind ?? {};
      if (names.includes(name)) return texts(name, input);
      if (behind.bmad !== undefined && names.includes('bmad'))
        return texts('bmad', { operation: behind.bmad, ...input });
      const manager = (['manage_project', 'manage_memories'] as const).find(
        (tool) => behind[tool] !== undefined && names.includes(tool),
      );
      return manager === undefined ? undefined : texts(manager, { action: behind[manager], args: input });
    },
    stepsIn: (text) => stepsForModels(text, names),
    async take(step) {
      if (step.kind === 'command') return (await terminal()).take(step);
      const args = filledIn(step.args);
      try {
        const code = await codeOf(async () => {
          if (step.kind === 'prompt') return client.getPrompt({ name: await promptOf(String(args['name'])) });
          if (step.kind === 'resource') return client.readResource({ uri: String(args['uri']) });
          if (step.kind === 'tool') return client.callTool({ name: step.name, arguments: args });
          if (step.name === 'the list of prompts') return client.listPrompts();
          if (step.name === 'the list of MCP resources') return client.listResources();
          return client.request({ method: step.name as 'tools/list', params: args });
        });
        return NOWHERE.has(code) ? code : undefined;
      } catch (error) {
        return error instanceof Error ? error.message : String(error);
      }
    },
  };

  /** A host shows prompts by their names; a step names the thing. */
  async function promptOf(thing: string): Promise<string> {
    const short = filledIn({ name: thing }).name.split('/').at(-1) ?? '';
    for (let cursor: string | undefined; ;) {
      const page = await client.listPrompts(cursor === undefined ? {} : { cursor });
      const found = page.prompts.find(({ name }) => name === short || name.endsWith(short));
      if (found !== undefined) return found.name;
      if (page.nextCursor === undefined) throw new Error(`No prompt is called ${short}.`);
      cursor = page.nextCursor;
    }
  }
}

const wordOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The command line, in this process. */
export async function terminalSurface(
  folder: string,
  onEnd: OnEnd,
  outside: Partial<Outside> = {},
): Promise<Surface> {
  const { context, codeOf } = await watchedContext(folder, {
    ...outside,
    flags: outside.flags ?? WITHOUT_MODEL,
    presets: { usage: 'false', answerBytes: '400000' },
  });
  onEnd(async () => context.close());
  async function run(words: readonly string[]): Promise<{ exit: number; printed: string }> {
    const { settings, rest } = extractSettings(words, isOwnOption);
    const printed: string[] = [];
    const write = (text: string): void => void printed.push(text);
    const own = Object.keys(settings).length === 0 ? undefined : await contextIn(folder, { flags: settings });
    const { signal } = new AbortController();
    const file = (text: string): boolean => printed.push(text) < 0;
    const terminal = { out: write, err: write, json: write, file, signal, settingsHelp: () => '' };
    try {
      const exit = await runProgram(
        rest,
        async () => (own === undefined ? context : { ...own, observe: context.observe }),
        terminal,
      );
      return { exit, printed: printed.join('') };
    } finally {
      own?.close();
    }
  }
  return {
    name: 'cli',
    async ask({ command, positional = [] }, input) {
      if (command === undefined) return undefined;
      const given = Object.entries(input);
      const byPlace = positional.flatMap((name) => {
        const value = input[name];
        return value === undefined ? [] : [wordOf(value)];
      });
      const byName = given.flatMap(([name, value]) =>
        positional.includes(name)
          ? []
          : value === true
            ? [`--${name.replaceAll('_', '-')}`]
            : [`--${name.replaceAll('_', '-')}`, wordOf(value)],
      );
      return (await run([...command.split(' '), ...byPlace, ...byName])).printed;
    },
    stepsIn: stepsForTerminals,
    async take({ words = [], name }) {
      const { positional = [] } = Object.values(OFFERED).find((offer) => offer?.command === name) ?? {};
      const first = name.split(' ').length;
      const filled = words.map((word, index) => {
        const flag = words[index - 1]?.startsWith('--') === true ? words[index - 1] : undefined;
        const key = flag?.slice(2).replaceAll('-', '_') ?? positional[index - first] ?? '';
        return word.startsWith('--') ? word : wordOf(filledIn<unknown>(word, key));
      });
      let exit = 0;
      let printed = '';
      const code = await codeOf(async () => ({ exit, printed } = await run(filled)));
      if (NOWHERE.has(code)) return code;
      // What commander refuses does not come as far as an operation.
      return code === undefined && exit === 2 ? printed : undefined;
    },
  };
}

/** The HTTP API behind its front door. */
export async function requestSurface(folder: string, onEnd: OnEnd): Promise<Surface> {
  const { context, codeOf } = await watchedContext(folder, { flags: WITHOUT_MODEL });
  const { origin } = await served(context, createApiRoutes(context), onEnd);
  onEnd(async () => context.close());
  const post = (name: string, body: unknown): Promise<Response> =>
    fetch(`${origin}/api/${name}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'text/markdown' },
      body: JSON.stringify(body),
    });
  return {
    name: 'http',
    async ask({ name }, input) {
      const { toolset, behind, serves } = OFFERED[name] ?? {};
      if (toolset === undefined && behind === undefined && serves !== 'clients') return undefined;
      const response = await post(name, input);
      const text = await response.text();
      if (response.headers.get('content-type') !== 'application/problem+json') return text;
      return (JSON.parse(text) as { hint?: string }).hint ?? '';
    },
    stepsIn: stepsForRequests,
    async take({ name, args }) {
      let status = 0;
      const code = await codeOf(async () => ({ status } = await post(name, filledIn(args))));
      if (NOWHERE.has(code)) return code;
      return code === undefined && status >= 400 ? `status ${status}` : undefined;
    },
  };
}

/** The library; it has functions of its own, so what is asked for is one of them and its arguments. */
export async function programSurface(folder: string, onEnd: OnEnd) {
  const context = await contextIn(folder, { flags: { embedder: 'none', answerBytes: '400000' } });
  const bmad = await createBmad(context);
  onEnd(async () => bmad.close());
  const functions = bmad as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>;
  type Failure = { code?: ErrorCode; hint?: string };
  const failureOf = async (name: string, given: readonly unknown[]): Promise<Failure | undefined> => {
    try {
      await functions[name]?.(...given);
      return undefined;
    } catch (error) {
      return error as Failure;
    }
  };
  return {
    name: 'library',
    /** The hint of a call that fails, or the text of an activation. */
    async printed(name: string, given: readonly unknown[]): Promise<string> {
      if (name === 'activate') {
        const found = (await functions[name]?.(...given).catch((error: unknown) => error)) as {
          text?: string;
          hint?: string;
        };
        return found.hint ?? found.text ?? '';
      }
      return (await failureOf(name, given))?.hint ?? '';
    },
    stepsIn: (text: string) => stepsForPrograms(text, bmad),
    async take({ name, args }: PrintedStep): Promise<string | undefined> {
      const given = (args['given'] as unknown[]).map((value) =>
        value === '…' ? sampleOf('query') : filledIn(value),
      );
      const failure = await failureOf(name, given);
      return failure === undefined || !NOWHERE.has(failure.code) ? undefined : failure.code;
    },
  };
}
