import {
  type Message,
  type Part,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
} from '@a2a-js/sdk';
import {
  A2AError,
  ContentTypeNotSupportedError,
  PushNotificationNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { type ErrorCode, quoted } from '../../base/errors.ts';
import { fenced, oneLine } from '../../base/text/text.ts';
import type { Call, Context } from '../../operations/context.ts';
import { type CallOutcome, execute } from '../../operations/execute.ts';
import type { AnyOperation } from '../../operations/operation.ts';
import {
  outsideTaskAdd,
  outsideTaskCancel,
  outsideTaskList,
  outsideTaskShow,
  type OutsideTaskView,
} from '../../operations/tasks/outside-tasks.ts';
import { artifactsOf, statesBehind, statusOf, taskOf } from './task-shape.ts';

/** How long a send waits that wants the end: the work may take hours, and is never done by the server itself. */
const PATIENCE_SECONDS = 5;
const ROUND_SECONDS = 30;
const PAGE = 50;
const LARGEST_PAGE = 100;
const OUTPUT = /^(?:\*\/\*|text(?:\/(?:\*|plain|markdown))?)$/i;

interface Asking {
  context: Context;
  call: Call;
  card: A2ARequestHandler['getAgentCard'];
  /** Hears how each operation ended: messages of its errors are meant for clients, others are not shown. */
  heard(outcome: CallOutcome): void;
}

/** The protocol's calls, each by an operation on the queue of the project. Lives for one request. */
export function createHandler({ context, call, card, heard }: Asking): A2ARequestHandler {
  /** Waiting is not a separate call: it would be counted as a slow one, and a client that disconnects as an error. */
  const uncounted: Context = { ...context, observe: undefined };

  async function ask<T>(
    operation: AnyOperation,
    input: unknown,
    names?: Names,
    asking: Context = context,
  ): Promise<T> {
    const outcome = await execute(operation, input, asking, call);
    heard(outcome);
    return dataOf<T>(outcome, names);
  }

  async function show(id: string, known = '', seconds = 0): Promise<OutsideTaskView> {
    if (id === '') throw new RequestMalformedError('The task id is missing.');
    const input = { task_id: id, known, wait_seconds: seconds };
    const asking = seconds === 0 ? context : uncounted;
    return (await ask<{ task: OutsideTaskView }>(outsideTaskShow, input, OF_A_TASK, asking)).task;
  }

  async function submit({ message, configuration, metadata }: SendMessageRequest): Promise<OutsideTaskView> {
    if (message === undefined) throw new RequestMalformedError('The message is missing.');
    if (message.role === Role.ROLE_AGENT || message.role === Role.UNRECOGNIZED)
      throw new RequestMalformedError('message.role must be "user".');
    if (configuration?.taskPushNotificationConfig !== undefined) throw noPush();
    const modes = configuration?.acceptedOutputModes ?? [];
    if (modes.length > 0 && !modes.some((mode) => OUTPUT.test(mode.trim())))
      throw new ContentTypeNotSupportedError('Results are text/markdown, which this call does not accept.');
    if (message.taskId !== '') throw await noFollowUp(message.taskId);
    const text = textOf(message);
    const input = {
      agent: skillOf(message.metadata) ?? skillOf(metadata),
      text,
      context_id: message.contextId === '' ? undefined : message.contextId,
      message_id: message.messageId,
    };
    return (await ask<{ task: OutsideTaskView }>(outsideTaskAdd, input)).task;
  }

  /** Our workers never ask back, so no task waits for words of the client. */
  async function noFollowUp(id: string): Promise<Error> {
    const { final, status } = await show(id);
    return new UnsupportedOperationError(
      `The task is ${status} and does not accept more messages${final ? '' : ' while it is open'}. Send a new message with the same contextId and no taskId.`,
    );
  }

  /** The task as it is, then every change of it, until nothing can follow or the client is gone. */
  async function* changes(first: OutsideTaskView): AsyncGenerator<StreamResponse, void, undefined> {
    yield { payload: { $case: 'task', value: taskOf(first, { artifacts: true }) } };
    let known = first;
    while (!known.final && !call.signal.aborted) {
      const now = await show(known.task_id, known.mark, ROUND_SECONDS);
      if (now.mark === known.mark) continue;
      const ids = { taskId: now.task_id, contextId: now.context_id, metadata: undefined };
      const [artifact] = artifactsOf(now);
      if (artifact !== undefined && (known.result !== now.result || known.status !== now.status))
        yield {
          payload: { $case: 'artifactUpdate', value: { ...ids, artifact, append: false, lastChunk: true } },
        };
      yield {
        payload: {
          $case: 'statusUpdate',
          value: { ...ids, status: statusOf(now), metadata: { agent: now.agent, status: now.status } },
        },
      };
      known = now;
    }
  }

  return {
    getAgentCard: card,
    async getAuthenticatedExtendedAgentCard() {
      const whole = await card();
      if (whole.capabilities?.extendedAgentCard === true) return whole;
      throw new UnsupportedOperationError('There is no extended agent card.');
    },

    async sendMessage(params) {
      let view = await submit(params);
      const { returnImmediately = false, historyLength } = params.configuration ?? {};
      const end = performance.now() + (returnImmediately ? 0 : PATIENCE_SECONDS * 1_000);
      while (!view.final && view.status !== 'needs_approval') {
        const left = Math.ceil((end - performance.now()) / 1_000);
        if (left <= 0) break;
        // The task is in the queue: that is the answer, even if the server stops in the meantime.
        view = await show(view.task_id, view.mark, left).catch((error: unknown) => {
          if (call.signal.aborted) return view;
          throw error;
        });
        if (call.signal.aborted) break;
      }
      return taskOf(view, { history: historyLength, artifacts: true });
    },

    async *sendMessageStream(params) {
      yield* changes(await submit(params));
    },

    async *resubscribe({ id }) {
      const view = await show(id);
      if (view.final)
        throw new UnsupportedOperationError('The task has already finished. Get it instead of subscribing.');
      yield* changes(view);
    },

    async getTask({ id, historyLength }) {
      return taskOf(await show(id), { history: historyLength, artifacts: true });
    },

    async cancelTask({ id }) {
      if (id === '') throw new RequestMalformedError('The task id is missing.');
      const { task } = await ask<{ task: OutsideTaskView }>(
        outsideTaskCancel,
        { task_id: id },
        OF_A_CANCELLATION,
      );
      return taskOf(task, { artifacts: true });
    },

    async listTasks({ contextId, status, pageSize, pageToken, historyLength, ...wanted }) {
      const size = pageSize ?? PAGE;
      if (size < 1 || size > LARGEST_PAGE)
        throw new RequestMalformedError(`pageSize must be between 1 and ${LARGEST_PAGE}.`);
      if (status === TaskState.UNRECOGNIZED)
        throw new RequestMalformedError('status is not a known task state.');
      const states = status === TaskState.TASK_STATE_UNSPECIFIED ? { status: [] } : statesBehind(status);
      if (states === undefined) return { tasks: [], nextPageToken: '', pageSize: size, totalSize: 0 };
      const after = wanted.statusTimestampAfter;
      const input = {
        ...states,
        context_id: contextId === '' ? undefined : contextId,
        changed_after: after === undefined ? undefined : new Date(after).toISOString(),
        results: wanted.includeArtifacts === true,
        limit: size,
        cursor: pageToken === '' ? undefined : pageToken,
      };
      const found = await ask<{ tasks: OutsideTaskView[]; total: number; next?: string }>(
        outsideTaskList,
        input,
      );
      const shown = { history: historyLength, artifacts: wanted.includeArtifacts === true };
      return {
        tasks: found.tasks.map((view): Task => taskOf(view, shown)),
        nextPageToken: found.next ?? '',
        pageSize: size,
        totalSize: found.total,
      };
    },

    createTaskPushNotificationConfig: () => Promise.reject(noPush()),
    getTaskPushNotificationConfig: () => Promise.reject(noPush()),
    listTaskPushNotificationConfigs: () => Promise.reject(noPush()),
    deleteTaskPushNotificationConfig: () => Promise.reject(noPush()),
  };
}

function noPush(): Error {
  return new PushNotificationNotSupportedError(
    'Push notifications are not supported. Subscribe to the task or poll it.',
  );
}

/** The agent that a message names: its skill, by the id that the card has for it. */
function skillOf(metadata: Record<string, unknown> | undefined): string | undefined {
  const agent = metadata?.['agent'];
  // Others write whatever they like as their agent: only a name is meant for us.
  const named =
    metadata?.['skill'] ?? metadata?.['skillId'] ?? (typeof agent === 'string' ? agent : undefined);
  if (named === undefined || named === null || named === '') return undefined;
  if (typeof named === 'string') return named;
  throw new RequestMalformedError('metadata.skill must be the id of a skill.');
}

/** What a worker can read; the rest is refused rather than left out. */
const TEXTUAL = /^(?:text\/[\w.+-]+|application\/(?:[\w.+-]+\+)?(?:json|xml|yaml|toml))(?:\s*;.*)?$/i;
const OTHER_LETTERS = /;\s*charset\s*=\s*(?!"?(?:utf-?8|us-ascii)\b)/i;
const FILE_NAME = 200;

/** All that a message says as one text: files and data that are text are put in, each under its name. */
function textOf({ parts }: Message): string {
  const text = parts
    .map(partText)
    .filter((part) => part.trim() !== '')
    .join('\n\n');
  if (text.trim() === '') throw new RequestMalformedError('The message has no text.');
  return text;
}

function partText({ content, filename, mediaType }: Part): string {
  switch (content?.$case) {
    case 'text':
      return content.value;
    case 'data':
      return fenced(JSON.stringify(content.value, null, 2), 'json');
    case 'raw':
      return fileText(content.value, oneLine(filename, FILE_NAME), mediaType);
    case 'url':
      throw new ContentTypeNotSupportedError(
        'Files at an address are not fetched. Send the text of the file in the message.',
      );
    case undefined:
      throw new RequestMalformedError('A message part has no text, data or file.');
  }
}

function fileText(bytes: Buffer, name: string, mediaType: string): string {
  const isText = mediaType === '' || (TEXTUAL.test(mediaType) && !OTHER_LETTERS.test(mediaType));
  if (!isText || bytes.includes(0))
    throw new ContentTypeNotSupportedError(
      `${quoted(mediaType === '' ? name : mediaType)} is not supported. Send UTF-8 text, JSON, XML, YAML or TOML.`,
    );
  return `${name === '' ? 'File' : name}:\n\n${fenced(decoded(bytes, name))}`;
}

/** A worker must get exactly the characters that were sent. */
function decoded(bytes: Buffer, name: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const which = name === '' ? 'A file in the message' : quoted(name);
    throw new ContentTypeNotSupportedError(`${which} is not UTF-8 text.`);
  }
}

type Names = Partial<Record<ErrorCode, (words: string) => A2AError>>;

/** What the protocol calls our errors. What it has no name for is an internal error there, with our words. */
const NAMES: Names = {
  invalid_input: (words) => new RequestMalformedError(words),
  ambiguous: (words) => new RequestMalformedError(words),
  too_large: (words) => new RequestMalformedError(words),
  not_found: (words) => new RequestMalformedError(words),
  forbidden: (words) => new UnsupportedOperationError(words),
  conflict: (words) => new UnsupportedOperationError(words),
};

/** Similar ids are not suggested: they may belong to tasks of other clients. */
const noSuchTask = (): A2AError => new TaskNotFoundError('Task not found.');

/** Where a task is asked for by its id, what is not found is the task; an id that cannot be one is that of none. */
const OF_A_TASK: Names = { not_found: noSuchTask, invalid_input: noSuchTask };

const OF_A_CANCELLATION: Names = {
  ...OF_A_TASK,
  conflict: (words) => new TaskNotCancelableError(words),
};

const OF_A_KEY = new Set<string>(['reused', 'lost', 'busy']);

/** The data of an operation that went well; else the protocol's error. */
export function dataOf<T>(outcome: CallOutcome, names: Names = {}): T {
  if (outcome.ok) return outcome.data as T;
  const { code, line, reason = '' } = outcome.error;
  // What is wrong with a key says nothing of the task.
  const own = OF_A_KEY.has(reason) ? undefined : names[code];
  throw (own ?? NAMES[code] ?? ((words) => new A2AError(words)))(line);
}
