import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { plural, t } from '../../base/text/message.ts';
import { fenced } from '../../base/text/text.ts';
import { projectField, textUpTo } from '../fields.ts';
import { defineOperation } from '../operation.ts';

const changeSchema = z.object({
  key: z.string(),
  from: z.string().optional(),
  to: z.string(),
  why: z.string(),
  line: z.int(),
});

/** What operations take that show the changes of a ledger first and make exactly those later. */
const proposalFields = {
  apply: z.boolean().default(false).describe('Make the changes; without it they are only shown'),
  proposal: textUpTo(100)
    .optional()
    .describe('Id of the proposal shown: with apply, it is refused if anything has changed since'),
};

function refuseUnapplied({ apply, proposal }: { apply: boolean; proposal?: string | undefined }): void {
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

  async run({ apply, proposal }, context) {
    refuseUnapplied({ apply, proposal });
    const state = await context.state();
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

export const sprintPlan = defineOperation({
  name: 'sprint_plan',
  title: 'Make the ledger from the epics',
  description:
    'Make sprint-status.yaml from the epics or update it, as sprint planning does; "apply" writes it. No status is lowered.',
  effect: 'write',
  behind: { manage_project: 'sprint_plan' },
  writes: ({ apply }) => apply,
  command: 'project plan',
  examples: ['project plan'],
  input: z.strictObject({
    ...proposalFields,
    epics: z
      .array(textUpTo(1_000))
      .max(100)
      .default([])
      .describe('Files or folders of the epics, if there are several versions'),
    drop: z
      .boolean()
      .default(false)
      .describe('Take out rows that are in no epic, with their status; without it they stay'),
    project: projectField,
  }),
  output: z.object({
    project: z.string(),
    proposal: z.string(),
    applied: z.boolean(),
    file: z.string(),
    isNew: z.boolean(),
    epics: z.int(),
    stories: z.int(),
    diff: z.string().optional(),
    /** Rows that are in no epic. */
    orphans: z.array(z.object({ key: z.string(), status: z.string() })),
    dropped: z.boolean(),
    notes: z.array(z.string()),
  }),

  async run({ apply, proposal, epics, drop }, context) {
    refuseUnapplied({ apply, proposal });
    const state = await context.state();
    const { catalogue } = await context.workspace();
    const planned = await (await state.progress()).planSprint(catalogue, { apply, proposal, epics, drop });
    // Who names a proposal has seen it, and its notes with it.
    const notes = proposal === undefined ? planned.notes : [];
    return { project: state.root, dropped: drop, ...planned, notes };
  },

  render({ proposal, applied, file, isNew, epics, stories, diff, orphans, dropped, notes }) {
    const plan = `${plural(epics, 'epic')}, ${plural(stories, 'story', 'stories')}`;
    const lines =
      diff === undefined
        ? [t`${file} already has everything that the epics have: ${plan}.`]
        : applied
          ? [t`${file} was written: ${plan}.`]
          : [
              t`Nothing was written.`,
              isNew ? t`${file}, new: ${plan}.` : t`${file}: ${plan}.`,
              ...shownDiff(diff, isNew),
            ];
    if (orphans.length > 0)
      lines.push(
        dropped ? t`In no epic, and taken out:` : t`In no epic; they stay unless "drop" is given:`,
        ...orphans.map(({ key, status }) => t`- ${key}: ${status}`),
      );
    lines.push(...notes);
    const args = { apply: true, proposal, ...(dropped ? { drop: true } : {}) };
    return {
      body: lines.join('\n'),
      steps: applied || diff === undefined ? [] : [{ operation: 'sprint_plan', args, why: t`Write it` }],
    };
  },
});

/** The comments at the top of a new ledger are BMAD's own words, which nobody has to read twice. */
function shownDiff(diff: string, isNew: boolean): string[] {
  const lines = diff.split('\n');
  const comments = isNew ? lines.filter((line) => line.startsWith('+#')) : [];
  if (comments.length === 0) return [fenced(diff, 'diff')];
  const last = lines.findLastIndex((line) => line.startsWith('+#'));
  return [
    fenced([...lines.slice(0, 2), '+# …', ...lines.slice(last + 1)].join('\n'), 'diff'),
    t`The legend is shortened here to "# …"; the file has it in full, as ${plural(comments.length, 'comment line')}.`,
  ];
}
