import * as z from 'zod';
import { BmadError, quoted } from '../../base/errors.ts';
import type { Step } from '../../base/step.ts';
import { plural, say, t } from '../../base/text/message.ts';
import { fenced } from '../../base/text/text.ts';
import { projectField, textUpTo } from '../fields.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';
import {
  contractSchema,
  receiptData,
  receiptSchema,
  receiptText,
  seconds,
  statusSchema,
  stepSchema,
  stepText,
} from './receipt-view.ts';
import { present } from '../../base/values.ts';

/** What is left for steps, hints and the rest of an answer. */
const RESERVED = 4_000;
const LEAST_OUTPUT = 2_000;
const SHOWN_STEPS = 40;

/** What follows is fenced: no line of it is the server's. */
const PRINTED = 'Printed by the programs of the project:';

export const runCompletionContract = defineOperation({
  name: 'run_completion_contract',
  title: 'Completion contract',
  description:
    "Prove that the work is done: runs the project's tests and checks, by its cc-verify.sh or built in. Answers PASS, FAIL or NOT_VERIFIED; only PASS proves it.",
  effect: 'write',
  keeps: true,
  runsPrograms: true,
  toolset: 'project',
  answersData: true,
  command: 'contract run',
  input: z.strictObject({
    stack: z
      .string()
      .trim()
      .min(1)
      .max(50)
      .optional()
      .describe('go, typescript, python, terraform, ansible, docker, k8s, shell'),
    working_dir: z.string().trim().min(1).max(1_000).optional().describe('Folder in the project'),
  }),
  output: z.object({
    status: statusSchema,
    /** Whether anything was verified at all. */
    verified: z.boolean(),
    reason: z.string(),
    contract: contractSchema,
    working_dir: z.string(),
    stacks: z.array(z.string()),
    steps: z.array(stepSchema),
    exit_code: z.int().optional(),
    signal: z.string().optional(),
    timed_out: z.boolean(),
    duration_ms: z.int(),
    hints: z.array(z.string()),
    /** How many tests there were, by what the test runners say. */
    counts: z.string(),
    /** Without PASS, what the test runners say about each failure. */
    failures: z.string(),
    /** The end of what the programs printed; with PASS only where it names neither steps nor tests. */
    output: z.string(),
    /** How to take what the programs printed; it stands beside it wherever that is shown. */
    output_lines: z.int(),
    /** The file with all of it. */
    output_file: z.string().optional(),
    receipt: z.object({ id: z.string(), hash: z.string(), tree: z.string(), file: z.string() }),
  }),

  async run({ stack, working_dir: workingDir }, context, call) {
    const completion = await (await context.state()).completion();
    const room = Math.max(LEAST_OUTPUT, context.config.answerBytes - RESERVED);
    const signal = call.left === undefined ? call.signal : AbortSignal.any([call.signal, call.left]);
    const ran = await completion.run({ stack, workingDir, room }, { ...call, signal });
    return {
      status: ran.status,
      verified: ran.status !== 'NOT_VERIFIED',
      reason: ran.reason,
      contract: ran.contract,
      working_dir: ran.directory,
      stacks: ran.stacks,
      steps: ran.steps.slice(-SHOWN_STEPS),
      ...present({ exit_code: ran.exitCode, signal: ran.signal }),
      timed_out: ran.timedOut,
      duration_ms: ran.durationMs,
      hints: ran.hints,
      counts: ran.counts,
      failures: ran.failures,
      output: ran.output.end,
      output_lines: ran.output.lines,
      ...present({ output_file: ran.output.file }),
      receipt: {
        id: ran.receipt.id,
        hash: ran.receipt.hash,
        tree: ran.receipt.tree.digest,
        file: ran.receiptFile,
      },
    };
  },

  failed: ({ status }) => status !== 'PASS',

  render: (data) => ({
    body: lines(
      `CC ${data.status} — [${data.stacks.join(', ')}] — ${seconds(data.duration_ms)}, ${data.receipt.id}`,
      data.counts === '' ? say(data.reason) : t`${say(data.reason)} Tests: ${data.counts}.`,
      data.failures === '' ? undefined : `${say(PRINTED)}\n${fenced(data.failures)}`,
      data.status === 'PASS'
        ? undefined
        : data.contract.kind === 'script'
          ? t`Contract: ${data.contract.path ?? ''} in ${data.working_dir}`
          : t`Contract: built-in checks, because the project has no script, in ${data.working_dir}`,
      data.steps.filter(({ ok }) => data.status !== 'PASS' || ok !== true).map(stepText),
      data.hints.map((hint) => `- ${hint}`),
      data.output === ''
        ? undefined
        : `${data.failures === '' ? `${say(PRINTED)}\n` : ''}${fenced(data.output)}`,
      data.output === '' || data.output_file === undefined
        ? undefined
        : t`All of the output (${plural(data.output_lines, 'line')}) is in ${data.output_file}.`,
    ),
  }),
});

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
  async run(_input, context, call) {
    const completion = await (await context.state()).completion();
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
  async run({ limit }, context) {
    const completion = await (await context.state()).completion();
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

const SHOWN_OUTPUT = 60_000;
const LATEST = 200;

export const receiptShow = defineOperation({
  name: 'receipt_show',
  title: 'Show a verdict with its output',
  description:
    'One verdict of the completion contract: its steps, the failures as the test runners tell them, and the end of what was printed, as long as that is kept.',
  effect: 'read',
  command: 'contract show',
  forPeople: true,
  positional: ['id'],
  input: z.strictObject({
    id: textUpTo(40).optional().describe('Id of the receipt, such as cc-000003; default: the newest'),
    project: projectField,
  }),
  output: z.object({
    receipt: receiptSchema,
    steps: z.array(stepSchema),
    failures: z.string().optional(),
    output: z.string().optional(),
    output_lines: z.int().optional(),
  }),
  async run({ id }, context) {
    const completion = await (await context.state()).completion();
    const { intact, fromHere } = await completion.receipts(LATEST);
    const receipt = id === undefined ? intact.at(-1) : intact.find((each) => each.id === id);
    if (receipt === undefined)
      throw new BmadError(
        'not_found',
        id === undefined ? t`There are no receipts yet.` : t`There is no receipt ${quoted(id)}.`,
        {
          subject: id ?? '',
          steps: [{ operation: 'list_receipts', why: t`List the receipts` }],
        },
      );
    const output = await completion.output(receipt.id, SHOWN_OUTPUT);
    return {
      receipt: receiptData(receipt, fromHere(receipt)),
      steps: receipt.steps.slice(-SHOWN_STEPS),
      ...present({ failures: output?.failures, output: output?.end, output_lines: output?.lines }),
    };
  },
  failed: ({ receipt }) => receipt.status !== 'PASS',
  render: ({ receipt, steps, failures, output }) => ({
    asStored: true,
    body: lines(
      receiptText(receipt),
      say(receipt.reason),
      steps.map(stepText),
      failures === undefined || failures === '' ? undefined : `${say(PRINTED)}\n${fenced(failures)}`,
      output === undefined ? t`Its output is not kept any more.` : fenced(output),
    ),
  }),
});
