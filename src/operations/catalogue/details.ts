import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { contentUri } from '../../base/files/paths.ts';
import { present } from '../../base/values.ts';
import { doersIn } from './agent-names.ts';
import { plural, t } from '../../base/text/message.ts';
import { answerRoom, fittingPage } from '../../base/text/paging.ts';
import { fold, nearest } from '../../base/text/suggest.ts';
import { oneLine } from '../../base/text/text.ts';
import { type BmadRecord, qualifiedName } from '../../model/record.ts';
import type { KnowledgeDomain, KnowledgeFragment, SettingsPort, Workspace } from '../context.ts';
import { cursorField, moduleField, projectField, sectionField, textUpTo } from '../fields.ts';
import { asData, noContent } from '../answer-text.ts';
import { defineOperation, defineRoute } from '../operation.ts';
import { CATEGORIES, CATEGORY_WORDS, categoryCounts, categoryOf, inCategory, noTasks } from './list-items.ts';
import { namedRecord } from './names.ts';
import { restOf, shownNote, shownTextSchema, showText } from './shown-text.ts';

/** Room kept for what stands beside the entries. */
const RESERVED = 700;
const DESCRIPTION_LENGTH = 200;

const entry = {
  name: z.string(),
  description: z.string(),
  module: z.string(),
  path: z.string(),
  author: z.string().optional(),
};
const page = {
  total: z.int(),
  next: z.string().optional(),
  note: z.string().optional(),
};

export const listWorkflows = defineOperation({
  name: 'list_workflows',
  title: 'List workflows',
  description:
    'Find out which BMAD workflows there are, all or by category or module. For the rest of a long list pass "next" as cursor.',
  effect: 'read',
  toolset: 'workflows',
  answersData: true,
  input: z.strictObject({
    category: z.string().max(100).optional().describe(CATEGORY_WORDS),
    module: moduleField,
    cursor: cursorField,
    project: projectField,
  }),
  output: z.object({
    workflows: z.array(
      z.object({
        ...entry,
        category: z.enum(CATEGORIES),
        phase: z.string().optional(),
        /** Those that have it in their menu. */
        agents: z.array(z.string()).optional(),
      }),
    ),
    /** How many there are of each, whatever was asked for. */
    categories: z.partialRecord(z.enum(CATEGORIES), z.int()),
    ...page,
  }),
  async run({ category, module, cursor }, context) {
    const workspace = await context.workspace();
    const code = module === undefined ? undefined : workspace.catalogue.names.moduleCode(module);
    const all = listed(workspace, ['workflow'], code);
    const chosen = category === undefined ? all : inCategory(all, category, workspace);
    const doers = await doersIn(workspace);
    const made = (record: BmadRecord) => ({
      ...entryOf(record, workspace),
      ...(doers(record).length === 0 ? {} : { agents: doers(record) }),
      category: categoryOf(record, workspace),
      ...present({ phase: record.phase }),
    });
    const empty = noContent(workspace, context.config.discovery);
    const { part, ...rest } = dataPage(chosen, made, ['list_workflows', code, category], cursor, context);
    return {
      workflows: part,
      categories: categoryCounts(all, workspace),
      ...rest,
      ...present({ note: empty }),
      ...(chosen.length === 0 && all.length > 0
        ? { note: t`None here; "categories" shows where this version of BMAD has its workflows.` }
        : {}),
    };
  },
  render: asData,
});

export const listTasks = defineOperation({
  name: 'list_tasks',
  title: 'List tasks',
  description:
    'Find out which BMAD tasks, tools and plain skills there are. For the rest of a long list pass "next" as cursor.',
  effect: 'read',
  toolset: 'workflows',
  answersData: true,
  input: z.strictObject({ module: moduleField, cursor: cursorField, project: projectField }),
  output: z.object({ tasks: z.array(z.object({ ...entry, kind: z.string() })), ...page }),
  async run({ module, cursor }, context) {
    const workspace = await context.workspace();
    const code = module === undefined ? undefined : workspace.catalogue.names.moduleCode(module);
    const records = listed(workspace, ['task', 'tool', 'skill'], code);
    const made = (record: BmadRecord) => ({ ...entryOf(record, workspace), kind: record.kind });
    const empty = noContent(workspace, context.config.discovery);
    const { part, ...rest } = dataPage(records, made, ['list_tasks', code], cursor, context);
    return {
      tasks: part,
      ...rest,
      ...(empty !== undefined
        ? { note: empty }
        : records.some(({ kind }) => kind === 'task')
          ? {}
          : noTasks(workspace)),
    };
  },
  render: asData,
});

