import {
  Role,
  TaskState,
  type Artifact,
  type Message,
  type Part,
  type Task,
  type TaskStatus,
} from '@a2a-js/sdk';
import { oneLine } from '../../base/text/text.ts';
import type { OutsideTaskView } from '../../operations/tasks/outside-tasks.ts';

type Status = OutsideTaskView['status'];

/**
 * What our states are called there. Approval is given elsewhere, not by a message from the client: that is `auth
 * required`, and a stream continues through it. A result that a person still has to check is not final: it may be
 * refused, and a finished task must not change any more.
 */
const STATES: Record<Status, TaskState> = {
  needs_approval: TaskState.TASK_STATE_AUTH_REQUIRED,
  queued: TaskState.TASK_STATE_SUBMITTED,
  running: TaskState.TASK_STATE_WORKING,
  needs_verification: TaskState.TASK_STATE_WORKING,
  completed: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  cancelled: TaskState.TASK_STATE_CANCELED,
};

const NAME = 200;

function stateOf({ status, refused }: OutsideTaskView): TaskState {
  return refused ? TaskState.TASK_STATE_REJECTED : STATES[status];
}

/** Which of our states one of theirs stands for; undefined for one that none of our tasks can be in. */
export function statesBehind(state: TaskState): { status: Status[]; refused?: boolean } | undefined {
  if (state === TaskState.TASK_STATE_REJECTED) return { status: ['cancelled'], refused: true };
  const status = (Object.keys(STATES) as Status[]).filter((ours) => STATES[ours] === state);
  if (status.length === 0) return undefined;
  return state === TaskState.TASK_STATE_CANCELED ? { status, refused: false } : { status };
}

export function taskOf(
  view: OutsideTaskView,
  shown: { history?: number | undefined; artifacts: boolean },
): Task {
  const history = shown.history === 0 ? [] : [messageOf(view, Role.ROLE_USER, view.message_id, view.text)];
  return {
    id: view.task_id,
    contextId: view.context_id,
    status: statusOf(view),
    artifacts: shown.artifacts ? artifactsOf(view) : [],
    history,
    metadata: { agent: view.agent, status: view.status },
  };
}

export function statusOf(view: OutsideTaskView): TaskStatus {
  return {
    state: stateOf(view),
    message: messageOf(view, Role.ROLE_AGENT, `${view.task_id}-${view.status}`, wordsOf(view)),
    timestamp: view.updated_at,
  };
}

/** The result, even before a person has checked it: its metadata say which it is. */
export function artifactsOf(view: OutsideTaskView): Artifact[] {
  const { result, result_bytes: bytes = 0, output_key: key } = view;
  if (result === undefined) return [];
  const whole = Buffer.byteLength(result) >= bytes;
  return [
    {
      artifactId: key,
      name: key,
      description: whole ? '' : `The first ${Buffer.byteLength(result)} of ${bytes} bytes.`,
      parts: [textPart(result)],
      metadata: { needs_verification: view.status === 'needs_verification', complete: whole },
      extensions: [],
    },
  ];
}

function wordsOf(view: OutsideTaskView): string {
  const { task_id: id, agent, error } = view;
  if (view.refused) return error ?? 'Someone on the project refused it.';
  const words: Record<Status, string> = {
    needs_approval: `For ${agent}. Someone on the project must approve it first, ${whereOf(view)}: bmad task approve ${id}`,
    queued: `For ${agent}. Waiting for a worker of the project.`,
    running: `${oneLine(view.worker ?? 'A worker', NAME)} is working on it.`,
    needs_verification: `A result is ready. Someone on the project must check it before it counts, ${whereOf(view)}: bmad task approve ${id}`,
    completed: 'Done.',
    failed: error ?? 'The task failed.',
    cancelled: error ?? 'Cancelled.',
  };
  return words[view.status];
}

/** Without BMAD in the project its queue is in the state folder of a user, and another user has another queue. */
function whereOf({ kept_with }: OutsideTaskView): string {
  return kept_with === 'project'
    ? 'in its folder'
    : 'in its folder, as the user the server runs as and with the same XDG_STATE_HOME';
}

function messageOf(view: OutsideTaskView, role: Role, id: string, text: string): Message {
  return {
    messageId: id,
    contextId: view.context_id,
    taskId: view.task_id,
    role,
    parts: [textPart(text)],
    metadata: undefined,
    extensions: [],
    referenceTaskIds: [],
  };
}

function textPart(text: string): Part {
  return {
    content: { $case: 'text', value: text },
    metadata: undefined,
    filename: '',
    mediaType: 'text/markdown',
  };
}
