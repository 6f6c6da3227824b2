import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { fenced } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const changeSchema = z.object({
  key: z.string(),
  from: z.string().optional(),
  to: z.string(),
  why: z.string(),
  line: z.int(),
});

/** What operations take that show the changes of a ledger first and make exactly those later. */
export const proposalFields = {
  apply: z.boolean().default(false).describe('Make the changes; without it they are only shown'),
  proposal: z
    .string()
    .min(1)
    .max(100)
    .optional()
    .describe('Id of the proposal shown: with apply, it is refused if anything has changed since'),
};

export function refuseUnapplied({
  apply,
  proposal,
}: {
  apply: boolean;
  proposal?: string | undefined;
}): void {
  if (proposal === undefined || apply) return;
  throw new BmadError('invalid_input', t`"proposal" is only used with "apply".`, {
    hint: t`Without "apply", the changes and the proposal's id are shown.`,
  });
}

export const reconcileLedgers = defineOperation({
  name: 'reconcile_ledgers',
  title: 'Bring the ledgers up to date',
  description:
    'Propose changes to sprint-status.yaml and bmm-workflow-status.yaml that story files and documents prove; "apply" makes them. No status is lowered.',
  effect: 'write',
  behind: { manage_project: 'reconcile_ledgers' },
  writes: ({ apply }) => apply,
  command: 'project reconcile',
  forPeople: true,
  examples: ['project reconcile'],
  input: z.strictObject({
    ...proposalFields,
    project: projectField,
  }),
  output: z.object({
    project: z.string(),
    proposal: z.string(),
    applied: z.boolean(),
    ledgers: z.array(z.object({ file: z.string(), changes: z.array(changeSchema), diff: z.string() })),
    /** Ledgers that cannot be read and were left as they are. */
    broken: z.array(z.object({ file: z.string(), line: z.int().optional(), message: z.string() })),
    /** Places where the project disagrees with itself and only a person can say which is right. */
    left: z.array(z.string()),
  }),

  async run({ apply, proposal, project }, context) {
    refuseUnapplied({ apply, proposal });
    const state = await context.state(project);
    const done = await (await state.progress()).reconcile({ apply, proposal });
    const keys = new Set(done.ledgers.flatMap(({ changes }) => changes.map(({ key }) => key)));
    return {
      project: state.root,
      proposal: done.proposal,
      applied: done.applied,
      ledgers: done.ledgers.map(({ file, changes, diff }) => ({
        file,
        diff,
        changes: changes.map(({ edit: _edit, ...change }) => change),
      })),
      broken: done.report.broken.map(({ file, line, says }) => ({ file, line, message: says })),
      left: done.report.drift
        .filter(({ kind, about }) => kind !== 'broken ledger' && !keys.has(about))
        .map(({ says }) => says),
    };
  },

  failed: ({ broken }) => broken.length > 0,

  render({ proposal, applied, ledgers, broken, left }) {
    const count = ledgers.reduce((sum, { changes }) => sum + changes.length, 0);
    const lines = applied
      ? [t`${plural(count, 'change')} made.`]
      : count === 0
        ? []
        : [t`Nothing was written.`];
    // Nothing is known of what a broken ledger has.
    if (count === 0 && broken.length === 0)
      lines.push(t`The ledgers already have everything that the files prove.`);
    for (const { file, changes, diff } of ledgers) {
      lines.push(t`${file}, ${plural(changes.length, 'change')}:`);
      for (const { key, from, to, why } of changes)
        lines.push(t`- ${key}: ${from ?? t`no row`} → ${to} (${why})`);
      if (!applied) lines.push(fenced(diff, 'diff'));
    }
    for (const { file, line, message } of broken)
      lines.push(t`Left alone: ${file}${line === undefined ? '' : `:${line}`}: ${message}`);
    if (left.length > 0)
      lines.push(t`For a person to decide:`, ...left.slice(0, 10).map((says) => `- ${says}`));
    if (left.length > 10) lines.push(t`- and ${left.length - 10} more`);
    return {
      body: lines.join('\n'),
      steps:
        applied || count === 0
          ? []
          : [{ operation: 'reconcile_ledgers', args: { apply: true, proposal }, why: t`Make the changes` }],
    };
  },
});
