import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import { visible } from '../../base/text/hidden.ts';
import { plural, t } from '../../base/text/message.ts';
import { fenced, oneLine } from '../../base/text/text.ts';
import { askedBy } from '../offers.ts';
import { textUpTo } from '../fields.ts';
import { defineOperation } from '../operation.ts';
import {
  approvingCommit,
  checkKnown,
  chosenViews,
  DIFF,
  relationWords,
  short,
  sourceField,
  UPDATE,
} from './sources-view.ts';

const change = z.enum(['added', 'changed', 'removed']);

const reviewSchema = z.object({
  source: z.string(),
  from: z.string().describe('The approved commit'),
  to: z.string().describe('The pending commit'),
  digest: z.string().describe('Of all the content that is pending; approving writes it into the lock file'),
  bytes: z.int().describe('Size of that content'),
  relation: z.string().optional(),
  records: z.array(
    z.object({
      kind: z.string(),
      name: z.string(),
      description: z.string(),
      change,
      before: z.string().optional(),
      disguised: z.array(z.string()).readonly().optional(),
    }),
  ),
  files: z.array(
    z.object({
      path: z.string(),
      change,
      plus: z.int(),
      minus: z.int(),
      diff: z.string().optional(),
      binary: z.string().optional(),
    }),
  ),
});
type ReviewData = z.output<typeof reviewSchema>;

export const sourcesDiff = defineOperation({
  name: 'sources_diff',
  title: 'Review changes in git sources',
  description:
    'Show what would change if the newer content of a git source were approved: agents and workflows, then the text of every file.',
  effect: 'read',
  command: 'sources diff',
  forPeople: true,
  positional: ['source'],
  examples: ['sources diff', 'sources diff --summary'],
  input: z.strictObject({
    source: sourceField,
    summary: z.boolean().default(false).describe('Only names and counts, without the text of files'),
  }),
  output: z.object({
    reviews: z.array(reviewSchema),
    upToDate: z.array(z.string()),
    absent: z.array(z.string()).describe('Sources that have not been fetched'),
  }),

  async run({ source, summary }, context, call) {
    const team = await context.gitSources();
    const reviews: ReviewData[] = [];
    const upToDate: string[] = [];
    const absent: string[] = [];
    const views = await chosenViews(team, source);
    if (views.every(({ pending }) => pending === undefined)) checkKnown(views);
    for (const view of views) {
      const { address, pin, served: approved, pending, relation } = view;
      if (pin === undefined || pending === undefined) {
        (view.served === undefined ? absent : upToDate).push(address.source);
        continue;
      }
      call.progress(t`comparing ${address.source}`);
      if (approved === undefined)
        throw new BmadError(
          'unavailable',
          t`${address.source}: the approved commit ${short(pin.commit)} is not on this machine, so there is nothing to compare with.`,
          {
            hint: t`If it can no longer be fetched, review the new content in the repository itself.`,
            steps: [{ ...UPDATE, why: t`Fetch it if it still exists` }],
          },
        );
      const review = await team.review(
        await context.readFolder(approved.folder),
        await context.readFolder(pending.folder),
      );
      reviews.push({
        source: address.source,
        from: pin.commit,
        to: pending.commit,
        digest: pending.digest,
        bytes: pending.bytes,
        ...(relation === undefined ? {} : { relation }),
        records: review.records,
        files: summary ? review.files.map(({ diff: _diff, ...file }) => file) : review.files,
      });
    }
    return { reviews, upToDate, absent };
  },

  render({ reviews, upToDate, absent }) {
    const body = [
      ...reviews.map(reviewText),
      ...upToDate.map((source) => t`${source}: nothing is waiting for approval.`),
      ...absent.map((source) => t`${source}: not fetched yet.`),
    ].join('\n\n');
    return {
      body,
      asStored: true,
      ...(reviews.length === 0 ? {} : { note: t`Until it is approved, the earlier version is served.` }),
      steps: reviews.length === 0 ? [UPDATE] : reviews.map(({ source, to }) => approvingCommit(source, to)),
    };
  },
});

/** `sha256:` and its first 16 digits. */
const SHOWN_DIGEST = 23;

const SIGNS = { added: '+', changed: '~', removed: '-' } as const;

function reviewText({ source, from, to, digest, bytes, relation, records, files }: ReviewData): string {
  const plus = files.reduce((sum, file) => sum + file.plus, 0);
  const minus = files.reduce((sum, file) => sum + file.minus, 0);
  return [
    `# ${source}`,
    t`${short(from)} (served) → ${short(to)} (waits): ${relationWords(relation)}`,
    t`Pending: ${plural(bytes, 'byte')}, ${digest.slice(0, SHOWN_DIGEST)}`,
    '',
    t`## Agents, workflows and other records (${records.length})`,
    ...records.map((record) => recordLine(record)),
    ...(records.length === 0 ? ['none'] : []),
    '',
    t`## Files (${plural(files.length, 'file')}, ${plural(plus, 'line')} more, ${minus} less)`,
    ...files.map(
      (file) =>
        `${SIGNS[file.change]} ${visible(file.path)} (${file.binary ?? `+${file.plus} -${file.minus}`})`,
    ),
    ...files.flatMap(({ path, diff }) =>
      diff === undefined ? [] : ['', `### ${visible(path)}`, fenced(diff, 'diff')],
    ),
  ].join('\n');
}

function recordLine(record: ReviewData['records'][number]): string {
  const { kind, name, change: how, description, before, disguised } = record;
  const hidden = disguised === undefined ? '' : t` (HIDDEN CHARACTERS in its ${disguised.join(', ')})`;
  const was = before === undefined ? '' : t`\n    was: ${visible(oneLine(before, 160))}`;
  return `${SIGNS[how]} ${kind} ${visible(name)}: ${visible(oneLine(description, 160))}${hidden}${was}`;
}

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
    by: textUpTo(200).default('a person at the command line').describe('Who decides'),
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
