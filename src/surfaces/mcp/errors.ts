import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { BmadError } from '../../base/errors.ts';
import type { CallOutcome } from '../../operations/execute.ts';

/** The data of an outcome; a failure becomes a protocol error that names the thing and suggests others. */
export function dataOf<T>(outcome: CallOutcome): T {
  if (!outcome.ok) throw protocolError(outcome.error);
  return outcome.data as T;
}

export function protocolError(error: BmadError): ProtocolError {
  const code =
    error.code === 'internal' || error.code === 'unavailable'
      ? ProtocolErrorCode.InternalError
      : ProtocolErrorCode.InvalidParams;
  return new ProtocolError(code, error.text, {
    ...(error.subject === undefined ? {} : { [error.subject.includes(':') ? 'uri' : 'name']: error.subject }),
    ...(error.suggestions.length === 0 ? {} : { suggestions: [...error.suggestions] }),
  });
}
