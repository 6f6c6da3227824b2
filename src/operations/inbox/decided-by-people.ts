import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import type { Task, TaskState } from '../../model/task.ts';
import type { ProjectState } from '../context.ts';
import { decidedText, textsOf } from '../tasks/task-texts.ts';
import { viewOf } from '../tasks/task-view.ts';
import { action, problemsOf, type InboxItem, type WaitingThere } from './inbox-item.ts';

/** What only a person decides in the project itself: tasks, their results, and deliveries. */

const WAITING = new Set<TaskState>(['needs_approval', 'needs_verification']);

export async function tasksOf(state: ProjectState): Promise<WaitingThere> {
  const { queue } = await state.tasks();
  const { tasks, problems } = await queue.all();
  const found: WaitingThere = { items: [], unread: problemsOf(t`tasks`, problems) };
  const { waiting, digest } = await queue.elsewhere();
  // One answer will do for what an earlier version has queued.
  const together = new Set(waiting.length > 1 ? waiting.map(({ task }) => task.task_id) : []);
  if (together.size > 0)
    found.items.push(
      present<InboxItem>({
        id: 'tasks from elsewhere',
        kind: 'task',
        since: waiting[0]?.task.created_at,
        title: t`${together.size} tasks were queued elsewhere, or by an earlier version`,
        evidence: waiting.map(({ task }) => ({
          file: queue.fileOf(task),
          says: reasonOf(task),
        })),
        text: waiting
          .map(({ task, ...decided }) => decidedText(viewOf(task), textsOf(task, decided)))
          .join('\n\n'),
        actions: [action(t`Approve exactly these`, 'task_approve_all', { digest })],
      }),
    );
  for (const task of tasks.filter(({ status, task_id }) => WAITING.has(status) && !together.has(task_id))) {
    try {
      const shown = textsOf(task, await queue.decided(task));
      const { task_id } = task;
      const isResult = task.status === 'needs_verification';
      found.items.push(
        present<InboxItem>({
          id: `task ${task_id}`,
          kind: isResult ? 'result' : 'task',
          role: task.agent,
          since: isResult ? task.updated_at : task.created_at,
          title: isResult ? t`Check the result ${task.output_key}` : t`Approve the task ${task.output_key}`,
          evidence: [{ file: queue.fileOf(task), says: reasonOf(task) }],
          text: decidedText(viewOf(task), shown),
          actions: [
            action(t`Approve exactly this`, 'task_approve', { task_id, digest: shown.digest }),
            action(t`Refuse`, 'task_refuse', { task_id }, { needs: ['reason'], danger: true }),
          ],
        }),
      );
    } catch (error) {
      found.unread.push({
        what: t`task ${task.task_id}`,
        why: BmadError.from(error, () => undefined).message,
      });
    }
  }
  return found;
}

function reasonOf({ status, approval, outside, result }: Task): string {
  if (status === 'needs_verification' && result !== undefined)
    return result.over_http === true ? t`handed in by ${result.by}, over HTTP` : t`handed in by ${result.by}`;
  return `${approval?.reason ?? t`no reason given`}${outside === undefined ? '' : t` (from outside, by ${outside.protocol})`}`;
}

/** What ends the matter; all else waits for somebody here. */
const ANSWERED = new Set(['accepted', 'rejected', undefined]);

export async function contractsOf(state: ProjectState): Promise<WaitingThere> {
  const { contracts } = await state.handovers();
  const { contracts: kept, problems } = await contracts.all();
  const found: WaitingThere = { items: [], unread: problemsOf(t`delivery contracts`, problems) };
  for (const one of kept.filter(({ status }) => !ANSWERED.has(status))) {
    const { valid, findings } = await contracts.validate(one);
    const { id: contract_id, text, digest } = one;
    found.items.push(
      present<InboxItem>({
        id: `contract ${contract_id}`,
        kind: 'contract',
        role: one.contract.to,
        since: one.contract.date,
        title: valid ? waitingWords(one) : t`${waitingWords(one)}, and is not complete`,
        evidence: findings.map(({ message, line }) => present({ file: one.file, line, says: message })),
        text,
        actions: [
          ...(valid || one.contract.status === 'accepted'
            ? [action(t`Accept`, 'delivery_accept', { contract_id, digest }, { danger: true })]
            : []),
          action(
            t`Ask for a new version`,
            'delivery_reject',
            { contract_id, renegotiate: true },
            { needs: ['reason'] },
          ),
          action(t`Reject`, 'delivery_reject', { contract_id }, { needs: ['reason'], danger: true }),
        ],
      }),
    );
  }
  return found;
}

function waitingWords({ id, status }: { id: string; status?: string | undefined }): string {
  if (status === 'accepted elsewhere') return t`${id} was accepted elsewhere, not on this machine`;
  if (status === 'changed since it was accepted') return t`${id} has changed since it was accepted here`;
  return t`${id} waits for an answer`;
}
