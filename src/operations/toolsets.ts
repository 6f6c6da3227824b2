import type { Bounds } from '../base/http/http-route.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { TOOLSETS } from '../base/product.ts';
import { globMatcher } from '../base/text/glob.ts';
import { Kept, type Said, t } from '../base/text/message.ts';
import { nearest } from '../base/text/suggest.ts';

export type Toolset = (typeof TOOLSETS)[number];

/** Tools that stand for other operations, and the fields that say which one is meant. */
export const UNIFIED = { bmad: 'operation', manage_project: 'action', manage_memories: 'action' } as const;
export type UnifiedTool = keyof typeof UNIFIED;

/** What an operation is and where it is offered: what can be said of it without its code. */
export interface Declaration {
  name: string;
  title: string;
  description: string;
  effect: 'read' | 'write' | 'destroy';
  /** Whether it starts programs of the project; over HTTP that has to be allowed first. */
  runsPrograms?: true;
  /** The toolset in which it is an MCP tool of its own. */
  toolset?: Toolset;
  /** The unified tools that offer it, and the word each knows it by: `{ bmad: 'read' }`. */
  behind?: Readonly<Partial<Record<UnifiedTool, string>>>;
  /**
   * Who else is served by it: every client of the server, whatever its tools are (prompts, resources, skills,
   * completions), the MCP surface itself, Agent2Agent, or hosts that show apps: to those it is a tool.
   */
  serves?: 'clients' | 'surface' | 'a2a' | 'apps';
  /** The words of its command: `list`, `config show`. */
  command?: string;
  /**
   * Whether a person may do it on the page, beside what every program may: decisions that are a person's alone, and what is
   * about the user's own machine. What does not say so can be done at the command line only.
   */
  forPeople?: true;
}

/** Where an operation is offered. */
export type Offer = Pick<Declaration, 'toolset' | 'behind' | 'serves' | 'command' | 'forPeople'> & {
  positional?: readonly string[];
  /** Whether it takes no project. */
  projectless?: true;
};

interface ToolVerdict {
  offered: boolean;
  /** The setting that decided, in words a person can act on. */
  why: Said;
}

/** What can be said of a tool without its code. */
export interface ToolDeclaration extends Declaration {
  route?: unknown;
  writes?: unknown;
  /** Of the tool `bmad`: the operations behind it, by the word for each. */
  words?: Readonly<Record<string, string>>;
}
type Tool = Pick<ToolDeclaration, 'name' | 'toolset' | 'effect' | 'route' | 'writes'>;

/** Which tools are offered. It depends on settings only, so that no content is read to answer. */
export interface ToolChoice {
  /** The tools that exist whatever the content is, offered or not, in the order users see them. */
  fixed: readonly ToolDeclaration[];
  /** Whether any agent may have a tool of its own, for which the content has to be read. */
  agents: boolean;
  of(tool: Tool): ToolVerdict;
  /** Whether it was asked for by its own name. */
  isNamed(tool: string): boolean;
  /** Operations behind the tool `bmad` that are never offered, by name; and the words for them. */
  withheld: { operations: ReadonlySet<string>; words: readonly string[] };
  /** Names that are no fixed tool's: agents' tools, if the content has such agents. */
  unsettled: readonly { name: string; from: Said }[];
}

/** What the app reads; it is not for models. */
export const APP_DATA = 'app_data';

/** Tools for hosts that show apps alone: they go with the toolset `bmad`, and no other client is told of them. */
export const APP_TOOLS: readonly Tool[] = ['show_board', 'show_catalogue', 'ask_decision', APP_DATA].map(
  (name) => ({ name, toolset: 'bmad', effect: 'read' }),
);

interface Settings {
  config: Record<'toolsets' | 'tools' | 'excludeTools', readonly string[]> & { readOnly: boolean };
  /** Where each of them was set. */
  configFrom: Readonly<Record<keyof Settings['config'], Said>>;
  settingKeys: Readonly<Record<string, string>>;
}

/** Exclusion beats inclusion, read-only beats both. A toolset nobody knows stops the start. */
export function chooseTools(operations: readonly ToolDeclaration[], settings: Settings): ToolChoice {
  const { config, configFrom } = settings;
  const { toolsets, tools, excludeTools, readOnly } = config;
  const fixed = operations.filter(({ toolset }) => toolset !== undefined);
  checkToolsets(toolsets, configFrom.toolsets);
  const known = new Set([...fixed, ...APP_TOOLS].map(({ name }) => name));
  const words = new Map(fixed.flatMap((tool) => Object.entries(tool.words ?? {})));
  const excludes = matcher(excludeTools);
  const withheld = [...words.keys()].filter((word) => !known.has(word) && excludes(word));
  const unsettled = (['tools', 'excludeTools'] as const).flatMap((setting) =>
    config[setting]
      .filter((name) => !known.has(name) && !isPattern(name))
      .filter((name) => setting === 'tools' || !words.has(name))
      .map((name) => ({ name, from: configFrom[setting] })),
  );
  const names = matcher(tools);
  const by = (setting: keyof Settings['config']): string =>
    `${settings.settingKeys[setting] ?? setting} (${String(configFrom[setting])})`;
  /** Settings do not change, and every answer asks about every tool. */
  const verdicts = new WeakMap<Tool, ToolVerdict>();
  function verdictOn(tool: Tool): ToolVerdict {
    const { name, toolset = 'bmad' } = tool;
    if (readOnly && !mayRead(tool))
      return { offered: false, why: new Kept(() => t`it writes; ${by('readOnly')}`) };
    if (excludes(name)) return { offered: false, why: new Kept(() => by('excludeTools')) };
    if (toolsets.includes(toolset)) return { offered: true, why: new Kept(() => by('toolsets')) };
    if (names(name)) return { offered: true, why: new Kept(() => by('tools')) };
    const on = toolsets.length === 0 ? 'none' : toolsets.join(', ');
    return { offered: false, why: new Kept(() => `${by('toolsets')}: ${on}`) };
  }
  return {
    fixed,
    unsettled,
    withheld: {
      operations: new Set(withheld.flatMap((word) => words.get(word) ?? [])),
      words: withheld,
    },
    agents: toolsets.includes('agents') || tools.some((name) => !known.has(name)),
    isNamed: names,
    of(operation) {
      const verdict = verdicts.get(operation) ?? verdictOn(operation);
      verdicts.set(operation, verdict);
      return verdict;
    },
  };
}

