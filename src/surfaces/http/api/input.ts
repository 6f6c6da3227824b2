import meanings from '../../../../assets/api/errors.json' with { type: 'json' };
import * as z from 'zod';
import { BmadError, ERROR_CODES, type ErrorCode } from '../../../base/errors.ts';
import { titleOf } from '../../../base/http/http-route.ts';
import { jsonIn } from '../../../base/parse/json.ts';
import type { AnyOperation } from '../../../operations/operation.ts';
import { present } from '../../../base/values.ts';

/** What was sent for an operation, before the operation's own schema checks it. */
type Sent = { input: Record<string, unknown> } | { status: number; error: BmadError };

/** No argument has a longer name; what does may be a token that someone has put into the address. */
const LONGEST_NAME = 24;

/** The values of a query; one that is given several times is a list. Numbers and switches are read by the checks. */
export function queryInput(url: string, { input }: Pick<AnyOperation, 'input'>): Sent {
  const { searchParams } = new URL(url);
  const names = [...new Set(searchParams.keys())];
  if (names.some((name) => name.length > LONGEST_NAME && !Object.hasOwn(input.shape, name)))
    return refused(
      400,
      'The query has an argument that does not exist.',
      `Arguments: ${Object.keys(input.shape).join(', ')}.`,
    );
  return {
    input: Object.fromEntries(
      names.map((name) => {
        const values = searchParams.getAll(name);
        return [name, values.length === 1 ? values[0] : values];
      }),
    ),
  };
}

/** The body of a request as an object; none at all is an empty one. */
export async function bodyInput(request: Request): Promise<Sent> {
  const text = await request.text();
  if (text.trim() === '') return { input: {} };
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json')
    return refused(415, 'The body must be JSON.', 'Send the header Content-Type: application/json.');
  const value = jsonIn(text);
  if (value === undefined)
    return refused(400, 'The body is not valid JSON.', 'Send one JSON object with the arguments.');
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return refused(400, 'The body is JSON, but not an object.', 'Send one JSON object with the arguments.');
  return { input: value as Record<string, unknown> };
}

function refused(status: number, message: string, hint: string): Sent {
  return { status, error: new BmadError('invalid_input', message, { hint }) };
}

const byQuery = new WeakMap<AnyOperation, boolean>();

/** Whether all its arguments fit into an address: it only reads, and takes plain values or lists of them. */
export function takesQuery(operation: AnyOperation): boolean {
  const known = byQuery.get(operation);
  if (known !== undefined) return known;
  const { properties = {} } = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' });
  const takes = operation.effect === 'read' && Object.values(properties).every(isPlain);
  byQuery.set(operation, takes);
  return takes;
}

type Schema = z.core.JSONSchema._JSONSchema;

function isPlain(schema: Schema): boolean {
  if (typeof schema === 'boolean') return false;
  if (schema.type === 'array') return !Array.isArray(schema.items) && isPlain(schema.items ?? false);
  return ['string', 'number', 'integer', 'boolean'].includes(String(schema.type));
}

export const PROBLEM_TYPE = 'application/problem+json';

/** Where the code does not say all. */
const OWN_STATUS: Readonly<Record<string, number>> = { reused: 422, quota: 429 };

/** An error as RFC 9457 has it, with what a caller can do next. */
export function problemOf(
  error: BmadError,
  {
    status = OWN_STATUS[error.reason ?? ''] ?? ERROR_CODES[error.code].http,
    headers = {},
  }: { status?: number; headers?: Record<string, string> } = {},
): Response {
  const { code, message, hint, subject, suggestions, seconds } = error;
  const wait = seconds === undefined ? {} : { 'retry-after': String(seconds) };
  // For a refusal that has an HTTP status, the status alone says what it is (RFC 9457, 4.2.1).
  const own = status === ERROR_CODES[code].http;
  return Response.json(
    {
      type: own ? problemType(code) : 'about:blank',
      title: own ? meanings[code] : titleOf(status),
      status,
      detail: message,
      code,
      retry: ERROR_CODES[code].retry,
      ...present({ hint, subject, suggestions: suggestions.length === 0 ? undefined : suggestions }),
    },
    { status, headers: { ...wait, ...headers, 'content-type': PROBLEM_TYPE } },
  );
}

export function problemType(code: ErrorCode): string {
  return `urn:bmad:error:${code}`;
}

/** Every operation is a route below this one. */
export const BASE = '/api';

/** Where the API is described. */
export const DOCUMENT = '/openapi.json';
