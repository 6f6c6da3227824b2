import { t } from '../../base/text/message.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { shownText } from '../../base/secrets/scanner.ts';
import { nearest } from '../../base/text/suggest.ts';
import type { Task } from '../../model/task.ts';
import type { Call, Context, RunsPort } from '../context.ts';
import { openRun } from '../runs/run-view.ts';
import { askedHandle } from '../catalogue/agent-names.ts';

interface TaskOrder {
  agent: string;
  task: string;
  outputKey: string;
  contextFiles?: readonly string[] | undefined;
  runId?: string | undefined;
  dependsOn?: readonly string[] | undefined;
  approval?: string | undefined;
  createdBy: string;
  outside?: Task['outside'];
  /** What a worker has to know about where it comes from. */
  origin?: string | undefined;
  project?: string | undefined;
}

/** Puts a task into the queue of a project with all that a worker needs to know. */
export async function queueTask(order: TaskOrder, context: Context, call: Call) {
  const { outputKey, runId, dependsOn = [], approval, createdBy, outside, origin, project } = order;
  const hide = (text: string): string => context.secrets.hide(text);
  const task = shownText(order.task, hide);
  const state = await context.state(project);
  await askedHandle(order.agent, context, project);
  await checkRun(runId, state);
  const [{ briefFor, digestsOf }, { contextFiles }] = await Promise.all([
    import('./task-brief.ts'),
    import('../delegation/context-files.ts'),
  ]);
  const files = await contextFiles(state, order.contextFiles ?? [], { hide, signal: call.signal });
  const { person, brief } = await briefFor(
    { agent: order.agent, task, outputKey, files, dependsOn, origin, project },
    context,
    call,
  );
  const tasks = await state.tasks();
  const added = await tasks.queue.add(
    {
      agent: person.handle,
      task,
      outputKey,
      contextFiles: files.map(({ path }) => path),
      contextDigests: digestsOf(files),
      dependsOn,
      runId,
      createdBy,
      approval,
      brief: brief.text,
      outside,
    },
    call.signal,
  );
  const { path: folder, owner } = tasks.queue.place;
  return {
    task: added,
    briefBytes: Buffer.byteLength(brief.text),
    leftOut: brief.leftOut,
    ...(person.note === undefined ? {} : { note: person.note }),
    keptIn: owner === 'project' ? folder : t`the user's state folder (${folder})`,
  };
}

/** A task of a run that is not there would be found by nobody who looks for the tasks of a run. */
async function checkRun(id: string | undefined, state: RunsPort): Promise<void> {
  if (id === undefined) return;
  const runs = await state.runs();
  if (await runs.has(id)) return;
  const { branches } = await runs.lately();
  const ids = branches.flatMap((branch) => branch.runs.map((run) => run.id));
  throw new BmadError('not_found', t`There is no run ${quoted(id)}.`, {
    subject: id,
    suggestions: nearest(id, ids),
    hint: t`Omit run_id for a task without a run.`,
    steps: [openRun(undefined, t`Open a run`)],
  });
}
