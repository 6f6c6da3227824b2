import * as z from 'zod';
import { present } from '../../base/values.ts';
import { mapLimited } from '../../base/async.ts';
import { BmadError, ours, quoted } from '../../base/errors.ts';
import { withoutHidden } from '../../base/text/hidden.ts';
import { nearest } from '../../base/text/suggest.ts';
import { cut, oneLine } from '../../base/text/text.ts';
import { qualifiedName, shortName, type BmadRecord } from '../../model/record.ts';
import { activate } from './activate.ts';
import type { Call, Context, SettingsPort, Workspace } from '../context.ts';
import { DETAILS, textUpTo } from '../fields.ts';
import { mayBeOffered, switchedOff } from '../toolsets.ts';
import { assignNames } from '../host-limits.ts';
import { defineOperation, defineRoute, type AnyOperation } from '../operation.ts';

/** Hosts put a prefix of their own before it; beyond this some of them cut or refuse the whole. */
const NAME_LENGTH = 40;

/** Hosts take 40 to 128 tools of all servers together. Agents beyond this number have no tool of their own. */
export const AGENT_TOOL_LIMIT = 64;

const DESCRIPTION_LENGTH = 1_000;
/** All descriptions together: with many agents each says less. */
const DESCRIPTIONS_LENGTH = 32_000;
/** How much of a description the persona may take; the rest is for the menu. */
const HEAD_SHARE = 0.6;
const READS_AT_ONCE = 16;

const agentToolSchema = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  /** The qualified name of the agent. */
  target: z.string(),
});
type AgentTool = z.output<typeof agentToolSchema>;

/** The tools of agents, which come from the content; nothing else a server offers does. */
export const listAgentTools = defineOperation({
  name: 'list_agent_tools',
  title: "List the agents' tools",
  description: 'The tools offered for individual agents, and how many agents have none for lack of room.',
  effect: 'read',
  serves: 'surface',
  input: z.strictObject({}),
  output: z.object({ items: z.array(agentToolSchema), leftOut: z.int() }),
  async run(_input, context) {
    const workspace = await context.workspace();
    const offered = [...agentToolNames(workspace, context)].filter(([name]) => isOffered(name, context));
    const named = new Set(offered.map(([name]) => name).filter((name) => context.tools.isNamed(name)));
    let room = AGENT_TOOL_LIMIT - named.size;
    const chosen = offered.filter(([name]) => named.has(name) || room-- > 0);
    const length = Math.min(DESCRIPTION_LENGTH, Math.floor(DESCRIPTIONS_LENGTH / (chosen.length || 1)));
    const items = await mapLimited(chosen, READS_AT_ONCE, ([name, record]) =>
      agentTool(name, record, workspace, length),
    );
    return { items, leftOut: offered.length - chosen.length };
  },
  render: ({ items }) => ({ body: items.map(({ name }) => name).join('\n') }),
});

export const findAgentTool = defineOperation({
  name: 'find_agent_tool',
  title: "Find an agent's tool",
  description: 'The agent behind the tool with this name.',
  effect: 'read',
  serves: 'surface',
  input: z.strictObject({ name: z.string().describe('Name of the tool') }),
  output: agentToolSchema,
  async run({ name: asked }, context, call) {
    const workspace = await context.workspace();
    const names = agentToolNames(workspace, context);
    // Other servers leave the prefix in: `core-bmad-master`.
    const whole = ([, { moduleName, name }]: [string, BmadRecord]): boolean =>
      `${moduleName}-${name}` === asked;
    const name = names.has(asked) ? asked : ([...names].find(whole)?.[0] ?? asked);
    const record = names.get(name);
    if (record === undefined) throw noSuchTool(name, names, workspace, context, call);
    const verdict = context.tools.of({ name, toolset: 'agents', effect: 'read' });
    if (!verdict.offered) throw switchedOff(name, 'agents', verdict.why);
    return agentTool(name, record, workspace, DESCRIPTION_LENGTH);
  },
  render: ({ name }) => ({ body: name }),
});

/** They are described where one tool has them; said again for each agent they would double the list. */
const PASSED = {
  section: z.string().max(200).optional(),
  cursor: z.string().max(200).optional(),
  detail: z.enum(DETAILS).optional(),
  project: z.string().max(1_000).optional(),
};

/** What the argument of an agent's tool is for; all else that such tools take is the same for every agent. */
export function messageFor({ title }: Pick<AgentTool, 'title'>): string {
  return `Your message or question for ${title}`;
}

