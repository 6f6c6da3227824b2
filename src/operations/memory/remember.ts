import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { agentName } from '../../base/text/agent-titles.ts';
import { t } from '../../base/text/message.ts';
import { oneLine } from '../../base/text/text.ts';
import { projectField, stepsField, tagsField, whereField, textUpTo } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { keptAs, rememberedAgent } from '../catalogue/agent-names.ts';
import type { Context } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { languageNote, lineField, logged, loggedSchema } from '../project/logs.ts';
import {
  headline,
  memoryAgentField,
  memoryData,
  memorySchema,
  memoryTypeField,
  relationLine,
  settlingSteps,
  supersededLine,
  SUPERSEDES_SYNONYMS,
  supersedesField,
  translatingSteps,
} from './memory-view.ts';

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

  async run({ type, agent: named, text, tags, supersedes }, context, { signal, progress }) {
    const agent = await keptAs(named, context);
    const memory = await context.memory();
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

/** Decisions and learnings: memories that also stand in a log of the project, so there is one truth of them. */

/** As long as a text may be: one that was given in the place of the name is answered with how to call it. */
const whoField = textUpTo(20_000);

const titleField = z.string().trim().min(1).max(500).optional();

/** `Title: text`; a text that begins with its title has it once. */
function titled({ title, text }: { title?: string | undefined; text: string }): string {
  if (title === undefined || text.toLowerCase().startsWith(title.toLowerCase())) return text;
  return `${title}${/[.:!?]$/.test(title) ? '' : ':'} ${text}`;
}

interface ToLog {
  operation: 'log_decision' | 'log_learning';
  type: 'decisions' | 'agent-learnings';
  agent: string;
  text: string;
  tags?: string[] | undefined;
  supersedes?: string | undefined;
  trace: string;
}

async function keep(
  { operation, type, agent, text, tags, supersedes, trace }: ToLog,
  context: Context,
  signal: AbortSignal,
): Promise<z.input<typeof loggedSchema>> {
  refuseSwapped(operation, agent, text);
  const who = agentName(await keptAs(agent, context));
  const memory = await context.memory();
  const { outcome, entry, files, notes, similar, superseded, language } = await memory.remember(
    { type, agent: who, text, tags, supersedes },
    signal,
  );
  const facts = await (await context.state()).facts();
  const traced =
    outcome === 'unchanged' ? { files: [], notes: [] } : await facts.trace(entry.agent, trace, entry.text);
  return {
    outcome,
    id: entry.id,
    text: entry.text,
    files: [...files, ...traced.files],
    notes: [
      ...(memory.place.owner === 'user'
        ? [t`Kept in ${memory.place.folder}: the project has no memory folder.`]
        : []),
      ...(superseded === undefined ? [] : [supersededLine(superseded)]),
      ...similar.map(relationLine),
      ...notes,
      ...traced.notes,
      ...(language === undefined ? [] : [languageNote(language)]),
    ],
    steps: [...settlingSteps(entry.id, similar), ...translatingSteps(entry.id, language)],
  };
}

/** Names of agents are short. Whoever has given the two the other way round is told how they go. */
function refuseSwapped(operation: ToLog['operation'], agent: string, text: string): void {
  const [inName, inText] = [agent, text].map((each) => each.trim().split(/\s+/).length);
  if ((inName ?? 0) <= 4 && agent.length <= 100 && !((inName ?? 0) > 2 && inText === 1)) return;
  throw new BmadError('invalid_input', t`${quoted(agent)} looks like text, not like an agent's name.`, {
    subject: 'agent',
    hint: t`The text comes first, then the agent.`,
    steps: [{ operation, args: { agent: text.slice(0, 100) }, open: ['text'], why: t`Swap them` }],
  });
}

export const logDecision = defineOperation({
  name: 'log_decision',
  title: 'Log a decision',
  description:
    'Record a decision as remember_structured does, and also in the trace if the project keeps one, with its reason and a mark for architecture.',
  effect: 'write',
  keeps: true,
  behind: { manage_project: 'log_decision' },
  command: 'log decision',
  positional: ['text', 'agent'],
  synonyms: { ...SUPERSEDES_SYNONYMS, decision: 'text', rationale: 'reason', why: 'reason' },
  examples: ['log decision "PostgreSQL for orders" architect --reason "we need transactions"'],
  input: z.strictObject({
    text: lineField.describe('What was decided'),
    title: titleField.describe('Its title, which is put before the text'),
    agent: whoField.optional().describe('Who decided, e.g. architect; default: "team"'),
    reason: lineField.optional().describe('Why'),
    architecture: z
      .boolean()
      .optional()
      .describe('Whether it is about the architecture: marked [ARCH], never aged out'),
    tags: tagsField.optional().describe('Words to find it by'),
    supersedes: supersedesField,
    project: projectField,
  }),
  output: loggedSchema,
  run({ agent = 'team', reason, architecture = false, tags, supersedes, ...said }, context, { signal }) {
    const text = titled(said);
    const mark = architecture && !/^\[ARCH\]/i.test(text) ? '[ARCH] ' : '';
    const told = `${mark}${text}${reason === undefined ? '' : ` — ${reason}`}`;
    return keep(
      {
        operation: 'log_decision',
        type: 'decisions',
        agent,
        text: told,
        tags,
        supersedes,
        trace: 'DECISION',
      },
      context,
      signal,
    );
  },
  render: (data) => logged('decision', data),
});

export const logLearning = defineOperation({
  name: 'log_learning',
  title: 'Log a learning',
  description:
    'Record what an agent has learnt: in its learnings file, in the memory, and in the trace if there is one.',
  effect: 'write',
  keeps: true,
  behind: { manage_project: 'log_learning' },
  command: 'log learning',
  positional: ['text', 'agent'],
  synonyms: { ...SUPERSEDES_SYNONYMS, learning: 'text', lesson: 'text' },
  examples: ['log learning "Run the migrations before the integration tests" dev'],
  input: z.strictObject({
    text: lineField.describe('One thing, clear without this conversation'),
    title: titleField.describe('Its title, which is put before the text'),
    agent: whoField.describe('Whose learning it is, by any of its names'),
    tags: tagsField.optional().describe('Words to find it by'),
    supersedes: supersedesField,
    project: projectField,
  }),
  output: loggedSchema,
  async run({ agent, tags, supersedes, ...said }, context, { signal }) {
    const text = titled(said);
    refuseSwapped('log_learning', agent, text);
    // A slip of the pen would make a file that no agent ever reads.
    await rememberedAgent(agent, context).catch((error: unknown) => {
      if (!(error instanceof BmadError) || error.code !== 'not_found') throw error;
      throw error.with({
        subject: agent,
        steps: [
          {
            operation: 'remember_structured',
            args: { type: 'agent-learnings', agent, text: oneLine(text, 200) },
            why: t`Keep it for a new agent`,
          },
        ],
      });
    });
    const about = { operation: 'log_learning', type: 'agent-learnings', trace: 'REMEMBER' } as const;
    return keep({ ...about, agent, text, tags, supersedes }, context, signal);
  },
  render: (data) => logged('learning', data),
});
