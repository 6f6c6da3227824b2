import { BmadError } from '../base/errors.ts';
import { t } from '../base/text/message.ts';
import { LATE } from './registry.ts';
import type { AnyOperation } from './operation.ts';

export type LateName = keyof typeof LATE;

/** Most sessions call few operations or none, so each is loaded when it is first called. */
export async function loadOperation(name: string): Promise<AnyOperation> {
  if (!Object.hasOwn(LATE, name)) throw new Error(t`There is no operation ${name} that clients can reach.`);
  const load: () => Promise<AnyOperation> = LATE[name as LateName];
  const operation = loaded.get(name) ?? (await load().catch(notLoaded));
  loaded.set(name, operation);
  return operation;
}

const loaded = new Map<string, AnyOperation>();

/** What Node says of it has paths in it. */
const notLoaded = (error: unknown): never => {
  throw BmadError.notLoaded(error);
};

/** What every call goes through: no start needs it. */
export { execute } from './execute.ts';

/** What steps are written with. */
export { commandLine } from './offers.ts';
export { OFFERED } from './offered.ts';
export { toolCall } from './unified/forms.ts';

/** What makes the tools of agents, which come from the content. */
export const loadAgentTools = (): Promise<typeof import('./activation/agent-tools.ts')> =>
  import('./activation/agent-tools.ts').catch(notLoaded);
