import type { Call, Context } from '../../src/operations/context.ts';
import { execute } from '../../src/operations/execute.ts';
import { bmad } from '../../src/operations/unified/bmad.ts';
import { newConversation } from '../../src/surfaces/mcp/conversations.ts';
import { testCall } from './app.ts';
import { saidIn } from './operations.ts';

/** One conversation with a server: what was given before is known, unless conversations cannot be told apart. */
export function conversation(within: Context, isOne = true) {
  const { recent } = newConversation(isOne);
  const call: Call = { ...testCall(), recent };
  return async (args: Record<string, unknown>) => {
    const outcome = await execute(bmad, { operation: 'execute', ...args }, within, call);
    if (!outcome.ok) throw outcome.error;
    const { result } = outcome.data as { result: { given_before?: boolean; next?: string; text: string } };
    return { ...outcome.answer, said: saidIn(outcome.answer), result };
  };
}
