import { once } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import type { StepWriter } from '../../base/step.ts';
import type { Call, Context } from '../../operations/context.ts';
import type { CallOutcome } from '../../operations/execute.ts';
import type * as onDemand from '../../operations/on-demand.ts';
import { protocolError } from './errors.ts';
import { stepsFor } from './steps.ts';

/** The operations are a separate bundle, loaded with the first request that needs one. */
export const operationsOnDemand: () => Promise<typeof onDemand> = once(async () => {
  try {
    return await import('../../operations/on-demand.ts');
  } catch (error) {
    // What Node says of it has paths in it.
    throw protocolError(BmadError.notLoaded(error));
  }
});

/** How steps are written for the clients of this server. */
export async function stepWriter({ tools, ownProgram }: Context): Promise<StepWriter> {
  const writer = writers.get(tools) ?? stepsFor(tools, await operationsOnDemand(), ownProgram);
  writers.set(tools, writer);
  return writer;
}

const writers = new WeakMap<Context['tools'], StepWriter>();

/** Runs the operation of this name. A failure has its steps in its hint. */
export async function ask(
  name: onDemand.LateName,
  args: Record<string, unknown>,
  context: Context,
  call: Call,
): Promise<CallOutcome> {
  const { execute, loadOperation } = await operationsOnDemand();
  const say = await stepWriter(context);
  const outcome = await execute(await loadOperation(name), args, context, { ...call, say });
  return outcome.ok ? outcome : { ok: false, error: outcome.error.withHint(outcome.error.wayOut(say)) };
}
