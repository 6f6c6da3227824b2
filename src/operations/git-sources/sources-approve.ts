import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { defineOperation } from '../operation.ts';
import { askedBy } from '../for-people.ts';
import {
  DIFF,
  UPDATE,
  approvingCommit,
  checkKnown,
  chosenViews,
  short,
  sourceField,
} from './sources-view.ts';

export const sourcesApprove = defineOperation({
  name: 'sources_approve',
  title: 'Approve changes in git sources',
  description: 'Serve the pending content: the lock file then names its commit and digest.',
  effect: 'write',
  command: 'sources approve',
  reviews: true,
  forPeople: true,
  positional: ['source'],
  examples: ['sources approve team --commit 1a2b3c4d5e6f'],
  input: z.strictObject({
    source: sourceField,
    commit: z
      .string()
      .regex(/^[0-9a-f]{12,64}$/, 'Expected at least 12 digits of a commit id')
      .optional()
      .describe('The commit that you approve, at least 12 digits, as "sources diff" gives it'),
    by: z.string().min(1).max(200).default('a person at the command line').describe('Who decides'),
  }),
  output: z.object({
    approved: z.array(
      z.object({ source: z.string(), from: z.string(), to: z.string(), lockFile: z.string() }),
    ),
  }),

  async run({ source, commit, by }, context, call) {
    const team = await context.gitSources();
    const views = await chosenViews(team, source);
    const waiting = views.filter(({ pending }) => pending !== undefined);
    if (waiting.length === 0) {
      checkKnown(views);
      if (commit !== undefined && !views.some(({ pin }) => pin?.commit.startsWith(commit) === true))
        throw new BmadError(
          'not_found',
          t`Nothing is waiting for approval, so ${quoted(commit)} cannot be approved.`,
          {
            steps: [UPDATE],
          },
        );
    }
    const other = waiting.find(
      ({ pending }) => commit !== undefined && pending?.commit.startsWith(commit) !== true,
    );
    if (other !== undefined)
      throw new BmadError(
        'not_found',
        t`${other.address.source}: ${short(other.pending?.commit ?? '')} is waiting for approval, not ${quoted(commit ?? '')}.`,
        { steps: [{ ...DIFF, why: t`Review it again` }] },
      );
    const [unnamed] = commit === undefined ? waiting : [];
    if (unnamed !== undefined)
      throw new BmadError(
        'invalid_input',
        t`${unnamed.address.source}: ${short(unnamed.pending?.commit ?? '')} is waiting. Name the commit that you approve.`,
        {
          subject: unnamed.address.source,
          steps: [
            { ...DIFF, why: t`See what it changes, then approve` },
            approvingCommit(unnamed.address.source, unnamed.pending?.commit ?? ''),
          ],
        },
      );
    for (const view of waiting) await team.approve(view, by, askedBy(call));
    return {
      approved: waiting.map(({ address, pin, pending, layer }) => ({
        source: address.source,
        from: pin?.commit ?? '',
        to: pending?.commit ?? '',
        lockFile: team.lockFile(layer),
      })),
    };
  },

  render: ({ approved }) => ({
    body:
      approved.length === 0
        ? t`Nothing is waiting for approval.`
        : approved
            .map(
              ({ source, from, to, lockFile }) =>
                t`- ${source}: ${short(from)} → ${short(to)} in ${lockFile}`,
            )
            .join('\n'),
    ...(approved.length === 0
      ? { steps: [UPDATE] }
      : { note: t`Running servers serve it from the next call.` }),
  }),
});
