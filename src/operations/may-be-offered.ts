import type { Call, Context } from './context.ts';
import { mayRead, type AnyOperation } from './operation.ts';

/** Whether a caller may be offered it at all. */
export function mayBeOffered(
  operation: Parameters<typeof mayRead>[0] & Pick<AnyOperation, 'runsPrograms'>,
  context: Context,
  call: Call,
): boolean {
  return mayRunPrograms(operation, context, call) && (call.mayWrite !== false || mayRead(operation));
}

/** Whoever can call over HTTP may be somebody else than the owner of the project. */
export function mayRunPrograms(
  { runsPrograms }: Pick<AnyOperation, 'runsPrograms'>,
  { config }: Context,
  call: Call,
): boolean {
  return (
    runsPrograms !== true || call.overHttp !== true || call.ownToken === true || config.contractsOverHttp
  );
}
