import { activate } from './activation/activate.ts';
import { bmad } from './unified/bmad.ts';
import { compileContext } from './activation/compile-context.ts';
import { complete } from './client/complete.ts';
import type { Call, Context } from './context.ts';
import { doctor } from './server/doctor.ts';
import { mayBeOffered } from './execute.ts';
import { explain } from './catalogue/explain.ts';
import { operations } from './index.ts';
import { list } from './catalogue/list.ts';
import { manageMemories, MEMORY_ACTIONS } from './memory/manage-memories.ts';
import { COMPANIONS, manageProject } from './unified/manage-project.ts';
import { next } from './project/next.ts';
import { mayRead, type AnyOperation } from './operation.ts';
import { listPrompts } from './client/prompts.ts';
import { read } from './catalogue/read.ts';
import { refresh } from './server/refresh.ts';
import { listResources, readResource } from './client/resources.ts';
import { search } from './catalogue/search.ts';
import { getSkill, listSkillFolder, listSkills } from './client/skills.ts';

/** Operations that a model reaches only through a tool: who may use the tool may call them by name. */
const BEHIND: ReadonlyMap<AnyOperation, readonly AnyOperation[]> = new Map([
  [bmad, [list, search, read, activate, compileContext, next, explain, doctor, refresh]],
  [manageProject, COMPANIONS],
  [manageMemories, MEMORY_ACTIONS],
]);

/** What every MCP client gets whatever the tools are: prompts, resources, skills and completions. */
const ALWAYS: ReadonlySet<AnyOperation> = new Set([
  listPrompts,
  listResources,
  readResource,
  listSkills,
  getSkill,
  listSkillFolder,
  complete,
]);

const TOOL_OF = new Map<AnyOperation, AnyOperation>(
  [...BEHIND].flatMap(([tool, behind]) => behind.map((operation) => [operation, tool] as const)),
);

/** Names that users of the tool `bmad` know operations by. */
const SPOKEN: Readonly<Record<string, AnyOperation>> = { context: compileContext };

/** Whether programs may call it by name, and why not. */
export interface Reach {
  operation: AnyOperation;
  reachable: boolean;
  why: string;
}

/**
 * The operations that programs from outside may call by name, by the rules that hold for tools. What is in none of the
 * lists is not among them: decisions of a person and what touches files of the user are commands, other operations are
 * parts of a surface or of the library.
 */
export function reachable(context: Context, call: Call): Reach[] {
  return operations.filter(isForPrograms).map((operation) => reachOf(operation, context, call));
}

export function reachableNamed(name: string, context: Context, call: Call): Reach | undefined {
  const operation = Object.hasOwn(SPOKEN, name)
    ? SPOKEN[name]
    : operations.find((each) => each.name === name && isForPrograms(each));
  return operation === undefined ? undefined : reachOf(operation, context, call);
}

export function isForPrograms(operation: AnyOperation): boolean {
  return operation.toolset !== undefined || TOOL_OF.has(operation) || ALWAYS.has(operation);
}

/** Why a caller who may only read is not offered what writes. */
export const WRITES_ONLY = 'it writes, and you may only read';

function reachOf(operation: AnyOperation, context: Context, call: Call): Reach {
  if (ALWAYS.has(operation))
    return { operation, reachable: true, why: 'it is served whatever the tools are' };
  const tool = TOOL_OF.get(operation) ?? operation;
  const { offered, why } = context.tools.of(tool);
  const behind = tool === operation ? '' : `it goes with the tool ${tool.name}; `;
  if (!offered) return { operation, reachable: false, why: behind + why };
  if (context.config.readOnly && !mayRead(operation))
    return {
      operation,
      reachable: false,
      why: `it writes; ${context.settingKeys['readOnly'] ?? 'readOnly'}`,
    };
  if (call.mayWrite === false && !mayRead(operation))
    return { operation, reachable: false, why: WRITES_ONLY };
  if (!mayBeOffered(operation, context, call)) {
    const setting = context.settingKeys['contractsOverHttp'] ?? 'contractsOverHttp';
    const only = `over HTTP only with ${setting} (--contracts-over-http)`;
    return { operation, reachable: false, why: `it runs programs, which is allowed ${only}` };
  }
  return { operation, reachable: true, why: behind + why };
}