function checkToolsets(names: readonly string[], from: Said): void {
  const wrong = names.find((name) => !(TOOLSETS as readonly string[]).includes(name));
  if (wrong === undefined) return;
  throw new BmadError('invalid_input', t`${from}: there is no toolset ${quoted(wrong)}.`, {
    suggestions: nearest(wrong, TOOLSETS, 1),
    hint: t`Toolsets: ${TOOLSETS.join(', ')}.`,
  });
}

export function switchedOff(name: string, toolset: string, why: Said): BmadError {
  return new BmadError('forbidden', t`The tool ${quoted(name)} is turned off: ${why}.`, {
    subject: name,
    hint: t`It is in the toolset "${toolset}". The settings toolsets, tools, exclude_tools and read_only decide when the server starts.`,
  });
}

/** Names that were given but exist neither as a fixed tool nor as the tool of an agent stop the start. */
export function checkToolNames({ unsettled, fixed }: ToolChoice, agentTools: readonly string[]): void {
  const wrong = unsettled.find(({ name }) => !agentTools.includes(name));
  if (wrong === undefined) return;
  const names = fixed.map(({ name }) => name);
  throw new BmadError('invalid_input', t`${wrong.from}: there is no tool ${quoted(wrong.name)}.`, {
    suggestions: nearest(wrong.name, [...names, ...agentTools]),
    hint: t`Tools: ${names.join(', ')}, and {module}-{agent} for each agent. "*" stands for any part of a name; exclude_tools takes operations of the tool bmad as well.`,
  });
}

function isPattern(name: string): boolean {
  return name.includes('*');
}

function matcher(names: readonly string[]): (tool: string) => boolean {
  const tests = names.map((name) =>
    isPattern(name) ? globMatcher(name) : (tool: string): boolean => tool === name,
  );
  return (tool) => tests.some((test) => test(tool));
}

/** The toolsets of the tools that stand for other operations. */
const OF_UNIFIED: Record<UnifiedTool, Toolset> = {
  bmad: 'bmad',
  manage_project: 'project',
  manage_memories: 'memory',
};

/** Whether an operation is one of these toolsets; what is part of every client's lists always is. Agent2Agent is about tasks. */
export function isInToolsets(
  { name, toolset, behind = {}, serves }: Partial<Declaration>,
  bounds: Bounds | undefined,
): boolean {
  if (bounds?.toolsets === undefined) return true;
  if (serves !== undefined) return serves !== 'a2a' || bounds.toolsets.includes('project');
  const own = name !== undefined && name in OF_UNIFIED ? [OF_UNIFIED[name as UnifiedTool]] : [];
  const tools = Object.keys(behind) as UnifiedTool[];
  return [...own, toolset ?? [], ...tools.map((tool) => OF_UNIFIED[tool])]
    .flat()
    .some((each) => bounds.toolsets?.includes(each));
}

/** Whether it has something to offer where nothing is written. A tool that stands for others has them checked. */
export function mayRead(tool: Pick<Declaration, 'effect'> & { route?: unknown; writes?: unknown }): boolean {
  return tool.effect === 'read' || 'route' in tool || 'writes' in tool;
}

/** What a call says of who may do what. */
type Asked = Partial<Record<'mayWrite' | 'overHttp' | 'ownToken', boolean>> & { bounds?: Bounds | undefined };

/** Whether a caller may be offered it at all. */
export function mayBeOffered(
  operation: Pick<Declaration, 'effect'> & Partial<Declaration>,
  context: { config: { contractsOverHttp: boolean } },
  call: Asked,
): boolean {
  return (
    mayRunPrograms(operation, context, call) &&
    (call.mayWrite !== false || mayRead(operation)) &&
    isInToolsets(operation, call.bounds)
  );
}

/** Whoever can call over HTTP may be somebody else than the owner of the project. */
export function mayRunPrograms(
  { runsPrograms }: Partial<Declaration>,
  { config }: { config: { contractsOverHttp: boolean } },
  call: Asked,
): boolean {
  return (
    runsPrograms !== true || call.overHttp !== true || call.ownToken === true || config.contractsOverHttp
  );
}
