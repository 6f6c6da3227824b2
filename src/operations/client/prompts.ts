import hostEntries from '../../../assets/names/host-entries.json' with { type: 'json' };
import * as z from 'zod';
import { BmadError, ours, quoted } from '../../base/errors.ts';
import { grouped, madeOnce, present } from '../../base/values.ts';
import { listPage } from '../../base/text/paging.ts';
import { nearest } from '../../base/text/suggest.ts';
import { oneLine } from '../../base/text/text.ts';
import {
  isListed,
  qualifiedName,
  recordKey,
  shortName,
  STARTABLE,
  type BmadRecord,
} from '../../model/record.ts';
import type { Context, SettingsPort, Workspace } from '../context.ts';
import { askedAgent } from '../catalogue/agent-names.ts';
import { namedRecord, findRecord, KINDS_OF } from '../catalogue/names.ts';
import { cursorField, textUpTo } from '../fields.ts';
import { assignNames } from '../host-limits.ts';
import { defineOperation } from '../operation.ts';
import { MEMORY_TYPES } from '../../model/memory.ts';
import { runNames, workIds } from './state-resources.ts';

const PAGE = 100;
/** Hosts show the name behind a slash and a prefix of their own. */
const NAME_LENGTH = 60;

const promptSchema = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string(),
  kind: z.enum(['agent', 'workflow']),
  /** The qualified name of what it starts. */
  target: z.string(),
});
export type PromptItem = z.output<typeof promptSchema>;

/** The prompts a host can offer: one for each agent, workflow and plain skill. */
export const listPrompts = defineOperation({
  name: 'list_prompts',
  title: 'List prompts',
  description: 'The prompts offered to hosts: one for each agent, workflow and plain skill.',
  effect: 'read',
  serves: 'clients',
  input: z.strictObject({
    cursor: cursorField,
    host: z.string().max(500).optional().describe('What the client calls itself'),
  }),
  output: z.object({ items: z.array(promptSchema), next: z.string().optional() }),
  async run({ cursor, host }, context) {
    const prompts = await promptsFor(host, context);
    const page = listPage(prompts, PAGE, `prompts ${prompts.length}`, cursor);
    return { items: page.part, ...present({ next: page.next }) };
  },
  render: ({ items }) => ({ body: items.map((item) => item.name).join('\n') }),
});

export const findPrompt = defineOperation({
  name: 'find_prompt',
  title: 'Find a prompt',
  description: 'What the prompt with this name starts.',
  effect: 'read',
  serves: 'surface',
  input: z.strictObject({ name: textUpTo(5_000).describe('Name of the prompt') }),
  output: promptSchema,
  async run({ name }, context) {
    if (context.config.prompts === 'off') throw switchedOff(context);
    const workspace = await context.workspace();
    const prompts = promptsOf(workspace);
    const found =
      prompts.find((prompt) => prompt.name === name) ??
      (await promptMeant(name, workspace, prompts, context));
    if (found !== undefined) return found;
    throw new BmadError('not_found', `There is no prompt ${quoted(name)}.`, {
      reason: 'content',
      subject: name.slice(0, 200),
      suggestions: nearest(
        name,
        prompts.map((prompt) => prompt.name),
      ),
      hint: 'prompts/list shows them all.',
    });
  },
  render: ({ name }) => ({ body: name }),
});

/** The prompt of what another of its names stands for; an agent without a file has none in the list, and can be started. */
async function promptMeant(
  name: string,
  workspace: Workspace,
  prompts: readonly PromptItem[],
  context: Context,
): Promise<PromptItem | undefined> {
  // What several have is refused with the words of the tool.
  const none = ours(() => undefined, 'not_found', 'invalid_input');
  // An agent comes first: the code of a menu may be spelled like its name, and the list has both.
  const agent = await askedAgent(name, workspace, context).catch(none);
  const started = { name, fuzzy: false };
  const record =
    agent?.record ??
    (agent === undefined
      ? await namedRecord(started, workspace, context, { operation: 'execute' }).catch(none)
      : undefined);
  const listed = record && prompts.find(({ kind, target }) => `${kind} ${target}` === identity(record));
  if (listed !== undefined || agent === undefined) return listed;
  const target = record === undefined ? agent.handle : qualifiedName(record);
  return { name, title: agent.name, description: agent.title, kind: 'agent', target };
}

