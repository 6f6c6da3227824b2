import * as z from 'zod';
import { handOver } from './execute.ts';
import { memoryForget, memoryRestore, memorySupersede, memoryUpdate } from './memory-change.ts';
import { memoryCount, memoryGet, memoryList, memoryStats } from './memory-read.ts';
import { memoryStatus } from './memory-status.ts';
import { memoryAgentField, memoryTypeField, tagsField, whereField } from './memory-view.ts';
import { defineOperation, type AnyOperation } from './operation.ts';

const ACTIONS = {
  list: memoryList,
  get: memoryGet,
  update: memoryUpdate,
  forget: memoryForget,
  restore: memoryRestore,
  supersede: memorySupersede,
  count: memoryCount,
  stats: memoryStats,
  status: memoryStatus,
} as const satisfies Record<string, AnyOperation>;
type Action = keyof typeof ACTIONS;
const NAMES = Object.keys(ACTIONS) as [Action, ...Action[]];

/** One tool for all that is seldom needed: each action is an operation of its own, and a command. */
export const manageMemories = defineOperation({
  name: 'manage_memories',
  title: 'Manage the memories',
  description: 'List, count, read and change memories. Changes need an exact id; restore undoes forget.',
  effect: 'write',
  toolset: 'memory',
  handsOver: true,
  input: z.strictObject({
    action: z.enum(NAMES).describe('What to do'),
    id: z.string().max(100).optional().describe('Exact id'),
    by: z.string().max(100).optional().describe('supersede: id of the new one'),
    text: z.string().max(5_000_000).optional().describe('update: new text'),
    tags: tagsField.optional().describe('update: new; list, count: filter'),
    type: memoryTypeField.optional().describe('Filter'),
    agent: memoryAgentField.optional().describe('update: new; list, count: filter'),
    limit: z.int().min(1).max(200).optional(),
    cursor: z.string().max(400).optional(),
    project: whereField,
  }),
  output: z.object({ action: z.enum(NAMES), result: z.record(z.string(), z.unknown()) }),
  async run({ action, ...args }, context, call) {
    const given = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== undefined));
    return { action, result: await handOver(ACTIONS[action], given, {}, context, call) };
  },
  render: ({ action, result }) => ACTIONS[action].render(result),
});
