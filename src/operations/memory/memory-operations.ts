import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { fenced, oneLine } from '../../base/text/text.ts';
import type { MemoryEntry } from '../../model/memory.ts';
import { limitField, projectField, stepsField, tagsField, textUpTo } from '../fields.ts';
import { countsText, lines, nextPart } from '../answer-text.ts';
import { keptAs, namesToRecall } from '../catalogue/agent-names.ts';
import { type Answer, defineOperation, type Undo } from '../operation.ts';
import { linesPlace, onMachine, PLACES } from '../project/state-place.ts';
import { actionTool, HELP } from '../unified/action-tool.ts';
import {
  headline,
  memoryAgentField,
  allField,
  memoryData,
  memorySchema,
  selectionFields,
  whichMemory,
} from './memory-view.ts';

export const memoryList = defineOperation({
  name: 'memory_list',
  title: 'List the memories',
  description: 'List what the project remembers, newest first, a page at a time.',
  effect: 'read',
  behind: { manage_memories: 'list' },
  command: 'memory list',
  examples: ['memory list --type decisions', 'memory list --agent dev --since 2026-01-01'],
  input: z.strictObject({
    ...selectionFields,
    all: allField,
    limit: limitField,
    cursor: z.string().max(400).optional().describe('Continues a list'),
    project: projectField,
  }),
  output: z.object({ memories: z.array(memorySchema), total: z.int(), next: z.string().optional() }),
  async run({ limit, cursor, project: _project, agent, ...rest }, context) {
    const memory = await context.memory();
    const selection = { ...rest, agents: await namesToRecall(agent, context) };
    const page = await memory.list(selection, { limit: limit ?? context.config.pageSize, after: cursor });
    return {
      memories: page.entries.map(memoryData),
      total: await memory.count(selection),
      ...(page.next === undefined ? {} : { next: page.next }),
    };
  },
  render: ({ memories, total, next }) => ({
    body:
      memories.length === 0
        ? t`There are no such memories.`
        : lines(memories.map((each) => `${each.id} ${headline(each)}\n    ${oneLine(each.text, 160)}`)),
    ...(next === undefined ? {} : { note: t`${memories.length} of ${total}.`, again: nextPart(next) }),
  }),
});

export const memoryGet = defineOperation({
  name: 'memory_get',
  title: 'Show a memory',
  description: 'Show one memory in full, with its earlier versions.',
  effect: 'read',
  behind: { manage_memories: 'get' },
  command: 'memory get',
  picks: { id: 'memory' },
  positional: ['id'],
  input: z.strictObject(whichMemory),
  output: z.object({
    memory: memorySchema,
    revisions: z.array(z.object({ revision: z.int(), text: z.string(), agent: z.string(), at: z.string() })),
    sources: z.array(z.string()),
    stored: z.boolean(),
  }),
  async run({ id, type }, context) {
    const found = await (await context.memory()).get(id, type);
    return {
      memory: memoryData(found.entry),
      revisions: found.revisions.map(({ revision, text, agent, at }) => ({ revision, text, agent, at })),
      sources: found.sources,
      stored: found.stored,
    };
  },
  render: ({ memory, revisions, sources, stored }) => ({
    body: lines(
      headline(memory),
      stored
        ? t`id ${memory.id}, revision ${memory.revision}, first remembered ${memory.createdAt.slice(0, 10)}`
        : t`id, from a file ${memory.id}, revision ${memory.revision}, first remembered ${memory.createdAt.slice(0, 10)}`,
      sources.length === 0 ? undefined : t`In ${sources.join(', ')}`,
      memory.supersededBy === undefined ? undefined : t`Superseded by ${memory.supersededBy}`,
      ' ',
      fenced(memory.text),
      revisions.length === 0 ? undefined : [' ', t`Before:`],
      revisions.map(({ revision, at, text }) => t`${revision}, ${at.slice(0, 10)}:\n${fenced(text)}`),
    ),
  }),
});

