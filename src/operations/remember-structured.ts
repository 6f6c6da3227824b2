import * as z from 'zod';
import { oneLine } from '../base/text.ts';
import {
  headline,
  lines,
  memoryAgentField,
  memoryData,
  memorySchema,
  memoryTypeField,
  tagsField,
  whereField,
} from './memory-view.ts';
import { defineOperation } from './operation.ts';

const OUTCOMES = {
  created: 'Remembered',
  updated: 'Updated: the earlier text is kept as a revision',
  unchanged: 'Known already, nothing changed',
} as const;

export const rememberStructured = defineOperation({
  name: 'remember_structured',
  title: 'Remember for the project',
  description:
    'Keep a decision, learning, failure, story or shared fact for later sessions. Tells of near-duplicates and contradictions.',
  effect: 'write',
  toolset: 'memory',
  command: 'memory remember',
  positional: ['type', 'agent', 'text'],
  examples: [
    'memory remember decisions architect "PostgreSQL for orders: we need transactions" --tags db,orders',
    'memory remember agent-learnings dev "Run the migrations before the integration tests"',
  ],
  input: z.strictObject({
    type: memoryTypeField.describe('What it is'),
    agent: memoryAgentField.describe('Whose it is, e.g. dev'),
    text: z.string().max(5_000_000).describe('One fact, clear without this conversation'),
    tags: tagsField.optional().describe('Words to find it by'),
    project: whereField,
  }),
  output: z.object({
    outcome: z.enum(['created', 'updated', 'unchanged']),
    memory: memorySchema,
    previous: z.object({ revision: z.int(), text: z.string() }).optional(),
    similar: z.array(
      z.object({
        relation: z.enum(['near-duplicate', 'may contradict']),
        id: z.string(),
        type: memoryTypeField,
        agent: z.string(),
        text: z.string(),
        source: z.string().optional(),
      }),
    ),
    files: z.array(z.string()),
    notes: z.array(z.string()),
  }),

  async run({ type, agent, text, tags, project }, context, { signal }) {
    const memory = await context.memory(project);
    const done = await memory.remember({ type, agent, text, tags }, signal);
    const { outcome, entry, previous, similar, files, notes } = done;
    return {
      outcome,
      memory: memoryData(entry),
      ...(previous === undefined ? {} : { previous: { revision: previous.revision, text: previous.text } }),
      similar,
      files,
      notes,
    };
  },

  render: ({ outcome, memory, previous, similar, files, notes }) => ({
    body: lines(
      `${OUTCOMES[outcome]}. ${headline(memory)}`,
      `id ${memory.id}`,
      previous === undefined ? undefined : `Before: ${oneLine(previous.text, 200)}`,
      similar.map(
        ({ relation, id, type, agent, text, source }) =>
          `${relation === 'near-duplicate' ? 'Near-duplicate of' : 'May contradict'} [${type}] ${agent}, ${source ?? `id ${id}`}: ${text}`,
      ),
      files.length === 0 ? undefined : `Also in ${files.join(', ')}`,
      notes,
    ),
    ...(similar.some(({ source }) => source === undefined)
      ? {
          note: 'If it replaces one of these: manage_memories with action "supersede", the old id and the new one.',
        }
      : {}),
  }),
});
