import { afterAll } from 'vitest';
import type { Outside } from '../../src/app/app.ts';
import type { BmadError } from '../../src/base/errors.ts';
import type { Call, Context, Sampled, SampleRequest } from '../../src/operations/context.ts';
import { delegateToAgent } from '../../src/operations/delegation/delegate-to-agent.ts';
import { type CallOutcome, execute } from '../../src/operations/execute.ts';
import { contextIn, temporaryFolder, testCall } from './app.ts';
import { KIT_FILES, writeFiles } from './kit-project.ts';

export const given = { agent_id: 'architect', task: 'Which queue fits a small shop?' };

export interface Desk {
  folder: string;
  context: Context;
  asked: SampleRequest[];
  call(
    input: object,
    says?: string | Sampled | ((request: SampleRequest) => Promise<Sampled>),
  ): Promise<CallOutcome>;
}

/** The real application, called by a client whose model says what the test wants. */
export async function desk(
  files: Readonly<Record<string, string>> = KIT_FILES,
  outside: Partial<Outside> = {},
): Promise<Desk> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  const context = await contextIn(folder, outside);
  const asked: SampleRequest[] = [];
  return {
    folder,
    context,
    asked,
    call(input, says) {
      const sample = async (request: SampleRequest): Promise<Sampled> => {
        asked.push(request);
        if (typeof says === 'function') return says(request);
        return Promise.resolve(typeof says === 'string' ? { text: says } : (says ?? { why: '' }));
      };
      const call: Call = {
        ...testCall(),
        ...(says === undefined ? {} : { sample }),
      };
      return execute(delegateToAgent, { ...given, ...input }, context, call);
    },
  };
}

export function done(outcome: CallOutcome): { data: Record<string, unknown>; body: string; note: string } {
  if (!outcome.ok) throw new Error(outcome.error.text);
  return { data: outcome.data, body: outcome.answer.body, note: outcome.answer.note ?? '' };
}

export function failed(outcome: CallOutcome): BmadError {
  if (outcome.ok) throw new Error(outcome.answer.body);
  return outcome.error;
}
