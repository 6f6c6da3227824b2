import { t } from '../../base/text/message.ts';
import * as z from 'zod';
import type { Step } from '../../base/step.ts';
import type { JournalEntry, Run, RunsReading } from '../../model/run.ts';
import { oneLine } from '../../base/text/text.ts';
import { whereField, textUpTo } from '../fields.ts';
import { lines } from '../answer-text.ts';
import type { RunsPort } from '../context.ts';
import { defineOperation } from '../operation.ts';
import { runText } from './run-text.ts';
import {
  asideSteps,
  asideText,
  byRecency,
  closing,
  latestRun,
  nextSteps,
  openRun,
  runData,
  type RunData,
  runLine,
  runSchema,
} from './run-view.ts';

const OTHERS = 20;
const JOURNAL_LINES = 200;

const otherSchema = runSchema.pick({
  run_id: true,
  branch: true,
  status: true,
  progress: true,
  last_checkpoint: true,
});

export const getWorkflowStatus = defineOperation({
  name: 'get_workflow_status',
  title: 'Workflow status',
  description: 'See how far a workflow run is: its status, steps, next step, artefacts and problems.',
  effect: 'read',
  toolset: 'project',
  command: 'run status',
  positional: ['run_id'],
  examples: ['run status', 'run status --branch main'],
  input: z.strictObject({
    run_id: textUpTo(200).optional().describe('Default: latest'),
    branch: textUpTo(200).optional().describe('Default: current'),
    journal: z.boolean().optional().describe('Include the log'),
    project: whereField,
  }),
  output: z.object({
    branch: z.string(),
    current_branch: z.string(),
    run: runSchema.optional(),
    others: z.array(otherSchema),
    journal: z.array(z.record(z.string(), z.unknown())).optional(),
    hint: z.string().optional(),
    problems: z.array(z.string()),
  }),
  async run({ run_id: id, branch, journal }, context, { signal }) {
    const state = await context.state();
    const runs = await state.runs();
    const { name, run, others, problems, reading } =
      id === undefined ? latestIn(runs, await runs.read(), branch) : named(await runs.withOthers(id, branch));
    const lineage = run === undefined || journal !== true ? undefined : await runs.journal(run);
    const hint = hintFor(run, reading, branch);
    const { createJudge } = await import('./run-standing.ts');
    const judge = await createJudge(state, reading, { context, signal });
    return {
      branch: name,
      current_branch: reading.current,
      ...(run === undefined ? {} : { run: await judge.whole(run) }),
      others: [...others]
        .sort(byRecency)
        .slice(0, OTHERS)
        .map((each) => runData(each, state.root)),
      ...(lineage === undefined
        ? {}
        : { journal: lineage.slice(-JOURNAL_LINES).map((entry) => ({ ...entry })) }),
      ...(hint === undefined ? {} : { hint }),
      problems: [...problems],
    };
  },
  render: ({ branch, run, others, journal, hint, problems }) => ({
    ...(hint === undefined ? {} : { note: hint }),
    steps: run === undefined ? (hint === undefined ? [FIRST_RUN] : []) : wayOn(run),
    body: lines(
      run === undefined
        ? t`The session branch ${branch} has no runs.`
        : [asideText(run) ?? [], runText(run)].flat(),
      journal === undefined ? undefined : [t`Journal:`, ...journal.map(journalLine)],
      others.length === 0 ? undefined : t`Other runs of this session branch:`,
      others.map((each) => `- ${runLine(each)}`),
      problems.map((problem) => t`Problem: ${problem}`),
    ),
  }),
});

/** A run that was set aside is closed, or checked before it is continued. */
function wayOn(run: RunData): Step[] {
  if (run.aside === undefined) return nextSteps(run);
  return run.aside.kind === 'old' ? [...nextSteps(run), closing(run)] : asideSteps(run);
}

interface Shown {
  name: string;
  run: Run | undefined;
  others: readonly Run[];
  problems: readonly string[];
  reading: RunsReading;
}

const named = (found: Omit<Shown, 'name'> & { run: Run }): Shown => ({
  ...found,
  name: found.run.archive ?? found.run.branch,
});

function latestIn(
  runs: Awaited<ReturnType<RunsPort['runs']>>,
  reading: RunsReading,
  branch: string | undefined,
): Shown {
  const name = branch ?? reading.current;
  const inBranch = runs.branch(reading, name);
  if (inBranch === undefined && name !== 'main' && branch !== undefined)
    throw runs.unknownBranch(name, reading);
  const run = inBranch === undefined ? undefined : latestRun(inBranch);
  const others = (inBranch?.runs ?? []).filter((each) => each !== run);
  return { name, run, others, problems: [...reading.problems, ...(inBranch?.problems ?? [])], reading };
}

const FIRST_RUN = openRun(undefined, 'Open the first run');

function hintFor(run: Run | undefined, reading: RunsReading, asked: string | undefined): string | undefined {
  if (run !== undefined) {
    if (asked !== undefined || run.archive !== undefined || run.branch === reading.current) return undefined;
    return t`It is in the session branch ${run.branch}; the current one is ${reading.current}.`;
  }
  const others = reading.branches.filter(({ runs }) => runs.length > 0);
  const places = others.map((each) => `${each.archive ?? each.name} (${each.runs.length + each.older})`);
  return places.length === 0 ? undefined : t`Runs are in: ${places.join(', ')}.`;
}

function journalLine(entry: Record<string, unknown>): string {
  const { seq, at, event, step, told, status, checkpoint_id: id } = entry as unknown as JournalEntry;
  const name = told === undefined ? undefined : oneLine(told, 200);
  const what = [step === undefined ? undefined : t`step ${step}`, name, status, id].filter(
    (part) => part !== undefined,
  );
  return `- ${seq} ${at} ${event}${what.length === 0 ? '' : ` ${what.join(', ')}`}`;
}
