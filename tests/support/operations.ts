import { type CallOutcome, execute } from '../../src/operations/execute.ts';
import type { AnyOperation, Answer } from '../../src/operations/operation.ts';
import type { BmadError } from '../../src/base/errors.ts';
import type { Outside } from '../../src/app/app.ts';
import { stepLines } from '../../src/base/step.ts';
import { toolCall } from '../../src/operations/unified/forms.ts';
import { contextIn, temporaryFolder } from './app.ts';
import { recordingCall, takeRecommended } from './steps/session-steps.ts';

export interface Session {
  folder: string;
  /** Data and answer of a call that must succeed. */
  ok(
    operation: AnyOperation,
    input?: unknown,
  ): Promise<{ data: Record<string, unknown>; answer: Answer; failed: boolean }>;
  /** The error of a call that must fail. */
  fail(operation: AnyOperation, input?: unknown): Promise<BmadError>;
}

export interface OpenSession extends Session {
  /** Ends it, as when a host goes away. */
  close(): void;
}

/** What an answer says beside its body: the note, and its steps as calls of tools. */
export function saidIn({ note, steps = [] }: Answer): string {
  return [...(note === undefined ? [] : [note]), ...stepLines(steps, toolCall)].join('\n');
}

/** The real application in a new empty folder. */
export async function openSession(
  onEnd: (cleanUp: () => Promise<void>) => void,
  outside: Partial<Outside> = {},
): Promise<OpenSession> {
  return sessionIn(await temporaryFolder(onEnd), outside);
}

/** The real application in a folder that is there; several can be open in one at once, as hosts are. */
export async function sessionIn(folder: string, outside: Partial<Outside> = {}): Promise<OpenSession> {
  const context = await contextIn(folder, outside);
  const asked = async (operation: AnyOperation, input: unknown): Promise<CallOutcome> => {
    const { call, said } = recordingCall();
    const outcome = await execute(operation, input, context, call);
    await takeRecommended(outcome, said, folder, outside);
    return outcome;
  };
  return {
    folder,
    close: () => context.close(),
    async ok(operation, input = {}) {
      const outcome = await asked(operation, input);
      if (!outcome.ok) throw new Error(`${operation.name} failed: ${outcome.error.text}`);
      return outcome;
    },
    async fail(operation, input = {}) {
      const outcome = await asked(operation, input);
      if (outcome.ok)
        throw new Error(`${operation.name} succeeded with: ${outcome.answer.body.slice(0, 500)}`);
      return outcome.error;
    },
  };
}
