import * as z from 'zod';
import { MEMORY_TYPES } from '../../model/memory.ts';
import { defineOperation } from '../operation.ts';
import { runNames } from './run-resources.ts';
import { findRecord, KINDS_OF } from '../catalogue/targets.ts';
import { workIds } from './work-resources.ts';

const LIMIT = 100;

/** Completions for what a person is typing into a prompt argument or a resource template. */
export const complete = defineOperation({
  name: 'complete',
  title: 'Complete a value',
  description: 'Values that start with or contain what has been typed so far.',
  effect: 'read',
  serves: 'clients',
  input: z.strictObject({
    what: z
      .enum([
        'agent',
        'workflow',
        'knowledge',
        'path',
        'skill',
        'message',
        'memory',
        'memory_id',
        'branch',
        'run_id',
        'project_agent',
        'task_id',
        'contract_id',
      ])
      .describe('What is being typed'),
    value: z.string().max(5_000).describe('What has been typed so far'),
    target: z
      .string()
      .optional()
      .describe('For a message: the qualified name of its agent; for a memory id: its type'),
  }),
  output: z.object({ values: z.array(z.string()), total: z.int() }),
  async run({ what, value, target }, context) {
    if (what === 'memory') return matching(MEMORY_TYPES, value);
    if (what === 'memory_id') {
      const type = MEMORY_TYPES.find((known) => known === target);
      const page = await (await context.memory()).list({ type }, { limit: LIMIT });
      return matching(
        page.entries.map(({ id }) => id),
        value,
      );
    }
    if (what === 'branch' || what === 'run_id') return matching(await runNames(context, what), value);
    if (what === 'task_id' || what === 'contract_id')
      return matching(await workIds(what === 'task_id' ? 'tasks' : 'contracts', context), value);
    if (what === 'project_agent') {
      const facts = await (await context.state()).facts();
      const agents = (await facts.agents()).map(({ id }) => id);
      return matching([...new Set([...agents, ...(await facts.learners())])], value);
    }
    const workspace = await context.workspace();
    let all: string[];
    if (what === 'path') {
      all = (await workspace.delivery.paths()).map(({ path }) => path);
    } else if (what === 'message') {
      if (target === undefined) return { values: [], total: 0 };
      all = await workspace.delivery.menu(findRecord({ name: target, fuzzy: false }, workspace, context));
    } else if (what === 'skill') {
      const { skills } = workspace.delivery;
      all = skills
        .all()
        .filter((skill) => skill.listed)
        .map((skill) => skills.uri(skill, 'SKILL.md').replace(/^skill:\/\//, ''));
    } else {
      const kinds = what === 'knowledge' ? (['knowledge'] as const) : KINDS_OF[what];
      const records = await (await workspace.search()).complete(value, kinds);
      return firstOf(records.map((record) => workspace.catalogue.names.handleOf(record)));
    }
    return matching(all, value);
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
