import { plural, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import { visible } from '../../base/text/hidden.ts';
import { fenced, oneLine } from '../../base/text/text.ts';
import { defineOperation } from '../operation.ts';
import {
  UPDATE,
  approvingCommit,
  checkKnown,
  chosenViews,
  relationWords,
  short,
  sourceField,
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
