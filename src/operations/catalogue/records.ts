import * as z from 'zod';
import { mapLimited } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { contentUri } from '../../base/files/paths.ts';
import { present } from '../../base/values.ts';
import { t } from '../../base/text/message.ts';
import { fold } from '../../base/text/suggest.ts';
import { oneLine } from '../../base/text/text.ts';
import { type BmadRecord, isListed, shortName } from '../../model/record.ts';
import type { Workspace } from '../context.ts';
import { moduleField, textUpTo } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { findRecord, mainFile, NAMED_KINDS } from './names.ts';
import { workflowFiles } from './read.ts';

/** For programs: the records of all origins, as the master manifest shows them, and which of them is served. */
export const queryRecords = defineOperation({
  name: 'query_records',
  title: 'Query records',
  description: 'Records of all origins by kind, module, name and origin, each with whether it is served.',
  effect: 'read',
  input: z.strictObject({
    kind: textUpTo(40).optional().describe('e.g. agent, workflow, task'),
    module: textUpTo(100).optional().describe('Code of a module'),
    name: textUpTo(5_000).optional().describe('Id, short name or alias'),
    origin: textUpTo(1_000).optional().describe('Kind or name of an origin'),
    served: z.boolean().optional().describe('Only what is offered, or only what is not'),
  }),
  output: z.object({ records: z.array(z.record(z.string(), z.unknown())) }),

  async run({ kind, module, name, origin, served }, context) {
    const { catalogue, delivery } = await context.workspace();
    const winners = new Set(catalogue.winners);
    const isServed = (record: BmadRecord): boolean => winners.has(record) && isListed(record);
    const same = (wanted: string | undefined, ...values: readonly string[]): boolean =>
      wanted === undefined || values.some((value) => fold(value) === fold(wanted));
    const found = catalogue.records.filter(
      (record) =>
        same(kind, record.kind) &&
        same(module, record.moduleName) &&
        same(name, record.name, shortName(record.name), ...record.aliases) &&
        same(origin, record.origin.kind, record.origin.displayName) &&
        (served === undefined || isServed(record) === served),
    );
    const shown = await delivery.masterRecords(found);
    return {
      records: found.map((record, at) => ({ ...shown[at], served: isServed(record) })),
    };
  },

  render: ({ records }) => ({ body: JSON.stringify(records) }),
});

/** For programs: every file that can be read, with its place on disk. Models have `list` and `list_resources`. */
export const listFiles = defineOperation({
  name: 'list_files',
  title: 'List all files',
  description: 'Every readable file, where it is on disk, and which record owns it.',
  effect: 'read',
  input: z.strictObject({}),
  output: z.object({
    files: z.array(
      z.object({
        relativePath: z.string(),
        /** Nothing for a file that is made when it is asked for. */
        fullPath: z.string().optional(),
        source: z.string(),
        mimeType: z.string(),
      }),
    ),
  }),

  async run(_input, context) {
    const { catalogue, delivery } = await context.workspace();
    const trees = new Map(catalogue.sources.map(({ origin, tree }) => [origin, tree]));
    const onDisk = await catalogue.files.all();
    return {
      files: [...(await delivery.paths()).values()].map(({ path, mimeType }) => {
        const origin = onDisk.get(path);
        const place = origin === undefined ? undefined : trees.get(origin)?.place(path);
        return {
          relativePath: path,
          ...present({ fullPath: place }),
          source: origin?.kind ?? 'generated',
          mimeType,
        };
      }),
    };
  },

  render: ({ files }) => ({ body: files.map(({ relativePath }) => relativePath).join('\n') }),
});

