import { ERROR_CODES, type BmadError, type ErrorCode } from '../../../base/errors.ts';

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
  return Response.json(
    {
      type: problemType(code),
      title: ERROR_CODES[code].meaning,
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
