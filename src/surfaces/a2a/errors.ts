import {
  A2AError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { ErrorCode } from '../../base/errors.ts';
import type { CallOutcome } from '../../operations/execute.ts';

export type Names = Partial<Record<ErrorCode, (words: string) => A2AError>>;

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
export const OF_A_TASK: Names = { not_found: noSuchTask, invalid_input: noSuchTask };

export const OF_A_CANCELLATION: Names = {
  ...OF_A_TASK,
  conflict: (words) => new TaskNotCancelableError(words),
};

/** The data of an operation that went well; else the protocol's error. */
export function dataOf<T>(outcome: CallOutcome, names: Names = {}): T {
  if (outcome.ok) return outcome.data as T;
  const { code, line } = outcome.error;
  throw (names[code] ?? NAMES[code] ?? ((words) => new A2AError(words)))(line);
}
