import type { Context } from '../../src/operations/context.ts';
import { execute } from '../../src/operations/execute.ts';
import { bmad } from '../../src/operations/unified/bmad.ts';
import { testCall } from './app.ts';
import { saidIn } from './operations.ts';

/** Starts agents and workflows one after the other, as one client does. */
export function conversation(within: Context) {
  return async (args: Record<string, unknown>) => {
    const outcome = await execute(bmad, { operation: 'execute', ...args }, within, testCall());
    if (!outcome.ok) throw outcome.error;
    const { result } = outcome.data as { result: { next?: string; text: string } };
    return { ...outcome.answer, said: saidIn(outcome.answer), result };
  };
}
