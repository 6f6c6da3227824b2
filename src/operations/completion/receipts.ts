import { plural, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { quoted } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { receiptData, receiptSchema, receiptText } from './receipt-view.ts';
import { projectField } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';

const problemSchema = z.object({
  kind: z.enum(['changed', 'damaged', 'removed', 'order', 'newer']),
  message: z.string(),
});

const SHOWN_CHANGES = 50;

function partText(part: { working_dir: string; stack: string; receipt: string }): string {
  const stack = part.stack === 'auto' ? '' : t`stack ${part.stack}`;
  const parts = [part.working_dir === '.' ? '' : part.working_dir, stack].filter((text) => text !== '');
  return `${parts.join(', ')} (${part.receipt})`;
}

export const verifyReceipts = defineOperation({
  name: 'verify_receipts',
  title: "Verify the contract's receipts",
  description:
    "Check that the completion contract's receipts are intact and that the project is still the one that passed.",
  effect: 'read',
  behind: { manage_project: 'verify_receipts' },
  command: 'contract verify',
  input: z.strictObject({ project: projectField }),
  output: z.object({
    proven: z.boolean(),
    /** `not_proven_here`: the receipts that say so were not written here. */
    verdict: z.enum(['proven', 'not_proven', 'not_proven_here']),
    /** The receipt that claims it, then. */
    claimed: receiptSchema.optional(),
    chain: z.enum(['whole', 'broken', 'empty']),
    receipts: z.int(),
    problems: z.array(problemSchema),
    last_pass: receiptSchema.optional(),
    /** The last PASS on the very files that are here. */
    passed_here: z.string().optional(),
    newest: receiptSchema.optional(),
    tree: z.enum(['same', 'changed', 'unknown']),
    changes: z.array(z.object({ path: z.string(), change: z.enum(['added', 'removed', 'changed']) })),
    changes_total: z.int(),
    changes_known: z.boolean(),
    contract: z.enum(['same', 'changed', 'unknown']),
    /** Parts that have passed as they are now, where the project as a whole is not proven. */
    proven_for: z.array(z.object({ working_dir: z.string(), stack: z.string(), receipt: z.string() })),
    notes: z.array(z.string()),
    place: z.string(),
  }),
  async run({ project }, context, call) {
    const completion = await (await context.state(project)).completion();
    const { claimed, lastPass, passedHere, newest, changes, changesKnown, provenFor, place, ...found } =
      await completion.verify(call);
    return {
      ...found,
      claimed: claimed && receiptData(claimed, false),
      last_pass: lastPass && receiptData(lastPass),
      passed_here: passedHere?.id,
      newest: newest && receiptData(newest),
      changes: changes.slice(0, SHOWN_CHANGES),
      changes_total: changes.length,
      changes_known: changesKnown,
      proven_for: provenFor.map(({ directory, ...part }) => ({ working_dir: directory, ...part })),
      notes: found.notes,
      place: place.folder,
    };
  },
  failed: ({ proven }) => !proven,
  render: (data) => ({
    body: lines(
      data.proven
        ? t`Proven: the project is unchanged since it passed, and the receipts are intact.`
        : data.verdict === 'not_proven_here'
          ? t`NOT proven here: the receipts were not written on this machine by this user, and anyone can write such a file.`
          : data.proven_for.length > 0
            ? t`NOT proven for the whole project, only for ${data.proven_for.map(partText).join('; ')}.`
            : t`NOT proven.`,
      data.claimed === undefined
        ? undefined
        : t`The file says: ${receiptText(data.claimed)}, by ${quoted(data.claimed.by ?? t`unknown`)}`,
      data.chain === 'empty'
        ? t`Receipts: none yet.`
        : data.chain === 'whole'
          ? t`Receipts: ${data.receipts}, the chain is intact`
          : t`Receipts: ${data.receipts}, the chain is broken`,
      data.problems.map(({ message }) => `- ${message}`),
      data.last_pass === undefined
        ? data.chain === 'empty' || data.claimed !== undefined
          ? undefined
          : t`Last PASS: none intact`
        : t`Last PASS: ${receiptText(data.last_pass)}`,
      data.newest === undefined || data.newest.id === data.last_pass?.id
        ? undefined
        : t`Newest: ${receiptText(data.newest)}`,
      data.tree === 'changed'
        ? data.changes_known
          ? t`Files: changed since, ${plural(data.changes_total, 'difference')}`
          : t`Files: changed since; it is no longer known which`
        : data.tree === 'same'
          ? data.passed_here === data.last_pass?.id
            ? t`Files: the same`
            : t`Files: ${data.passed_here ?? ''} passed with exactly these files`
          : undefined,
      data.changes.map(({ path, change }) => t`- ${path}: ${say(change)}`),
      data.changes_total > data.changes.length
        ? t`- and ${data.changes_total - data.changes.length} more`
        : undefined,
      data.contract === 'changed' ? t`Contract: changed since` : undefined,
      data.notes.map((note) => `- ${note}`),
    ),
    note: t`Receipts are chained, not signed; they are in ${data.place}.`,
    steps: data.proven || data.chain === 'broken' ? [] : [RUN_IT],
  }),
});

const RUN_IT: Step = { operation: 'run_completion_contract', why: 'Verify the project as it is now' };

export const listReceipts = defineOperation({
  name: 'list_receipts',
  title: "The contract's receipts",
  description: "List the completion contract's verdicts, newest first, with commit and file digest.",
  effect: 'read',
  behind: { manage_project: 'list_receipts' },
  command: 'contract receipts',
  input: z.strictObject({
    limit: z.int().min(1).max(200).default(20).describe('Maximum receipts'),
    project: projectField,
  }),
  output: z.object({
    total: z.int(),
    items: z.array(receiptSchema),
    problems: z.array(problemSchema),
    place: z.string(),
  }),
  async run({ limit, project }, context) {
    const completion = await (await context.state(project)).completion();
    const { count: total, intact, problems, place, fromHere } = await completion.receipts(limit);
    return {
      total,
      items: intact
        .slice(-limit)
        .toReversed()
        .map((receipt) => receiptData(receipt, fromHere(receipt))),
      problems,
      place: place.folder,
    };
  },
  render: ({ total, items, problems, place }) => ({
    body: lines(
      total === 0 ? t`There are no receipts yet.` : items.map(receiptText),
      problems.map(({ message }) => `! ${message}`),
    ),
    note: t`${items.length} of ${plural(total, 'receipt')}, in ${place}.`,
    steps: [total === 0 ? RUN_IT : { operation: 'verify_receipts', why: t`Compare them with the project` }],
  }),
});