function listed(
  { catalogue }: Workspace,
  kinds: readonly string[],
  module: string | undefined,
): BmadRecord[] {
  return catalogue.listed.filter(
    (record) => kinds.includes(record.kind) && (module === undefined || record.moduleName === module),
  );
}

function entryOf(record: BmadRecord, { catalogue }: Workspace): z.output<z.ZodObject<typeof entry>> {
  const { author } = record.details ?? {};
  return {
    name: catalogue.names.handleOf(record),
    description: oneLine(record.description, DESCRIPTION_LENGTH),
    module: record.moduleName,
    path: record.bmadRelativePath,
    ...present({ author: author && oneLine(author, 120) }),
  };
}

/** The entries of one page, which alone are made, and the cursor for the rest. */
function dataPage<T>(
  records: readonly BmadRecord[],
  made: (record: BmadRecord) => T,
  identity: readonly unknown[],
  cursor: string | undefined,
  { config }: SettingsPort,
): { part: T[]; total: number; next?: string } {
  const { part, next } = fittingPage(records, {
    size: config.pageSize,
    maxBytes: answerRoom(config.answerBytes, RESERVED),
    identity: JSON.stringify([...identity, records.length]),
    cursor,
    render: (record) => JSON.stringify(made(record)),
  });
  return { part: part.map(made), total: records.length, ...present({ next }) };
}

const FILES_NAMED = 60;
const DETAIL_LENGTH = 1_500;

export const getWorkflowDetails = defineOperation({
  name: 'get_workflow_details',
  title: 'Details of a workflow',
  description:
    'Learn what a BMAD workflow or task does before you start it: description, author, phase, agents, inputs, outputs and files.',
  effect: 'read',
  toolset: 'workflows',
  answersData: true,
  input: z.strictObject({
    workflow_name: textUpTo(5_000).describe('e.g. prd, bmm/prd'),
    module: moduleField,
    project: projectField,
  }),
  output: z.object({
    name: z.string(),
    title: z.string().optional(),
    description: z.string(),
    author: z.string().optional(),
    module: z.string(),
    kind: z.string(),
    path: z.string(),
    phase: z.string().optional(),
    category: z.enum(CATEGORIES),
    agents: z.array(z.string()).describe('Those that have it in their menu'),
    inputs: z.array(z.string()),
    outputs: z.array(z.string()),
    /** URIs; each can be read. */
    files: z.array(z.string()),
    filesLeftOut: z.int().optional(),
    origin: z.string(),
    replacedBy: z.string().optional(),
  }),
  async run({ workflow_name: name, module }, context) {
    const workspace = await context.workspace();
    const record = await namedRecord({ name, kind: 'workflow', module, fuzzy: true }, workspace, context, {
      operation: 'read',
    });
    const { author, inputs, outputs, files } = await workspace.delivery.details(record);
    const { displayName, phase, deprecated } = record;
    const left = files.length - FILES_NAMED;
    return {
      name: qualifiedName(record),
      description: oneLine(record.description, DETAIL_LENGTH),
      ...present({
        title: displayName && oneLine(displayName, 120),
        author,
        phase,
        filesLeftOut: left > 0 ? left : undefined,
        replacedBy: deprecated?.successor,
      }),
      module: record.moduleName,
      kind: record.kind,
      path: record.bmadRelativePath,
      category: categoryOf(record, workspace),
      agents: (await doersIn(workspace))(record),
      inputs,
      outputs,
      files: files.slice(0, FILES_NAMED).map(contentUri),
      origin: record.origin.displayName,
    };
  },
  render: asData,
});