/** For programs: the main file of an agent or workflow, whole, with where it lies. Models have `read` and `execute`. */
export const load = defineOperation({
  name: 'load',
  title: 'Load an agent or a workflow',
  description: 'The main file of an agent or workflow, unchanged, and where it comes from.',
  effect: 'read',
  input: z.strictObject({
    name: textUpTo(5_000).describe('Name, e.g. "architect" or "bmm/prd"'),
    kind: z.enum(NAMED_KINDS).describe('Agent or workflow'),
    module: moduleField,
  }),
  output: z.object({
    name: z.string(),
    kind: z.string(),
    module: z.string(),
    uri: z.string(),
    path: z.string(),
    content: z.string(),
    /** What a workflow in YAML is followed by, which is another file. */
    instructions: z.object({ uri: z.string(), content: z.string() }).optional(),
    source: z.string(),
    origin: z.string(),
    commit: z.string().optional(),
    insteadOf: z.string().optional(),
    files: z.array(z.object({ uri: z.string(), bytes: z.int() })).optional(),
    filesLeftOut: z.int().optional(),
    missing: z.array(z.string()).optional(),
  }),

  async run({ name, kind, module }, context) {
    const workspace = await context.workspace();
    const record = findRecord({ name, kind, module, fuzzy: false }, workspace, context);
    const { path, from } = mainFile(record);
    const { text } = await workspace.delivery.file(path, from);
    if (text === undefined)
      throw new BmadError('invalid_input', t`${contentUri(path)} is not text.`, { subject: name });
    const { origin } = record;
    const along = await workspace.delivery.instructions(record);
    const displaced = workspace.catalogue.displacedBy(record);
    return {
      name: workspace.catalogue.names.handleOf(record),
      kind: record.kind,
      module: record.moduleName,
      uri: contentUri(path),
      path: record.absolutePath,
      content: text,
      source: origin.kind,
      origin: origin.displayName,
      ...present({
        instructions: along && { uri: contentUri(along.path), content: along.text },
        commit: origin.git?.commit,
        insteadOf: displaced?.origin.displayName,
      }),
      ...(record.kind === 'agent' ? {} : await workflowFiles(record, workspace)),
    };
  },

  render: ({ content }) => ({ body: content, exact: true }),
});

const agentSchema = z.object({
  name: z.string(),
  title: z.string(),
  displayName: z.string(),
  description: z.string().optional(),
  persona: z.string().optional(),
  capabilities: z.array(z.string()).optional(),
  menuItems: z.array(z.string()).optional(),
  module: z.string().optional(),
  workflows: z.array(z.string()).optional(),
  workflowMenuItems: z.array(z.string()).optional(),
});

const AT_ONCE = 8;
const NAME_LENGTH = 120;

/** For programs: who the agents are and what they offer, as data. */
export const describeAgents = defineOperation({
  name: 'describe_agents',
  title: 'Describe agents',
  description:
    'Who an agent is, what its menu offers and which workflows it starts; all agents if no name is given.',
  effect: 'read',
  input: z.strictObject({
    name: textUpTo(5_000).optional().describe('Name of an agent; default: all'),
    limit: z.int().min(1).max(1_000).optional().describe('Maximum number'),
  }),
  output: z.object({ agents: z.array(agentSchema), total: z.int() }),

  async run({ name, limit }, context) {
    const workspace = await context.workspace();
    const records =
      name === undefined
        ? workspace.catalogue.listed.filter(({ kind }) => kind === 'agent')
        : [findRecord({ name, kind: 'agent', fuzzy: false }, workspace, context)];
    const describe = async (record: BmadRecord): Promise<DescribedAgent> => {
      try {
        return described(record, workspace, await workspace.delivery.profile(record));
      } catch (error) {
        // Among all of them, one that cannot be read is described by what is known of it.
        if (name !== undefined || !(error instanceof BmadError)) throw error;
        return described(record, workspace, { menu: [] });
      }
    };
    return { agents: await mapLimited(records.slice(0, limit), AT_ONCE, describe), total: records.length };
  },

  render: ({ agents }) => ({
    body: agents.map(({ name, displayName, title }) => t`- ${name}: ${displayName}, ${title}`).join('\n'),
  }),
});

export type DescribedAgent = z.output<typeof agentSchema>;
type Profile = Awaited<ReturnType<Workspace['delivery']['profile']>>;

function described(
  record: BmadRecord,
  { catalogue: { names }, delivery }: Workspace,
  { role, identity, menu }: Profile,
): DescribedAgent {
  const name = names.handleOf(record);
  const title = oneLine(record.title ?? record.displayName ?? name, NAME_LENGTH);
  const persona = [role, identity].filter(Boolean).join('\n');
  const items = menu.map((item) => ({
    line: [item.code, item.text].filter(Boolean).join(': '),
    text: item.text,
    starts: delivery.startedBy(item, record),
  }));
  const workflows = items.flatMap(({ starts }) => (starts === undefined ? [] : [names.handleOf(starts)]));
  const starting = items.filter(({ starts }) => starts !== undefined);
  // What an agent does not have is left out.
  const filled = (list: string[]): string[] | undefined => (list.length === 0 ? undefined : list);
  return present<DescribedAgent>({
    name,
    title,
    displayName: oneLine(record.displayName ?? title, NAME_LENGTH),
    description: record.description || undefined,
    persona: persona || undefined,
    capabilities: filled(items.map(({ text }) => text)),
    menuItems: filled(items.map(({ line }) => line)),
    module: record.moduleName,
    workflows: filled([...new Set(workflows)]),
    workflowMenuItems: filled(starting.map(({ line }) => line)),
  });
}
