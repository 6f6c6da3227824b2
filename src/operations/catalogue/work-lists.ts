import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { answerRoom, fittingPage } from '../../base/text/paging.ts';
import { oneLine } from '../../base/text/text.ts';
import type { BmadRecord } from '../../model/record.ts';
import { CATEGORIES, CATEGORY_WORDS, categoryCounts, categoryOf, inCategory } from './categories.ts';
import type { SettingsPort, Workspace } from '../context.ts';
import { noContent, noTasks } from './listed-words.ts';
import { asData, cursorField, moduleField, projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

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
    'List BMAD workflows, all or by category or module. For the rest of a long list pass "next" as cursor.',
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
    workflows: z.array(z.object({ ...entry, category: z.enum(CATEGORIES), phase: z.string().optional() })),
    /** How many there are of each, whatever was asked for. */
    categories: z.partialRecord(z.enum(CATEGORIES), z.int()),
    ...page,
  }),
  async run({ category, module, cursor, project }, context) {
    const workspace = await context.workspace(project);
    const code = module === undefined ? undefined : workspace.catalogue.names.moduleCode(module);
    const all = listed(workspace, ['workflow'], code);
    const chosen = category === undefined ? all : inCategory(all, category, workspace);
    const made = (record: BmadRecord) => ({
      ...entryOf(record, workspace),
      category: categoryOf(record, workspace),
      ...(record.phase === undefined ? {} : { phase: record.phase }),
    });
    const empty = noContent(workspace, context.config.discovery);
    const { part, ...rest } = dataPage(chosen, made, ['list_workflows', code, category], cursor, context);
    return {
      workflows: part,
      categories: categoryCounts(all, workspace),
      ...rest,
      ...(empty === undefined ? {} : { note: empty }),
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
  description: 'List BMAD tasks, tools and plain skills. For the rest of a long list pass "next" as cursor.',
  effect: 'read',
  toolset: 'workflows',
  answersData: true,
  input: z.strictObject({ module: moduleField, cursor: cursorField, project: projectField }),
  output: z.object({ tasks: z.array(z.object({ ...entry, kind: z.string() })), ...page }),
  async run({ module, cursor, project }, context) {
    const workspace = await context.workspace(project);
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
  const author = record.details?.author;
  return {
    name: catalogue.names.handleOf(record),
    description: oneLine(record.description, DESCRIPTION_LENGTH),
    module: record.moduleName,
    path: record.bmadRelativePath,
    ...(author === undefined ? {} : { author: oneLine(author, 120) }),
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
  return { part: part.map(made), total: records.length, ...(next === undefined ? {} : { next }) };
}
