import {
  type AuthInfo,
  CLIENT_INFO_META_KEY,
  ProtocolError,
  ProtocolErrorCode,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { BmadError } from '../../base/errors.ts';
import type { Caller } from '../../base/http/http-route.ts';
import type { Call } from '../../operations/context.ts';
import type { CallOutcome } from '../../operations/execute.ts';
import { checkedValue } from '../../operations/input.ts';
import { broughtBy } from '../../operations/observed.ts';

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

export const pageParams = z.looseObject({ cursor: z.string().optional() });
export const promptParams = z.looseObject({
  name: z.string(),
  arguments: z.record(z.string(), z.string()).optional(),
});
export const readParams = z.looseObject({ uri: z.string() });
export const folderParams = z.looseObject({ uri: z.string(), cursor: z.string().optional() });
export const completeParams = z.looseObject({
  ref: z.discriminatedUnion('type', [
    z.object({ type: z.literal('ref/prompt'), name: z.string() }),
    z.object({ type: z.literal('ref/resource'), uri: z.string() }),
  ]),
  argument: z.object({ name: z.string(), value: z.string() }),
});
export type CompleteParams = z.output<typeof completeParams>;

const ANYTHING = z.looseObject({});

/**
 * Answers a method whose parameters are checked here: the SDK's own check would report a caller's mistake as an
 * internal error, in as many words as there are mistakes.
 */
export function answer<S extends z.ZodObject>(
  server: Server,
  method: string,
  schema: S,
  handle: (params: z.output<S>, sdk: ServerContext) => Result | Promise<Result>,
): void {
  server.setRequestHandler(method, { params: ANYTHING }, async (raw, sdk) => {
    let params: z.output<S>;
    try {
      params = checkedValue(method, schema, raw);
    } catch (error) {
      throw error instanceof BmadError ? protocolError(error) : error;
    }
    return handle(params, sdk);
  });
}

/** A caller in the words of the SDK, which hands it to every call. The token itself stays with the front door. */
export function authInfoOf(caller: Caller): AuthInfo {
  const { known, subject = '' } = caller;
  return { token: '', clientId: `${known} ${subject}`, scopes: [], extra: { caller } };
}

/** The same in ours. Nobody is a person by what agents call with. */
export function callerIn(info: AuthInfo | undefined): Partial<Call> {
  const caller = info?.extra?.['caller'] as Caller | undefined;
  return caller === undefined ? { overHttp: true } : { ...broughtBy(caller), person: false };
}

const LONGEST = 60;

interface Said {
  params?: { clientInfo?: unknown; _meta?: Readonly<Record<string, unknown>> | undefined } | undefined;
}

/** What a client calls itself, such as `claude-code 2.1.0`: in a message, or when it came. */
export function clientIn(message: unknown, server?: Server): string | undefined {
  const { params } = (message ?? {}) as Said;
  const info = params?._meta?.[CLIENT_INFO_META_KEY] ?? params?.clientInfo ?? server?.getClientVersion();
  const { name, version } = (info ?? {}) as { name?: unknown; version?: unknown };
  if (typeof name !== 'string' || name === '') return undefined;
  return [name, version]
    .flatMap((part) => (typeof part === 'string' ? part.slice(0, LONGEST) : []))
    .join(' ');
}
