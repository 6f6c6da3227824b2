import { t } from '../../base/text/message.ts';
import { sha256 } from '../../base/sha256.ts';
import { BmadError, quoted } from '../../base/errors.ts';
import { oneLine } from '../../base/text/text.ts';
import type { ProjectState } from '../context.ts';
import { openRun } from '../runs/run-view.ts';

export interface KeepOrder {
  agent: string;
  task: string;
  contextFiles: readonly string[];
  runId?: string | undefined;
  outputKey?: string | undefined;
}

/** What would stand in the way of keeping the result is told before anybody is asked: answers cost something. */
export async function checkKeeping(order: KeepOrder, state: () => Promise<ProjectState>): Promise<void> {
  const { runId, outputKey } = order;
  if (runId !== undefined) {
    const runs = await (await state()).runs();
    const run = await runs.one(runId);
    if (run.archive !== undefined || run.status === 'completed')
      throw new BmadError('conflict', t`The run ${quoted(runId)} has ended; nothing can be added to it.`, {
        subject: runId,
        hint: t`Omit run_id, or open a new run.`,
        steps: [openRun(run.state?.workflow, t`Open a new run`)],
      });
  }
  if (outputKey !== undefined) {
    const { queue } = await (await state()).tasks();
    await queue.checkFree({ outputKey, runId });
  }
}

/**
 * Keeps an answer as a completed task of the queue, and in the run that it belongs to as a checkpoint with the file of the
 * answer among its artefacts. The same answer once more changes nothing. The answer has been paid for: what goes wrong here
 * is told beside it.
 */
export async function keepResult(
  order: KeepOrder,
  done: { text: string; by: string; brief: string },
  state: ProjectState,
  signal: AbortSignal,
) {
  const notes: string[] = [];
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof BmadError) || error.code === 'cancelled') throw error;
      notes.push(`${what}: ${error.message}`);
      return undefined;
    }
  };
  const { runId } = order;
  const outputKey = order.outputKey ?? keyFor(order.agent, order.task, done.text);
  const { queue } = await state.tasks();
  const task = await attempt(t`The answer could not be kept`, () =>
    queue.record(
      {
        agent: order.agent,
        task: order.task,
        outputKey,
        contextFiles: order.contextFiles,
        dependsOn: [],
        runId,
        createdBy: 'bmad',
        brief: done.brief,
      },
      { text: done.text, by: done.by },
      signal,
    ),
  );
  if (task === undefined) return { notes };
  const { path: folder, owner } = queue.place;
  const file = `${folder}/${task.result?.file ?? ''}`;
  if (runId !== undefined)
    await attempt(t`The run could not be updated`, async () => {
      const runs = await state.runs();
      const { state: before } = await runs.one(runId);
      const known = before?.variables[outputKey] as { task_id?: unknown } | undefined;
      if (known?.task_id === task.task_id) return;
      await runs.checkpoint(runId, undefined, {
        isNote: true,
        variables: {
          [outputKey]: {
            event: 'handoff',
            agent: order.agent,
            task: oneLine(order.task, 300),
            task_id: task.task_id,
            by: done.by,
          },
        },
        ...(owner === 'project' ? { artefacts: [file] } : {}),
      });
      const facts = await state.facts();
      const traced = await facts.trace(
        'bmad',
        `HANDOFF→${order.agent}`,
        `${oneLine(order.task, 200)} (${task.task_id})`,
      );
      notes.push(...traced.notes);
    });
  return {
    kept: {
      task_id: task.task_id,
      output_key: outputKey,
      ...(runId === undefined ? {} : { run_id: runId }),
      file: owner === 'project' ? file : t`the user's state folder (${file})`,
    },
    notes,
  };
}

/** Whoever wanted something kept is to know that it was not. */
export function notKept(runId: string | undefined, outputKey: string | undefined): string[] {
  const places = [
    ...(runId === undefined ? [] : [t`in the run ${quoted(runId)}`]),
    ...(outputKey === undefined ? [] : [t`under ${quoted(outputKey)}`]),
  ];
  return places.length === 0 ? [] : [t`Nothing was kept ${places.join(' or ')}.`];
}

/** A key for work that was given none; the same answer to the same task has the same one. */
function keyFor(agent: string, task: string, answer: string): string {
  const name = agent.replaceAll(/\W+/g, '_').slice(0, 40);
  const digest = sha256(`${agent}\n${task}\n${answer}`).slice(0, 8);
  return `from_${name}_${digest}`;
}
