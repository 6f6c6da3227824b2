import { ERROR_CODES, type BmadError, type ErrorCode } from '../../../base/errors.ts';
import { titleOf } from '../../../base/http/http-refusals.ts';

export const PROBLEM_TYPE = 'application/problem+json';

/** An error as RFC 9457 has it, with what a caller can do next. */
export function problemOf(
  error: BmadError,
  {
    status = ERROR_CODES[error.code].http,
    headers = {},
  }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  const { code, message, hint, subject, suggestions } = error;
  // For a refusal that has an HTTP status, the status alone says what it is (RFC 9457, 4.2.1).
  const own = status === ERROR_CODES[code].http;
  return Response.json(
    {
      type: own ? problemType(code) : 'about:blank',
      title: own ? ERROR_CODES[code].meaning : titleOf(status),
      status,
      detail: message,
      code,
      retry: ERROR_CODES[code].retry,
      ...(hint === undefined ? {} : { hint }),
      ...(subject === undefined ? {} : { subject }),
      ...(suggestions.length === 0 ? {} : { suggestions }),
    },
    { status, headers: { ...headers, 'content-type': PROBLEM_TYPE } },
  );
}

export function problemType(code: ErrorCode): string {
  return `urn:bmad:error:${code}`;
}