/** The operation behind the tool of one agent. */
export function agentOperation(tool: AgentTool): AnyOperation {
  const { name, title, description, target } = tool;
  return defineRoute({
    name,
    title,
    description,
    effect: 'read',
    toolset: 'agents',
    input: z.strictObject({
      message: textUpTo(200_000).describe(messageFor(tool)),
      ...PASSED,
    }),
    output: activate.output,
    route: (input) => ({
      to: activate.name,
      args: present({ ...input, name: target, kind: 'agent' }),
    }),
  });
}

function isOffered(name: string, { tools }: SettingsPort): boolean {
  return tools.of({ name, toolset: 'agents', effect: 'read' }).offered;
}

const namesByWorkspace = new WeakMap<Workspace, ReadonlyMap<string, BmadRecord>>();

/** The tool names of all agents, whether offered or not: `{module}-{agent}`. */
export function agentToolNames(
  workspace: Workspace,
  { tools }: Pick<Context, 'tools'>,
): ReadonlyMap<string, BmadRecord> {
  const known = namesByWorkspace.get(workspace);
  if (known !== undefined) return known;
  const agents = workspace.catalogue.listed.filter(({ kind }) => kind === 'agent');
  const names = assignNames(agents, {
    // A folder of the user's without modules has none to name.
    ways: ({ moduleName, name, origin, generation }) => [
      ...(origin.kind === 'user' && generation === 'loose' ? [['bmad', shortName(name)]] : []),
      [moduleName, shortName(name)],
      [moduleName, name],
    ],
    identity: (record) => qualifiedName(record),
    maxLength: NAME_LENGTH,
    taken: tools.fixed.map(({ name }) => name),
  });
  namesByWorkspace.set(workspace, names);
  return names;
}

/** `title - identity`, then the menu, as far as there is room. */
async function agentTool(
  name: string,
  record: BmadRecord,
  { delivery }: Workspace,
  length: number,
): Promise<AgentTool> {
  const { displayName, title = displayName ?? shortName(record.name) } = record;
  // An agent whose file cannot be read still has a tool; calling it says what is wrong.
  const { identity, role, menu } = await delivery.profile(record).catch(ours((): Profile => ({ menu: [] })));
  const who = displayName === undefined || displayName === title ? title : `${title} (${displayName})`;
  const persona = [role, identity].filter((part) => part !== undefined).map(sentence);
  const head = oneLine(
    `${who} - ${persona.join(' ') || record.description}`,
    Math.floor(length * HEAD_SHARE),
  );
  let description = head;
  for (const [index, { text }] of menu.filter((item) => !isHousekeeping(item.text)).entries()) {
    const line = `${index === 0 ? '\n\nAvailable actions:' : ''}\n• ${oneLine(text, 90)}`;
    if (description.length + line.length > length) break;
    description += line;
  }
  return {
    name,
    title: oneLine(who, 100),
    description: withoutHidden(description),
    target: qualifiedName(record),
  };
}

function sentence(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

type Profile = Awaited<ReturnType<Workspace['delivery']['profile']>>;

/** Entries that every menu has and that say nothing about the agent. */
function isHousekeeping(text: string): boolean {
  return /^(?:redisplay menu|show (?:numbered )?(?:menu|list)|chat with the agent|dismiss agent|exit\b|say goodbye|toggle yolo)/i.test(
    text,
  );
}

const FEW_TOOLS = 4;

function noSuchTool(
  name: string,
  names: ReadonlyMap<string, BmadRecord>,
  { catalogue }: Workspace,
  context: Context,
  call: Call,
): BmadError {
  const { fixed } = context.tools;
  const offered = [
    ...fixed
      .filter((tool) => context.tools.of(tool).offered && mayBeOffered(tool, context, call))
      .map((tool) => tool.name),
    ...[...names.keys()].filter((known) => isOffered(known, context)),
  ];
  // `core-john` is what earlier servers called the agent whom people call John.
  const persona = name.slice(name.indexOf('-') + 1).toLowerCase();
  const meant = offered.filter((known) => names.get(known)?.displayName?.toLowerCase() === persona);
  const near = [...new Set([...meant, ...nearest(name, offered)])].slice(0, 3);
  return new BmadError('not_found', `There is no tool ${quoted(name)}.`, {
    subject: cut(name, 200),
    // Among few tools, the one for everything is what was meant.
    suggestions: near.length === 0 && offered.length <= FEW_TOOLS ? offered.slice(0, 1) : near,
    hint:
      offered.length <= 20
        ? `Tools: ${offered.join(', ') || 'none'}.`
        : `tools/list shows all ${offered.length}; ${catalogue.count('agent')} agents are known.`,
  });
}
