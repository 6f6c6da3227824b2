import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { oneLine } from '../../base/text/text.ts';
import { keptAs } from '../catalogue/kept-names.ts';
import {
  headline,
  memoryAgentField,
  memoryData,
  memorySchema,
  memoryTypeField,
  SUPERSEDES_SYNONYMS,
  supersedesField,
} from './memory-view.ts';
import { relationLine, settlingSteps, supersededLine, translatingSteps } from './relation-view.ts';
import { lines } from '../answer-text.ts';
import { stepsField, tagsField, whereField } from '../fields.ts';
import { languageNote } from '../project/log-view.ts';
import { defineOperation } from '../operation.ts';

export const rememberStructured = defineOperation({
  name: 'remember_structured',
  title: 'Remember for the project',
  description:
    'Remember something for later sessions: a decision, learning, failure, story or shared fact. Shows what is about the same. It writes no trace; log_decision does.',
  effect: 'write',
  keeps: true,
  toolset: 'memory',
  command: 'memory remember',
  positional: ['type', 'agent', 'text'],
  synonyms: SUPERSEDES_SYNONYMS,
  examples: [
    'memory remember decisions architect "PostgreSQL for orders: we need transactions" --tags db,orders',
    'memory remember agent-learnings dev "Run the migrations before the integration tests"',
  ],
  input: z.strictObject({
    type: memoryTypeField.describe('What it is'),
    agent: memoryAgentField.describe('Whose it is, e.g. dev'),
    text: z.string().max(5_000_000).describe('One fact, clear without this conversation'),
    tags: tagsField.optional().describe('Words to find it by'),
    supersedes: supersedesField,
    project: whereField,
  }),
  output: z.object({
    outcome: z.enum(['created', 'updated', 'unchanged']),
    memory: memorySchema,
    revived: z.boolean().optional(),
    previous: z.object({ revision: z.int(), text: z.string() }).optional(),
    similar: z.array(
      z.object({
        relation: z.enum(['same text', 'about the same']),
        id: z.string(),
        type: memoryTypeField,
        agent: z.string(),
        text: z.string(),
        /** From 0 to 1: in meaning, or by the words that both have. */
        nearness: z.number(),
        updatedAt: z.string().optional(),
        source: z.string().optional(),
      }),
    ),
    superseded: memorySchema.optional(),
    files: z.array(z.string()),
    notes: z.array(z.string()),
    steps: stepsField,
  }),

  async run({ type, agent: named, text, tags, supersedes, project }, context, { signal, progress }) {
    const agent = await keptAs(named, context, project);
    const memory = await context.memory(project);
    const done = await memory.remember({ type, agent, text, tags, supersedes }, signal, progress);
    const { outcome, entry, previous, revived, similar, superseded, language, files, notes } = done;
    return {
      outcome,
      memory: memoryData(entry),
      ...(revived ? { revived } : {}),
      ...(previous === undefined ? {} : { previous: { revision: previous.revision, text: previous.text } }),
      similar,
      ...(superseded === undefined ? {} : { superseded: memoryData(superseded) }),
      files,
      notes: [...notes, ...(language === undefined ? [] : [languageNote(language)])],
      steps: [...settlingSteps(entry.id, similar), ...translatingSteps(entry.id, language)],
    };
  },

  render: ({ outcome, memory, previous, revived, similar, superseded, files, notes, steps }) => ({
    body: lines(
      `${happened(outcome, memory.text, previous?.text, revived)}. ${headline(memory)}`,
      `id ${memory.id}`,
      previous === undefined || previous.text === memory.text
        ? undefined
        : t`Before: ${oneLine(previous.text, 200)}`,
      superseded === undefined ? undefined : supersededLine(superseded),
      similar.map(relationLine),
      files.length === 0 ? undefined : t`Also in ${files.join(', ')}`,
      notes,
    ),
    steps: steps ?? [],
  }),
});

function happened(
  outcome: 'created' | 'updated' | 'unchanged',
  text: string,
  before: string | undefined,
  revived = false,
): string {
  if (outcome === 'created') return t`Remembered`;
  if (before !== undefined && before !== text)
    return revived
      ? t`Restored: it had been forgotten or superseded; the earlier text is kept as a revision`
      : t`Updated: the earlier text is kept as a revision`;
  if (revived) return t`Restored: it had been forgotten or superseded, with the same meaning as before`;
  return outcome === 'unchanged'
    ? t`Already known, nothing changed`
    : t`Updated: the text is the same, its tags changed`;
}
