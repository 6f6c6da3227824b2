import * as z from 'zod';
import { say, t } from '../../base/text/message.ts';
import { compare, oneLine } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { type InboxItem, itemSchema } from './item.ts';

/** The same as what a reader of a text can do. */
function stepsOf({ actions }: InboxItem) {
  return actions.map(({ label, operation, args, needs }) => ({ operation, args, open: needs, why: label }));
}

export const inbox = defineOperation({
  name: 'inbox',
  title: 'Your inbox',
  description:
    'Everything in the project that waits for a person, oldest first: approvals, contracts, changed sources, ledgers that lag behind, failed verdicts, runs that stopped. With evidence, the exact text, and what can be done.',
  effect: 'read',
  command: 'inbox',
  forPeople: true,
  examples: ['inbox', 'inbox --json'],
  input: z.strictObject({ project: projectField }),
  output: z.object({
    project: z.string(),
    items: z.array(itemSchema),
    /** What could not be read: something may wait there too. */
    unread: z.array(z.object({ what: z.string(), why: z.string() })),
  }),
  async run(_input, context, call) {
    const state = await context.state();
    const { waitingThere } = await import('./waiting-there.ts');
    const { items, unread } = await waitingThere(state, context, call);
    return { project: state.root, items: [...items].sort(byAge), unread };
  },
  render: ({ items, unread }) => ({
    asStored: true,
    body: [
      items.length === 0 ? t`Nothing waits for you.` : items.map(itemLines).join('\n'),
      ...unread.map(({ what, why }) => t`Could not be read: ${what}: ${why}`),
    ].join('\n'),
    ...(items.length === 0
      ? {}
      : { note: items.length === 1 ? t`1 thing waits for you.` : t`${items.length} things wait for you.` }),
    steps: items.flatMap(stepsOf).slice(0, SHOWN_STEPS),
  }),
});

const SHOWN_STEPS = 12;
const SHOWN_EVIDENCE = 3;

/** The oldest first; of what nobody knows the age of, in the order it was found, at the end. */
function byAge(a: InboxItem, b: InboxItem): number {
  if (a.since === undefined || b.since === undefined)
    return Number(a.since === undefined) - Number(b.since === undefined);
  return compare(a.since, b.since);
}

function itemLines({ kind, role, since, title, evidence }: InboxItem): string {
  const whose = role === undefined ? '' : t` for ${role}`;
  const when = since === undefined ? '' : t` since ${since.slice(0, 16)}`;
  return [
    t`- ${say(kind)}${whose}${when}: ${oneLine(title, 200)}`,
    ...evidence
      .slice(0, SHOWN_EVIDENCE)
      .map(
        ({ file, line, says }) => t`  ${file}${line === undefined ? '' : `:${line}`}: ${oneLine(says, 160)}`,
      ),
  ].join('\n');
}
