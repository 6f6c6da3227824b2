import { t } from '../base/text/message.ts';
import type { Call, Context } from './context.ts';
import { operations } from './index.ts';
import type { AnyOperation } from './operation.ts';
import { isInToolsets, mayBeOffered, mayRead } from './toolsets.ts';

const BY_NAME = new Map(operations.map((operation) => [operation.name, operation]));

/** Names that users of the tool `bmad` know operations by, where they differ. */
const SPOKEN = new Map(
  operations.flatMap((operation) =>
    operation.behind?.bmad === undefined ? [] : [[operation.behind.bmad, operation] as const],
  ),
);

/** The tool whose users may call the operation by name: the operation itself, or the one it is behind. */
function toolOf(operation: AnyOperation): AnyOperation {
  const [tool] = Object.keys(operation.behind ?? {});
  return (operation.toolset === undefined ? BY_NAME.get(tool ?? '') : undefined) ?? operation;
}

/** Whether programs may call it by name, and why not. */
export interface Reach {
  operation: AnyOperation;
  reachable: boolean;
  why: string;
}

/**
 * The operations that programs from outside may call by name, by the rules that hold for tools. What is offered neither as
 * a tool nor behind one is not among them: decisions of a person and what touches files of the user are commands, other
 * operations are parts of a surface or of the library.
 */
export function reachable(context: Context, call: Call): Reach[] {
  return operations.filter(isForPrograms).map((operation) => reachOf(operation, context, call));
}

export function reachableNamed(name: string, context: Context, call: Call): Reach | undefined {
  const operation = SPOKEN.get(name) ?? BY_NAME.get(name);
  return operation === undefined || !isForPrograms(operation) ? undefined : reachOf(operation, context, call);
}

export function isForPrograms({ toolset, behind, serves }: AnyOperation): boolean {
  return toolset !== undefined || behind !== undefined || serves === 'clients';
}

/** Why a caller who may only read is not offered what writes. */
export const WRITES_ONLY = 'it writes, and you may only read';

function reachOf(operation: AnyOperation, context: Context, call: Call): Reach {
  if (operation.serves === 'clients')
    return { operation, reachable: true, why: t`it is served whatever the tools are` };
  const tool = toolOf(operation);
  // Which tools there are is chosen for models; a person sees all of the project.
  const { offered, why } =
    call.person === true ? { offered: true, why: t`you are a person` } : context.tools.of(tool);
  const behind = tool === operation ? '' : t`it goes with the tool ${tool.name}; `;
  const not = (reason: string): Reach => ({ operation, reachable: false, why: reason });
  if (!offered) return not(behind + why);
  if (context.config.readOnly && !mayRead(operation))
    return not(t`it writes; ${context.settingKeys['readOnly'] ?? 'readOnly'}`);
  if (call.mayWrite === false && !mayRead(operation)) return not(WRITES_ONLY);
  if (!isInToolsets(operation, call.bounds)) return not(t`your token is not for its toolset`);
  if (!mayBeOffered(operation, context, call)) {
    const setting = context.settingKeys['contractsOverHttp'] ?? 'contractsOverHttp';
    const only = t`with the server's full token (--http-auth token has one made) on its own machine, or with ${setting} (--contracts-over-http)`;
    return not(t`it runs programs, which is allowed over HTTP only ${only}`);
  }
  return { operation, reachable: true, why: behind + why };
}
