import * as z from 'zod';
import { say, t } from '../../base/text/message.ts';
import type { SayStep } from '../../base/step.ts';
import { compare, localTime, oneLine } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { evidenceSchema } from '../project/next-actions.ts';

/** What a person can do about it; `needs` are arguments that the person has to type. */
const actionSchema = z.object({
  label: z.string(),
  operation: z.string(),
  args: z.record(z.string(), z.unknown()),
  needs: z.array(z.string()).optional(),
  /** Whether it cannot be taken back, or lets programs run. */
  danger: z.boolean().optional(),
  /** Whether a person is asked a second time, as nothing takes it back. */
  asks: z.boolean().optional(),
  /** Whether it is one of several that are as good as each other: none of them is the first to press. */
  equal: z.boolean().optional(),
  /** Whether it is one of the operations that are for people only. */
  person: z.boolean().optional(),
});

/** One thing that waits for a person. */
const itemSchema = z.object({
  id: z.string(),
  kind: z.enum([
    'task',
    'result',
    'contract',
    'source',
    'ledger',
    'verdict',
    'trust',
    'run',
    'handoff',
    'memory',
  ]),
  /** Who should decide, as far as the project says. */
  role: z.string().optional(),
  since: z.string().optional(),
  title: z.string(),
  evidence: z.array(evidenceSchema),
  /** What is decided on, as it is stored. */
  text: z.string(),
  /** The texts in it, each to the letter, where it frames several. */
  exact: z.array(z.object({ name: z.string(), text: z.string() })).optional(),
  actions: z.array(actionSchema),
});

export type InboxItem = z.output<typeof itemSchema>;
export type InboxAction = z.output<typeof actionSchema>;

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
  render: ({ items, unread }, saying) => ({
    asStored: true,
    body: [
      items.length === 0
        ? t`Nothing waits for you.`
        : items.map((item) => itemLines(item, saying)).join('\n'),
      ...unread.map(({ what, why }) => t`Could not be read: ${what}: ${why}`),
    ].join('\n'),
    ...(items.length === 0
      ? {}
      : { note: items.length === 1 ? t`1 thing waits for you.` : t`${items.length} things wait for you.` }),
  }),
});

const SHOWN_EVIDENCE = 3;

/** The oldest first; of what nobody knows the age of, in the order it was found, at the end. */
function byAge(a: InboxItem, b: InboxItem): number {
  if (a.since === undefined || b.since === undefined)
    return Number(a.since === undefined) - Number(b.since === undefined);
  return compare(a.since, b.since);
}

/** Where only the day is known, that day; a moment as the clock of the reader has it. */
function sinceHere(since: string): string {
  return since.length <= 10 ? since : localTime(new Date(since)).slice(0, 16).replace('T', ' ');
}

/** What waits, why, and below it what can be done about it. */
function itemLines({ kind, role, since, title, evidence, actions }: InboxItem, saying: SayStep): string {
  const whose = role === undefined ? '' : t` for ${role}`;
  const when = since === undefined ? '' : t` since ${sinceHere(since)}`;
  return [
    t`- ${say(kind)}${whose}${when}: ${oneLine(title, 200)}`,
    ...evidence
      .slice(0, SHOWN_EVIDENCE)
      .map(
        ({ file, line, says }) => t`  ${file}${line === undefined ? '' : `:${line}`}: ${oneLine(says, 160)}`,
      ),
    ...actions.flatMap(({ label, operation, args, needs }) => {
      const said = (saying.ifTaken ?? saying)({ operation, args, open: needs });
      return said === undefined ? [] : [t`  ${label}: ${said}`];
    }),
  ].join('\n');
}