function switchedOff({ configFrom }: SettingsPort): BmadError {
  return new BmadError('forbidden', 'Prompts are turned off.', {
    hint: `The setting prompts is off (${String(configFrom.prompts)}).`,
  });
}

/** The folders from which a host reads skills and commands itself, and what it calls itself. */
export const OWN_ENTRIES = hostEntries;

/** What a host is offered: what lists show, but nothing that it shows already as a skill or a command that it has found itself. */
export async function promptsFor(host: string | undefined, context: Context): Promise<PromptItem[]> {
  const { config } = context;
  if (config.prompts === 'off') return [];
  const workspace = await context.workspace();
  const listed = new Set(workspace.catalogue.listed.map(identity));
  const prompts = promptsOf(workspace).filter(({ kind, target }) => listed.has(`${kind} ${target}`));
  const called = host?.toLowerCase() ?? '';
  const entries = OWN_ENTRIES.find(({ client }) => called.startsWith(client));
  if (config.prompts === 'on' || entries === undefined) return prompts;
  const files = await workspace.catalogue.files.all();
  const isSkill = (name: string): boolean =>
    entries.skills.some((folder) => files.has(`${folder}/skills/${name}/SKILL.md`));
  const started = await workspace.startedByCommands(entries.commands);
  const commands = new Set([...started].map(identity));
  return prompts.filter(({ target, kind }) => {
    const id = target.slice(target.indexOf('/') + 1);
    const short = shortName(id);
    return ![id, `bmad-${short}`, `bmad-agent-${short}`].some(isSkill) && !commands.has(`${kind} ${target}`);
  });
}

/** A thing as its prompt names it. */
const identity = (record: BmadRecord): string => `${promptKind(record)} ${qualifiedName(record)}`;

const promptKind = ({ kind }: BmadRecord): PromptItem['kind'] => (kind === 'agent' ? 'agent' : 'workflow');

/**
 * Names are `bmad-{short id}`. Where two things share one, it is that of the thing which the name alone starts; all others
 * have their module or kind in it.
 */
const promptsOf = madeOnce(({ catalogue: { winners, names, modules } }: Workspace): PromptItem[] => {
  const records = winners.filter((record) => isListed(record) && STARTABLE.includes(record.kind));
  const places = new Map(
    records.map((record) => {
      const isAlone = names.handleOf(record) === shortName(record.name);
      return [record, (record.kind === 'agent' ? 0 : 2) + (isAlone ? 0 : 1)] as const;
    }),
  );
  const place = (record: BmadRecord): number => places.get(record) ?? 0;
  const sharing = grouped(records, ({ name }) => shortName(name));
  const isMeant = (record: BmadRecord): boolean =>
    sharing.get(shortName(record.name))?.every((other) => other === record || place(other) > place(record)) ??
    true;
  const inOrder = records.toSorted((a, b) => place(a) - place(b));
  const named = assignNames(inOrder, {
    ways: (record) => {
      const [module, short] = [record.moduleName, shortName(record.name)];
      const plain = isMeant(record) ? [['bmad', short]] : [];
      return [...plain, ['bmad', module, short], ['bmad', module, record.kind, short]];
    },
    identity: (record) => recordKey(record),
    maxLength: NAME_LENGTH,
  });
  const titles = grouped(records, titleOf);
  return [...named].map(([name, record]) => {
    const isShared = (titles.get(titleOf(record))?.length ?? 0) > 1;
    const module = modules.find(({ code }) => code === record.moduleName)?.name ?? record.moduleName;
    return promptOf(name, record, isShared ? ` (${module})` : '');
  });
});