export const memoryCount = defineOperation({
  name: 'memory_count',
  title: 'Count the memories',
  description: 'Count what the project remembers, with the same filters as the list.',
  effect: 'read',
  behind: { manage_memories: 'count' },
  command: 'memory count',
  input: z.strictObject({ ...selectionFields, all: allField, project: projectField }),
  output: z.object({ count: z.int() }),
  async run({ project: _project, agent, ...rest }, context) {
    const agents = await namesToRecall(agent, context);
    return { count: await (await context.memory()).count({ ...rest, agents }) };
  },
  render: ({ count }) => ({ body: String(count) }),
});

export const memoryStats = defineOperation({
  name: 'memory_stats',
  title: 'Memory statistics',
  description: 'Show how many memories there are by type and by agent, and how old they are.',
  effect: 'read',
  behind: { manage_memories: 'stats' },
  command: 'memory stats',
  input: z.strictObject({ project: projectField }),
  output: z.object({
    total: z.int(),
    live: z.int(),
    superseded: z.int(),
    forgotten: z.int(),
    byType: z.record(z.string(), z.int()),
    byAgent: z.record(z.string(), z.int()),
    oldest: z.string().optional(),
    newest: z.string().optional(),
  }),
  async run(_input, context) {
    const stats = await (await context.memory()).stats();
    return stats;
  },
  render: ({ live, superseded, forgotten, byType, byAgent, oldest, newest }) => ({
    body: lines(
      t`${plural(live, 'memory', 'memories')}, ${superseded} superseded, ${forgotten} forgotten`,
      t`Types: ${countsText(byType)}`,
      Object.keys(byAgent).length === 0 ? undefined : t`Agents: ${countsText(byAgent)}`,
      oldest === undefined ? undefined : t`From ${oldest.slice(0, 10)} to ${(newest ?? oldest).slice(0, 10)}`,
    ),
  }),
});

const changed = z.object({
  memory: memorySchema,
  files: z.array(z.string()),
  notes: z.array(z.string()),
});

interface Done extends Pick<z.output<typeof changed>, 'files' | 'notes'> {
  entry: MemoryEntry;
}

const changedData = ({ entry, files, notes }: Done) => ({ memory: memoryData(entry), files, notes });

const restoring = ({ memory: { id, type } }: z.output<typeof changed>): Undo => ({
  operation: 'memory_restore',
  args: { id, type },
});

function changedAnswer(what: string, { memory, files, notes }: z.output<typeof changed>): Answer {
  return {
    body: lines(
      t`${what}: ${headline(memory)}`,
      `id ${memory.id}`,
      oneLine(memory.text, 200),
      files.length === 0 ? undefined : t`Changed in ${files.join(', ')}`,
      notes,
    ),
  };
}

export const memoryUpdate = defineOperation({
  name: 'memory_update',
  title: 'Change a memory',
  description:
    'Change the text, tags or agent of a memory by its id; the earlier text is kept as a revision.',
  effect: 'write',
  behind: { manage_memories: 'update' },
  command: 'memory update',
  picks: { id: 'memory' },
  forPeople: true,
  positional: ['id', 'text'],
  input: z.strictObject({
    ...whichMemory,
    text: z.string().max(5_000_000).optional().describe('The new text'),
    tags: tagsField.optional().describe('The new tags, replacing the old ones'),
    agent: memoryAgentField.optional().describe('The new agent'),
  }),
  output: changed,
  async run({ id, type, project: _project, ...change }, context, { signal }) {
    if (change.text === undefined && change.tags === undefined && change.agent === undefined)
      throw new BmadError('invalid_input', t`There is nothing to change.`, {
        hint: t`Pass text, tags or agent.`,
      });
    const agent = change.agent === undefined ? undefined : await keptAs(change.agent, context);
    const memory = await context.memory();
    return changedData(await memory.update(id, type, { ...change, agent }, signal));
  },
  render: (data) => changedAnswer(t`Revision ${data.memory.revision}`, data),
});

