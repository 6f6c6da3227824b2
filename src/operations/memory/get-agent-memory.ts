import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { present } from '../../base/values.ts';
import type { Step } from '../../base/step.ts';
import { localDay, oneLine } from '../../base/text/text.ts';
import type { MemoryEntry } from '../../model/memory.ts';
import { rememberedAgent, withRoles } from '../catalogue/agent-names.ts';
import { whereField, textUpTo } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';

const FOUND = 10;
const SHOWN = 30;

const learning = z.object({
  type: z.string(),
  text: z.string(),
  agent: z.string(),
  date: z.string().optional(),
  tags: z.array(z.string()),
  /** Files with the line; none when it is only in the memory store. */
  sources: z.array(z.string()),
  id: z.string(),
});

const memorySchema = z.object({
  agents: z.array(z.string()),
  names: z.array(z.string()),
  learnings: z.array(learning),
  /** How many there are without a query. */
  total: z.int().optional(),
  query: z.string().optional(),
  notes: z.array(z.string()),
});

export const getAgentMemory = defineOperation({
  name: 'get_agent_memory',
  title: 'Agent memory',
  description:
    'Ask what an agent has learnt in this project: the newest first, or with a query what fits it best of all that the agent has remembered.',
  effect: 'read',
  toolset: 'project',
  command: 'project agent-memory',
  picks: { agent: 'agent' },
  positional: ['agent', 'query'],
  input: z.strictObject({
    agent: textUpTo(200).describe('Any of its names'),
    query: textUpTo(20_000).optional(),
    last_n: z.int().min(1).max(1_000).optional(),
    project: whereField,
  }),
  output: memorySchema,

  async run({ agent, query, last_n: most }, context, call) {
    const whose = await rememberedAgent(agent, context);
    const { ids, names } = whose;
    const memory = await context.memory();
    if (query === undefined) {
      const { entries, notes } = await memory.browse('agent-learnings', withRoles(whose));
      const learnings = entries.slice(0, most).map((found) => learningOf(found, found.dated));
      return { agents: ids, names, learnings, total: entries.length, notes };
    }
    const about = { query, agents: withRoles(whose), limit: most ?? FOUND };
    const { hits, notes } = await memory.recall(about, call.signal);
    return {
      agents: ids,
      names,
      query,
      learnings: hits.map((hit) => learningOf(hit, !hit.entry.createdAt.startsWith('1970'))),
      notes: [...notes, ...(await memory.fileProblems())],
    };
  },

  render: (data) => ({
    body: learningsText(data, SHOWN),
    ...(data.notes.length === 0 ? {} : { note: lines(data.notes) }),
    steps: data.learnings.length > 0 ? [] : nothingLearnt(data),
  }),
});

interface LearnedMemory {
  entry: MemoryEntry;
  sources: string[];
}

function learningOf({ entry, sources }: LearnedMemory, dated: boolean): z.output<typeof learning> {
  return {
    type: entry.type,
    text: entry.text,
    agent: entry.agent,
    ...(dated ? { date: localDay(new Date(entry.createdAt)) } : {}),
    tags: [...entry.tags],
    sources,
    id: entry.id,
  };
}

const LEARN = {
  operation: 'remember_structured',
  args: { type: 'agent-learnings' },
  open: ['text'],
  why: 'Keep a learning',
};

/** What is remembered of an agent may be of another type: a decision, a failure. */
function nothingLearnt({ agents: [agent], query }: z.output<typeof memorySchema>): Step[] {
  return [
    {
      operation: 'recall_structured',
      args: present({ agent, query }),
      ...(query === undefined ? { open: ['query'] } : {}),
      why: t`Search its other memories`,
    },
    { ...LEARN, args: { ...LEARN.args, agent } },
  ];
}

/** What an agent has learnt; at most so many entries. */
export function learningsText(data: z.output<typeof memorySchema>, most: number): string {
  const { agents, names, learnings, total, query } = data;
  const others = names.filter((name) => !agents.includes(name));
  const who = `${agents.join(', ')}${others.length === 0 ? '' : t` (also ${others.join(', ')})`}`;
  if (learnings.length === 0)
    return query === undefined ? t`${who}: no learnings yet.` : t`${who}: no memories yet.`;
  const several = new Set(learnings.map(({ agent }) => agent)).size > 1;
  const shown = learnings.slice(0, most);
  const left = (total ?? learnings.length) - shown.length;
  return lines(
    t`${who}: ${query === undefined ? plural(total ?? 0, 'learning') : t`the best for "${oneLine(query, 80)}"`}`,
    shown.map(
      ({ type, text, agent, date, sources, id }) =>
        `- ${date === undefined ? '' : `[${date}] `}${type === 'agent-learnings' ? '' : `[${type}] `}${several ? t`${agent}: ` : ''}${oneLine(text, 500)} (${sources[0] === undefined ? '' : `${sources[0]}, `}id ${id})`,
    ),
    left > 0 ? t`… ${left} more: pass last_n or a query.` : undefined,
  );
}
