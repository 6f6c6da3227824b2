import {
  A2AError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors';
import type { BmadError, ErrorCode } from '../../base/errors.ts';
import type { Outcome } from '../../operations/execute.ts';

type Telling = new (message: string) => A2AError;

export type Names = Partial<Record<ErrorCode, Telling>>;

/** What the protocol calls our errors. What it has no name for is an internal error there, with our words. */
const NAMES: Names = {
  invalid_input: RequestMalformedError,
  ambiguous: RequestMalformedError,
  too_large: RequestMalformedError,
  not_found: RequestMalformedError,
  forbidden: UnsupportedOperationError,
  conflict: UnsupportedOperationError,
};

/** Where a task is asked for by its id, what is not found is the task. */
export const OF_A_TASK: Names = {
  not_found: TaskNotFoundError,
  // An id that cannot be one is that of no task.
  invalid_input: TaskNotFoundError,
};

export const OF_A_CANCELLATION: Names = {
  ...OF_A_TASK,
  conflict: TaskNotCancelableError,
};

/** The data of an operation that went well; else the protocol's error. */
export function dataOf<T>(outcome: Outcome, names: Names = {}): T {
  if (outcome.ok) return outcome.data as T;
  throw told(outcome.error, names);
}

function told(error: BmadError, names: Names): A2AError {
  const Named = names[error.code] ?? NAMES[error.code] ?? A2AError;
  return new Named(error.line);
}