export const memoryForget = defineOperation({
  name: 'memory_forget',
  title: 'Forget a memory',
  description:
    "Remove a memory from all answers, and its copies from the project's files. It can be restored.",
  effect: 'write',
  behind: { manage_memories: 'forget' },
  command: 'memory forget',
  picks: { id: 'memory' },
  removes: {
    question: 'Forget this memory?',
    async details({ id, type }, ask) {
      const data = await ask('memory_get', { id, ...(type === undefined ? {} : { type }) });
      const memory = data?.['memory'] as { type: string; agent: string; text: string } | undefined;
      return memory === undefined
        ? undefined
        : `${memory.type}, ${memory.agent}: ${oneLine(memory.text, 400)}`;
    },
  },
  forPeople: true,
  positional: ['id'],
  input: z.strictObject(whichMemory),
  output: changed,
  run: async ({ id, type }, context) => changedData(await (await context.memory()).forget(id, type)),
  undo: restoring,
  render: (data) => ({
    ...changedAnswer(t`Forgotten`, data),
    steps: [{ operation: 'memory_restore', args: { id: data.memory.id }, why: t`Undo it` }],
  }),
});

export const memoryRestore = defineOperation({
  name: 'memory_restore',
  title: 'Restore a memory',
  description: 'Bring back a forgotten memory.',
  effect: 'write',
  behind: { manage_memories: 'restore' },
  command: 'memory restore',
  picks: { id: 'memory-forgotten' },
  forPeople: true,
  positional: ['id'],
  input: z.strictObject(whichMemory),
  output: changed,
  run: async ({ id, type }, context) => changedData(await (await context.memory()).restore(id, type)),
  render: (data) => changedAnswer(t`Restored`, data),
});

export const memoryKeepBoth = defineOperation({
  name: 'memory_keep_both',
  title: 'Say that two memories both hold',
  description:
    'Settle that two memories about the same both hold: both are kept, and answers stop marking them.',
  effect: 'write',
  behind: { manage_memories: 'keep_both' },
  command: 'memory keep-both',
  forPeople: true,
  positional: ['id', 'other'],
  input: z.strictObject({
    ...whichMemory,
    other: textUpTo(100).describe('Id of the other memory'),
  }),
  output: changed.extend({ other: memorySchema }),
  async run({ id, other, type }, context) {
    const done = await (await context.memory()).keepBoth(id, other, type);
    return { ...changedData(done), other: memoryData(done.other) };
  },
  render: ({ memory, other }) => ({
    body: lines(
      t`Both are kept, and no longer marked as being about the same:`,
      [memory, other].map((each) => t`- ${headline(each)}, id ${each.id}: ${oneLine(each.text, 160)}`),
    ),
  }),
});

export const memorySupersede = defineOperation({
  name: 'memory_supersede',
  title: 'Mark a memory as replaced',
  description:
    'Mark a memory as out of date, or as replaced by another: it is kept, but answers leave it out. Remembering its text again brings it back.',
  effect: 'write',
  behind: { manage_memories: 'supersede' },
  command: 'memory supersede',
  picks: { id: 'memory' },
  forPeople: true,
  positional: ['id', 'by'],
  input: z.strictObject({
    ...whichMemory,
    by: textUpTo(100).optional().describe('Id of the memory that replaces it'),
  }),
  output: changed,
  run: async ({ id, by, type }, context) =>
    changedData(await (await context.memory()).supersede(id, by, type)),
  undo: restoring,
  render: (data) => changedAnswer(t`Superseded`, data),
});

/** What answers is made from the lines, so nobody has to be careful with it; a server may have what others wrote, too. */
function indexText({ engine, index }: { engine: string; index?: string | undefined }): string {
  if (engine === 'none') return t`Index: none; the memory cannot be opened`;
  if (index === undefined) return t`Index: in the memory of this process, made from the lines`;
  return engine === 'qdrant'
    ? t`Index: ${engine}, ${index}`
    : t`Index: ${engine}, ${index}; it can be deleted at any time and is made again from the lines`;
}

