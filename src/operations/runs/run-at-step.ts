import { t } from '../../base/text/message.ts';
import { posix } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import { orElse, attempt } from '../../base/expected.ts';
import { qualifiedName } from '../../model/record.ts';
import type { Run } from '../../model/run.ts';
import type { Step } from '../../base/step.ts';
import { checkedAgent } from '../catalogue/agent-names.ts';
import type { CataloguePort, StatePort, Workspace } from '../context.ts';
import { hasEnded, runData, type RunData } from './run-view.ts';
import { labelOf, servedFor, stepFilesOf } from './step-files.ts';

export { runSection, underWay } from './run-section.ts';
export { stepFilesFor, stepFilesOf, toldStep } from './step-files.ts';

/** A run with the file of the step that comes next, where its workflow has its steps in files. */
export async function runAtStep(
  run: Run,
  root: string,
  context: CataloguePort & StatePort,
  project: string | undefined,
): Promise<RunData> {
  const isOver = run.archive !== undefined || hasEnded(run);
  const steps = isOver ? undefined : await stepFilesOf(run, root, context, project);
  const data = {
    ...runData(run, root, steps?.total),
    ...(isOver ? {} : await served(run, root, context, project)),
  };
  const lost = steps?.lost({
    last: data.last_step,
    done: data.steps_completed,
    total: run.state?.totalSteps,
  });
  if (lost !== undefined) return { ...data, lost_step: lost };
  if (steps === undefined || data.resume_step === undefined) return data;
  const files = await steps.next({ step: data.resume_step, last: data.last_step });
  if (files.length === 0) return data;
  return { ...data, next_files: files.map((file) => ({ step: labelOf(file), uri: file.uri })) };
}

/** The same without its step, for which files would have to be read. */
export async function runAsServed(
  run: Run,
  root: string,
  context: CataloguePort,
  project: string | undefined,
): Promise<RunData> {
  return { ...runData(run, root), ...(await served(run, root, context, project)) };
}

/** What stands for the workflow of a run now: kits and other versions name files that need not be here. */
async function served(
  run: Run,
  root: string,
  context: CataloguePort,
  project: string | undefined,
): Promise<Pick<RunData, 'served' | 'served_instead' | 'workflow_missing'>> {
  const { workflow, workflowPath } = run.state ?? {};
  if (workflow === undefined && workflowPath === undefined) return {};
  const record = servedFor(run, root, await context.workspace(project));
  if (record === undefined) return { workflow_missing: true };
  const isOther = workflow === undefined && record.absolutePath !== posix.join(root, workflowPath ?? '');
  return { served: qualifiedName(record), ...(isOther ? { served_instead: true } : {}) };
}

/** A run by its id. */
export async function namedRun(
  id: string,
  context: StatePort & CataloguePort,
  project: string | undefined,
): Promise<RunData> {
  const state = await context.state(project);
  const runs = await state.runs();
  return runAtStep(await runs.one(id), state.root, context, project);
}

/** A workflow that is not found, for a run: the run itself can still be read and ended. */
export function withoutWorkflow(error: unknown, { run_id, branch }: RunData): unknown {
  if (!(error instanceof BmadError) || error.code !== 'not_found') return error;
  const args = { run_id, ...(branch === 'main' ? {} : { branch }) };
  return error.with({
    hint: [
      error.hint,
      t`The run ${quoted(run_id)} was started with a workflow that this project does not have; see what it recorded, or end it.`,
    ]
      .filter(Boolean)
      .join(' '),
    steps: [
      { operation: 'run_resume', args, why: t`See the run` },
      { operation: 'run_finish', args: { ...args, status: 'abandoned' }, why: t`End it` },
      ...error.steps,
    ],
    cause: error,
  });
}

/** Who is at work, if the caller names somebody. */
export function agentAtWork(named: string | undefined): string | undefined {
  return named
    ?.split('/')
    .map((part) => checkedAgent(part))
    .join('/');
}

/** The call that brings the agent of a run back; none where it is not here. */
export function agentSteps({ agent: name }: RunData, { catalogue }: Workspace): Step[] {
  if (name === undefined) return [];
  const find = () => catalogue.names.resolve({ name, kinds: ['agent'], fuzzy: false }).record;
  const record = attempt(find, orElse(undefined));
  if (record === undefined) return [];
  const args = { name: qualifiedName(record), kind: 'agent' };
  return [
    { operation: 'execute', args, why: t`Take the role of ${record.displayName ?? record.name} again` },
  ];
}
