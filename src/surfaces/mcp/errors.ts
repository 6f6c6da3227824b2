import { ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import type { BmadError } from '../../base/errors.ts';
import type { CallOutcome } from '../../operations/execute.ts';

/**
 * The data of an outcome; a failure becomes a protocol error that names the thing and suggests others. What was asked for
 * by its address is named by it, whatever the failure calls it.
 */
export function dataOf<T>(outcome: CallOutcome, uri?: string): T {
  if (!outcome.ok) throw protocolError(outcome.error, uri);
  return outcome.data as T;
}

const URI_LENGTH = 1_000;

export function protocolError(error: BmadError, uri?: string): ProtocolError {
  const code =
    error.code === 'internal' || error.code === 'unavailable'
      ? ProtocolErrorCode.InternalError
      : ProtocolErrorCode.InvalidParams;
  const subject = uri?.slice(0, URI_LENGTH) ?? error.subject;
  return new ProtocolError(code, error.text, {
    ...(subject === undefined ? {} : { [(uri ?? subject).includes(':') ? 'uri' : 'name']: subject }),
    ...(error.suggestions.length === 0 ? {} : { suggestions: [...error.suggestions] }),
  });
}