export const memoryStatus = defineOperation({
  name: 'memory_status',
  title: 'Memory status',
  description:
    'Show where memories are kept, what finds them and compares their meaning, how many there are, and whether anything is not working.',
  effect: 'read',
  behind: { manage_memories: 'status' },
  command: 'memory status',
  input: z.strictObject({ project: projectField }),
  output: z.object({
    project: z.string(),
    owner: z.enum(['project', 'user']),
    place: z.string().describe('The folder of the lines that are the memories'),
    files: z.int().describe('Files of lines in it'),
    git: z.enum(['private', 'shared', 'user']).describe('Whether git sees them'),
    mirror: z
      .object({ place: z.string(), files: z.int(), only: z.int().describe('Files that are only there') })
      .optional()
      .describe('This user’s own lines once more, out of the reach of git'),
    engine: z.string().describe('What finds them'),
    index: z.string().optional().describe('Where that is; made from the lines, unless it is a server'),
    details: z.record(z.string(), z.string()),
    embedder: z.string(),
    dim: z.int().optional(),
    memories: z.int().optional(),
    superseded: z.int().optional(),
    forgotten: z.int().optional(),
    vectors: z.object({ done: z.int(), total: z.int(), running: z.boolean() }),
    fileEntries: z.int(),
    degraded: z.boolean(),
    notes: z.array(z.string()),
    steps: stepsField,
  }),
  async run(_input, context) {
    const status = await (await context.memory()).status();
    const state = await context.state();
    const machine = status.owner === 'user' ? undefined : await onMachine(state);
    const { store, embedder, stats } = status;
    return {
      project: status.project,
      owner: status.owner,
      place: status.folder,
      files: status.lines.files,
      git: linesPlace(await state.place()),
      ...(status.lines.mirror === undefined ? {} : { mirror: status.lines.mirror }),
      engine: store?.engine ?? 'none',
      ...(store === undefined || store.engine === 'memory' ? {} : { index: store.place }),
      details: store?.details ?? {},
      embedder: embedder?.id ?? 'none',
      ...(embedder === undefined ? {} : { dim: embedder.dim }),
      ...(stats === undefined
        ? {}
        : { memories: stats.live, superseded: stats.superseded, forgotten: stats.forgotten }),
      vectors: status.embedding,
      fileEntries: status.fileEntries,
      degraded: status.degraded,
      notes: [...status.notes, ...(machine === undefined ? [] : [machine.text])],
      steps: [...status.steps, ...(machine?.steps ?? [])],
    };
  },
  failed: ({ engine }) => engine === 'none',
  render: (data) => ({
    body: lines(
      t`Project: ${data.project}`,
      t`Lines: ${plural(data.files, 'file')} in ${data.place} (${data.owner === 'project' ? t`the project's own; ${say(PLACES[data.git])}` : t`the user's, because the project has no memory folder`})`,
      data.mirror === undefined
        ? undefined
        : t`Mirror: ${plural(data.mirror.files, 'file')} in ${data.mirror.place}${data.mirror.only === 0 ? '' : t`; ${data.mirror.only} of them only there`}`,
      indexText(data),
      Object.entries(data.details).map(([name, value]) => t`  ${name}: ${value}`),
      data.embedder === 'none'
        ? t`Meaning: not compared, words only`
        : data.vectors.total === 1
          ? t`Meaning: ${data.embedder}, ${data.dim ?? 0} dimensions; ${data.vectors.done} of 1 memory has a vector`
          : t`Meaning: ${data.embedder}, ${data.dim ?? 0} dimensions; ${data.vectors.done} of ${data.vectors.total} memories have a vector${data.vectors.running ? t`, the others are being computed` : ''}`,
      data.memories === undefined
        ? undefined
        : t`Memories: ${data.memories}, ${data.superseded ?? 0} superseded, ${data.forgotten ?? 0} forgotten`,
      t`Entries in the project's own files, also searched: ${data.fileEntries}`,
      data.degraded ? t`Degraded: yes` : t`Degraded: no`,
      data.notes.map((note) => `- ${note}`),
    ),
    steps: data.steps ?? [],
  }),
});

const { actions, route, run, render } = actionTool('manage_memories', { briefly: false });

/** One tool for everything about memories that is seldom needed. */
export const manageMemories = defineOperation({
  name: 'manage_memories',
  title: 'Manage the memories',
  description:
    'List, count, read and change memories. args: get, forget, restore {id}; update {id, text}; supersede {id, by}; keep_both {id, other}; list, count {type, agent, tags}. "help" lists all.',
  effect: 'write',
  toolset: 'memory',
  gathers: 'args',
  input: z.strictObject({
    action: z.enum([HELP, ...actions]).describe('What to do'),
    args: z.record(z.string(), z.unknown()).default({}).describe('Arguments of the action'),
  }),
  output: z.object({ action: z.enum([HELP, ...actions]), result: z.record(z.string(), z.unknown()) }),
  route,
  run,
  render,
});