function titleOf({ kind, name, displayName = name, title }: BmadRecord): string {
  return kind === 'agent' ? [displayName, title].filter(Boolean).join(', ') : displayName;
}

/** `module` is what tells its title from another's. Hosts that show descriptions only are to have an agent's name there. */
function promptOf(name: string, record: BmadRecord, module: string): PromptItem {
  const title = titleOf(record);
  const { kind, displayName, description } = record;
  const isNamed = kind !== 'agent' || displayName === undefined || description.startsWith(displayName);
  const about = description === record.title ? title : `${title}: ${description}`;
  return {
    name,
    title: `${oneLine(title, 100)}${module}`,
    description: oneLine(isNamed ? description : about, 200),
    kind: promptKind(record),
    target: qualifiedName(record),
  };
}

const LIMIT = 100;

/** Names that a search completes, the likeliest first. */
const SEARCHED = { agent: KINDS_OF.agent, workflow: KINDS_OF.workflow, knowledge: ['knowledge'] } as const;

/** All values of what is completed by its letters. */
const LISTED = {
  path: async (context) => [...(await (await context.workspace()).delivery.paths()).keys()],
  async skill(context) {
    const { skills } = (await context.workspace()).delivery;
    return skills
      .all()
      .filter((skill) => skill.listed)
      .map((skill) => skills.uri(skill, 'SKILL.md').replace(/^skill:\/\//, ''));
  },
  async message(context, target) {
    if (target === undefined) return [];
    const workspace = await context.workspace();
    return workspace.delivery.menu(findRecord({ name: target, fuzzy: false }, workspace, context));
  },
  memory: async () => MEMORY_TYPES,
  async memory_id(context, target) {
    const type = MEMORY_TYPES.find((known) => known === target);
    const page = await (await context.memory()).list({ type }, { limit: LIMIT });
    return page.entries.map(({ id }) => id);
  },
  branch: (context) => runNames(context, 'branch'),
  run_id: (context) => runNames(context, 'run_id'),
  async project_agent(context) {
    const facts = await (await context.state()).facts();
    return [...(await facts.agents()).map(({ id }) => id), ...(await facts.learners())];
  },
  task_id: (context) => workIds('tasks', context),
  contract_id: (context) => workIds('contracts', context),
} satisfies Record<string, (context: Context, target: string | undefined) => Promise<readonly string[]>>;

const keysOf = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[];

/** Completions for what a person is typing into a prompt argument or a resource template. */
export const complete = defineOperation({
  name: 'complete',
  title: 'Complete a value',
  description: 'Values that start with or contain what has been typed so far.',
  effect: 'read',
  serves: 'clients',
  input: z.strictObject({
    what: z.enum([...keysOf(SEARCHED), ...keysOf(LISTED)]).describe('What is being typed'),
    value: z.string().max(5_000).describe('What has been typed so far'),
    target: z
      .string()
      .optional()
      .describe('For a message: the qualified name of its agent; for a memory id: its type'),
  }),
  output: z.object({ values: z.array(z.string()), total: z.int() }),
  async run({ what, value, target }, context) {
    if (what !== 'agent' && what !== 'workflow' && what !== 'knowledge')
      return matching(await LISTED[what](context, target), value);
    const workspace = await context.workspace();
    const records = await (await workspace.search()).complete(value, SEARCHED[what]);
    return firstOf(records.map((record) => workspace.catalogue.names.handleOf(record)));
  },
  render: ({ values }) => ({ body: values.join('\n') }),
});

function matching(all: readonly string[], value: string): { values: string[]; total: number } {
  const typed = value.toLowerCase();
  const starting = all.filter((entry) => entry.toLowerCase().startsWith(typed));
  const holding = all.filter(
    (entry) => !entry.toLowerCase().startsWith(typed) && entry.toLowerCase().includes(typed),
  );
  return firstOf([...starting, ...holding]);
}

function firstOf(found: readonly string[]): { values: string[]; total: number } {
  const values = [...new Set(found)];
  return { values: values.slice(0, LIMIT), total: values.length };
}
