import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { fenced, oneLine } from '../../base/text/text.ts';
import { nextPart, projectField } from '../fields.ts';
import { countsText, lines } from '../answer-text.ts';
import { headline, memoryData, memorySchema, selectionFields, whichMemory } from './memory-view.ts';
import { namesToRecall } from '../catalogue/kept-names.ts';
import { defineOperation } from '../operation.ts';

const allField = z.boolean().default(false).describe('Include forgotten and superseded ones');

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
    limit: z.int().min(1).max(200).optional().describe('Entries on a page'),
    cursor: z.string().max(400).optional().describe('Continues a list'),
    project: projectField,
  }),
  output: z.object({ memories: z.array(memorySchema), total: z.int(), next: z.string().optional() }),
  async run({ limit, cursor, project, agent, ...rest }, context) {
    const memory = await context.memory(project);
    const selection = { ...rest, agents: await namesToRecall(agent, context, project) };
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
  async run({ id, type, project }, context) {
    const found = await (await context.memory(project)).get(id, type);
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
  async run({ project, agent, ...rest }, context) {
    const agents = await namesToRecall(agent, context, project);
    return { count: await (await context.memory(project)).count({ ...rest, agents }) };
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
  async run({ project }, context) {
    const { spaces: _spaces, ...stats } = await (await context.memory(project)).stats();
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
