import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { BmadError } from '../../base/errors.ts';
import type { StepWriter } from '../../base/step.ts';
import type { Outcome } from '../../operations/execute.ts';
import { toolCall } from '../../operations/unified/forms.ts';

/** The data of an outcome; a failure becomes a protocol error that names the thing and suggests others. */
export function dataOf<T>(outcome: Outcome): T {
  if (!outcome.ok) throw protocolError(outcome.error);
  return outcome.data as T;
}

/** Steps are written as calls of the tools, unless the caller knows better which of them are offered. */
export function protocolError(error: BmadError, write: StepWriter = toolCall): ProtocolError {
  const code =
    error.code === 'internal' || error.code === 'unavailable'
      ? ProtocolErrorCode.InternalError
      : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, error.textWith(write), {
    ...(error.subject === undefined ? {} : { [error.subject.includes(':') ? 'uri' : 'name']: error.subject }),
    ...(error.suggestions.length === 0 ? {} : { suggestions: [...error.suggestions] }),
  });
}
