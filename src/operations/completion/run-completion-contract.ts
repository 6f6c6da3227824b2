import { plural, say, t } from '../../base/text/message.ts';
import * as z from 'zod';
import { fenced } from '../../base/text/text.ts';
import { lines } from '../answer-text.ts';
import { defineOperation } from '../operation.ts';
import { contractSchema, seconds, statusSchema, stepSchema, stepText } from './receipt-view.ts';

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
      ...(ran.exitCode === undefined ? {} : { exit_code: ran.exitCode }),
      ...(ran.signal === undefined ? {} : { signal: ran.signal }),
      timed_out: ran.timedOut,
      duration_ms: ran.durationMs,
      hints: ran.hints,
      counts: ran.counts,
      failures: ran.failures,
      output: ran.output.end,
      output_lines: ran.output.lines,
      ...(ran.output.file === undefined ? {} : { output_file: ran.output.file }),
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