const OPERATIONS = ['read', 'list', 'modules', 'agents', 'workflows', 'search'] as const;
type Name = (typeof OPERATIONS)[number];

interface Lookup {
  to: string;
  /** The argument without which it makes no sense, and what an example looks like. */
  needs?: { name: 'uri' | 'query'; example: string; why: string };
  /** Arguments of the operation behind it that this one fixes, and those it calls by another name. */
  fixed: Record<string, string>;
  spoken: Record<string, string>;
}

const ROUTES: Record<Name, Lookup> = {
  read: {
    to: 'read',
    needs: { name: 'uri', example: 'bmad://core/config.yaml', why: 'Read a file' },
    fixed: { kind: 'resource' },
    spoken: { target: 'uri' },
  },
  list: { to: 'list', fixed: { what: 'resources' }, spoken: {} },
  modules: { to: 'list', fixed: { what: 'modules' }, spoken: {} },
  agents: { to: 'list', fixed: { what: 'agents' }, spoken: {} },
  workflows: { to: 'list', fixed: { what: 'workflows' }, spoken: {} },
  search: {
    to: 'search',
    needs: { name: 'query', example: 'product manager', why: 'Find something by words' },
    fixed: {},
    spoken: {},
  },
};

/** The tool for looking around that goes with the tools of agents; it hands over to the operations behind `bmad`. */
export const bmadResources = defineRoute({
  name: 'bmad-resources',
  title: 'Find and read BMAD content',
  description:
    'Look around in BMAD content. read: a file by bmad:// URI. list: all files, or those matching a pattern. modules, agents, workflows: list them. search: agents and workflows by words.',
  effect: 'read',
  toolset: 'agents',
  input: z.strictObject({
    operation: z.enum(OPERATIONS),
    uri: z.string().optional().describe('read: e.g. bmad://core/config.yaml'),
    pattern: z.string().optional().describe('list: glob, e.g. core/**/*.md'),
    query: z.string().optional().describe('search: words'),
    type: z.enum(['agents', 'workflows', 'all']).optional().describe('search: what to look for'),
    section: sectionField,
    cursor: cursorField,
    project: projectField,
  }),
  output: z.object({ operation: z.enum(OPERATIONS), result: z.record(z.string(), z.unknown()) }),
  route({ operation, uri, ...rest }) {
    const { needs, fixed, spoken, to } = ROUTES[operation];
    const given = { ...rest, uri };
    if (needs !== undefined && given[needs.name] === undefined) {
      throw new BmadError('invalid_input', t`bmad-resources: ${operation} needs "${needs.name}".`, {
        steps: [
          { operation: 'bmad-resources', args: { operation, [needs.name]: needs.example }, why: needs.why },
        ],
      });
    }
    const args: Record<string, unknown> = operation === 'read' ? { ...rest, target: uri } : given;
    return { to, args: present({ ...args, ...fixed }), spoken, within: { operation } };
  },
});

const IDS_IN_HINT = 40;

