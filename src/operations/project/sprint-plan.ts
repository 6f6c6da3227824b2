import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { fenced } from '../../base/text/text.ts';
import { projectField } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import { proposalFields, refuseUnapplied } from './reconcile.ts';

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
      .array(z.string().min(1).max(1_000))
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

  async run({ apply, proposal, epics, drop, project }, context) {
    refuseUnapplied({ apply, proposal });
    const state = await context.state(project);
    const { catalogue } = await context.workspace(project);
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
