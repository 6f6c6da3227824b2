import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { mapLimited } from '../../base/async.ts';
import { BmadError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import { oneLine } from '../../base/text/text.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { Workspace } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { findRecord } from './targets.ts';

const agentSchema = z.object({
  name: z.string(),
  title: z.string(),
  displayName: z.string(),
  description: z.string().optional(),
  persona: z.string().optional(),
  capabilities: z.array(z.string()).optional(),
  menuItems: z.array(z.string()).optional(),
  module: z.string().optional(),
  workflows: z.array(z.string()).optional(),
  workflowMenuItems: z.array(z.string()).optional(),
});

const AT_ONCE = 8;
const NAME_LENGTH = 120;

/** For programs: who the agents are and what they offer, as data. */
export const describeAgents = defineOperation({
  name: 'describe_agents',
  title: 'Describe agents',
  description:
    'Who an agent is, what its menu offers and which workflows it starts; all agents if no name is given.',
  effect: 'read',
  input: z.strictObject({
    name: z.string().min(1).max(5_000).optional().describe('Name of an agent; default: all'),
    limit: z.int().min(1).max(1_000).optional().describe('Maximum number'),
  }),
  output: z.object({ agents: z.array(agentSchema), total: z.int() }),

  async run({ name, limit }, context) {
    const workspace = await context.workspace();
    const records =
      name === undefined
        ? workspace.catalogue.listed.filter(({ kind }) => kind === 'agent')
        : [findRecord({ name, kind: 'agent', fuzzy: false }, workspace, context)];
    const describe = async (record: BmadRecord): Promise<DescribedAgent> => {
      try {
        return described(record, workspace, await workspace.delivery.profile(record));
      } catch (error) {
        // Among all of them, one that cannot be read is described by what is known of it.
        if (name !== undefined || !(error instanceof BmadError)) throw error;
        return described(record, workspace, { menu: [] });
      }
    };
    return { agents: await mapLimited(records.slice(0, limit), AT_ONCE, describe), total: records.length };
  },

  render: ({ agents }) => ({
    body: agents.map(({ name, displayName, title }) => t`- ${name}: ${displayName}, ${title}`).join('\n'),
  }),
});

export type DescribedAgent = z.output<typeof agentSchema>;
type Profile = Awaited<ReturnType<Workspace['delivery']['profile']>>;

function described(
  record: BmadRecord,
  { catalogue: { names }, delivery }: Workspace,
  { role, identity, menu }: Profile,
): DescribedAgent {
  const name = names.handleOf(record);
  const title = oneLine(record.title ?? record.displayName ?? name, NAME_LENGTH);
  const persona = [role, identity].filter(Boolean).join('\n');
  const items = menu.map((item) => ({
    line: [item.code, item.text].filter(Boolean).join(': '),
    text: item.text,
    starts: delivery.startedBy(item, record),
  }));
  const workflows = items.flatMap(({ starts }) => (starts === undefined ? [] : [names.handleOf(starts)]));
  const starting = items.filter(({ starts }) => starts !== undefined);
  // What an agent does not have is left out.
  const filled = (list: string[]): string[] | undefined => (list.length === 0 ? undefined : list);
  return present<DescribedAgent>({
    name,
    title,
    displayName: oneLine(record.displayName ?? title, NAME_LENGTH),
    description: record.description || undefined,
    persona: persona || undefined,
    capabilities: filled(items.map(({ text }) => text)),
    menuItems: filled(items.map(({ line }) => line)),
    module: record.moduleName,
    workflows: filled([...new Set(workflows)]),
    workflowMenuItems: filled(starting.map(({ line }) => line)),
  });
}
