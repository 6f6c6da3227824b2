import { once } from '../../base/async.ts';
import type { Call, Context } from '../../operations/context.ts';
import { execute, type Outcome } from '../../operations/execute.ts';
import type * as onDemand from '../../operations/on-demand.ts';

/** The code of the operations is a part of its own, loaded with the first request that needs one. */
export const operationsOnDemand: () => Promise<typeof onDemand> = once(
  () => import('../../operations/on-demand.ts'),
);

/** Runs the operation of this name. */
export async function ask(
  name: onDemand.ReachableName,
  args: Record<string, unknown>,
  context: Context,
  call: Call,
): Promise<Outcome> {
  const { loadOperation } = await operationsOnDemand();
  return execute(await loadOperation(name), args, context, call);
}