/** Knowledge is loaded by the piece: first the index of a domain, then what is needed of it. */
export const getKnowledge = defineOperation({
  name: 'get_knowledge',
  title: 'Knowledge of a domain',
  description:
    'Look up BMAD knowledge, such as architecture. With a domain only: the index of its fragments. With fragment or tag: their text.',
  effect: 'read',
  toolset: 'workflows',
  input: z.strictObject({
    domain: z.string().trim().min(1).max(200).describe('e.g. architecture; an unknown one lists all'),
    fragment: textUpTo(1_000).optional().describe('Id from the index'),
    tag: textUpTo(200).optional().describe('All fragments with this tag'),
    section: sectionField,
    cursor: cursorField,
    project: projectField,
  }),
  output: z.object({
    domain: z.string(),
    module: z.string(),
    /** URIs of what the text holds; nothing for the index. */
    fragments: z.array(z.string()),
    about: z.string(),
    exact: z.boolean(),
    ...shownTextSchema.shape,
  }),

  async run({ domain: name, fragment, tag, section, cursor }, context) {
    const workspace = await context.workspace();
    const domain = await (await workspace.knowledge()).domain(name);
    if (fragment !== undefined && tag !== undefined) {
      throw new BmadError('invalid_input', t`get_knowledge: give "fragment" or "tag", not both.`, {
        hint: t`Omit both to get the index of the domain.`,
      });
    }
    const chosen =
      fragment !== undefined ? [fragmentOf(domain, fragment)] : tag !== undefined ? withTag(domain, tag) : [];
    const titledText = async (each: KnowledgeFragment): Promise<string> =>
      `<!-- ${contentUri(each.path)} -->\n${await textOf(each, workspace)}`;
    const [only] = chosen;
    const text =
      only === undefined
        ? indexText(domain)
        : chosen.length === 1
          ? await textOf(only, workspace)
          : (await Promise.all(chosen.map(titledText))).join('\n\n');
    return {
      domain: domain.name,
      module: domain.module,
      fragments: chosen.map(({ path }) => contentUri(path)),
      about: aboutOf(domain, chosen),
      exact: chosen.length === 1,
      ...showText(text, { section, cursor, detail: 'standard', maxBytes: context.config.answerBytes }),
    };
  },

  render: (data) => ({
    body: data.text,
    note: [data.about, shownNote(data)].filter(Boolean).join(' '),
    again: restOf(data),
    ...(data.exact ? { exact: true as const } : {}),
  }),
});

function aboutOf({ name, fragments }: KnowledgeDomain, chosen: readonly KnowledgeFragment[]): string {
  const [only] = chosen;
  if (only === undefined)
    return t`Index of ${name}, ${plural(fragments.length, 'fragment')}; pass "fragment" or "tag" to load.`;
  return chosen.length === 1
    ? t`${contentUri(only.path)} of ${name}.`
    : t`${plural(chosen.length, 'fragment')} of ${name}: ${chosen.map(({ id }) => id).join(', ')}.`;
}

function indexText({ name, module, fragments }: KnowledgeDomain): string {
  const lines = fragments.map(({ id, title, description, tags }) => {
    const heading = title === undefined ? '' : ` ${title}`;
    const marks = tags.length === 0 ? '' : ` [${tags.join(', ')}]`;
    return `- **${id}**${heading}${marks}${description === '' ? '' : t`: ${description}`}`;
  });
  return t`# Knowledge: ${name} (module ${module})\n\n${lines.join('\n')}\n`;
}

function fragmentOf({ name, fragments }: KnowledgeDomain, wanted: string): KnowledgeFragment {
  const folded = fold(wanted.replace(/^bmad:\/\//, ''));
  const found =
    fragments.find(({ id }) => fold(id) === folded) ??
    fragments.find(({ title, path }) => fold(title ?? '') === folded || fold(path) === folded);
  if (found !== undefined) return found;
  const ids = fragments.map(({ id }) => id);
  throw new BmadError('not_found', t`There is no fragment ${quoted(wanted)} in ${name}.`, {
    subject: wanted.slice(0, 200),
    suggestions: nearest(wanted, ids),
    hint: t`Fragments: ${ids.slice(0, IDS_IN_HINT).join(', ')}${ids.length > IDS_IN_HINT ? ', …' : ''}.`,
  });
}

function withTag({ name, fragments }: KnowledgeDomain, wanted: string): KnowledgeFragment[] {
  const found = fragments.filter(({ tags }) => tags.some((tag) => fold(tag) === fold(wanted)));
  if (found.length > 0) return found;
  const tags = [...new Set(fragments.flatMap((fragment) => fragment.tags))].sort();
  throw new BmadError('not_found', t`No fragment of ${name} has the tag ${quoted(wanted)}.`, {
    subject: wanted,
    suggestions: nearest(wanted, tags),
    hint:
      tags.length === 0
        ? t`This domain has no tags; omit "tag" to get its index.`
        : t`Tags: ${tags.slice(0, IDS_IN_HINT).join(', ')}${tags.length > IDS_IN_HINT ? ', …' : ''}.`,
  });
}

async function textOf({ path }: KnowledgeFragment, { delivery }: Workspace): Promise<string> {
  return (await delivery.file(path)).text ?? t`(This file is not text.)`;
}
