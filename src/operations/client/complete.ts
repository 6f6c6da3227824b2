import * as z from 'zod';
import { MEMORY_TYPES } from '../../model/memory.ts';
import type { Context } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { runNames, workIds } from './state-resources.ts';
import { findRecord, KINDS_OF } from '../catalogue/names.ts';

const LIMIT = 100;

/** Names that a search completes, the likeliest first. */
const SEARCHED = { agent: KINDS_OF.agent, workflow: KINDS_OF.workflow, knowledge: ['knowledge'] } as const;

/** All values of what is completed by its letters. */
const LISTED = {
  path: async (context) => [...(await (await context.workspace()).delivery.paths()).keys()],
  async skill(context) {
    const { skills } = (await context.workspace()).delivery;
    return skills
      .all()
      .filter((skill) => skill.listed)
      .map((skill) => skills.uri(skill, 'SKILL.md').replace(/^skill:\/\//, ''));
  },
  async message(context, target) {
    if (target === undefined) return [];
    const workspace = await context.workspace();
    return workspace.delivery.menu(findRecord({ name: target, fuzzy: false }, workspace, context));
  },
  memory: async () => MEMORY_TYPES,
  async memory_id(context, target) {
    const type = MEMORY_TYPES.find((known) => known === target);
    const page = await (await context.memory()).list({ type }, { limit: LIMIT });
    return page.entries.map(({ id }) => id);
  },
  branch: (context) => runNames(context, 'branch'),
  run_id: (context) => runNames(context, 'run_id'),
  async project_agent(context) {
    const facts = await (await context.state()).facts();
    return [...(await facts.agents()).map(({ id }) => id), ...(await facts.learners())];
  },
  task_id: (context) => workIds('tasks', context),
  contract_id: (context) => workIds('contracts', context),
} satisfies Record<string, (context: Context, target: string | undefined) => Promise<readonly string[]>>;

const keysOf = <T extends object>(table: T) => Object.keys(table) as (keyof T & string)[];

/** Completions for what a person is typing into a prompt argument or a resource template. */
export const complete = defineOperation({
  name: 'complete',
  title: 'Complete a value',
  description: 'Values that start with or contain what has been typed so far.',
  effect: 'read',
  serves: 'clients',
  input: z.strictObject({
    what: z.enum([...keysOf(SEARCHED), ...keysOf(LISTED)]).describe('What is being typed'),
    value: z.string().max(5_000).describe('What has been typed so far'),
    target: z
      .string()
      .optional()
      .describe('For a message: the qualified name of its agent; for a memory id: its type'),
  }),
  output: z.object({ values: z.array(z.string()), total: z.int() }),
  async run({ what, value, target }, context) {
    if (what !== 'agent' && what !== 'workflow' && what !== 'knowledge')
      return matching(await LISTED[what](context, target), value);
    const workspace = await context.workspace();
    const records = await (await workspace.search()).complete(value, SEARCHED[what]);
    return firstOf(records.map((record) => workspace.catalogue.names.handleOf(record)));
  },
  render: ({ values }) => ({ body: values.join('\n') }),
});

function matching(all: readonly string[], value: string): { values: string[]; total: number } {
  const typed = value.toLowerCase();
  const starting = all.filter((entry) => entry.toLowerCase().startsWith(typed));
  const holding = all.filter(
    (entry) => !entry.toLowerCase().startsWith(typed) && entry.toLowerCase().includes(typed),
  );
  return firstOf([...starting, ...holding]);
}

function firstOf(found: readonly string[]): { values: string[]; total: number } {
  const values = [...new Set(found)];
  return { values: values.slice(0, LIMIT), total: values.length };
}
