import * as z from 'zod';
import { badShape, jsonIn } from '../../base/parse/json.ts';
import { quoted } from '../../base/errors.ts';

/** A call as it came, looked at closely enough that the SDK can take it apart. */
export interface Spoken {
  version: '1.0' | '0.3';
  id: string | number | null;
  method: string;
  body: Record<string, unknown>;
}

/** Anything that is not a call, with the code that JSON-RPC and the protocol have for it. */
export interface Unspeakable {
  id: string | number | null;
  code: number;
  message: string;
}

const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;
const VERSION_NOT_SUPPORTED = -32_009;

const ID = 200;

const idText = z.string().max(ID).nullish();
const table = z.record(z.string(), z.unknown()).nullish();
const count = z.int().min(0).max(1_000_000).nullish();

/** Decoders skip anything that is not base64, and the bytes would differ from what was sent. */
const bytes = z.string().refine(isBase64, 'Not valid base64.').optional();

/** Of either alphabet, with the signs that fill the last four or without them. */
function isBase64(text: string): boolean {
  const [, filling] = /^[\w+/-]*(={0,2})$/.exec(text) ?? [];
  if (filling === undefined) return false;
  return filling === '' ? text.length % 4 !== 1 : text.length % 4 === 0;
}

/** Of several contents, the SDK takes one and says nothing about the others. */
function oneOf(names: readonly string[]): (value: Record<string, unknown>, context: z.RefinementCtx) => void {
  return (value, context) => {
    const given = names.filter((name) => value[name] !== undefined);
    if (given.length > 1)
      context.addIssue({
        code: 'custom',
        message: `A part must have exactly one content, not ${given.join(', ')}.`,
      });
  };
}

/** The fields of both versions; no name means two things. What is not here is not read. */
const partSchema = z
  .looseObject({
    kind: z.enum(['text', 'file', 'data']).optional(),
    text: z.string().optional(),
    raw: bytes,
    url: z.string().optional(),
    filename: z.string().nullish(),
    mediaType: z.string().nullish(),
    metadata: table,
    file: z
      .looseObject({
        bytes,
        uri: z.string().optional(),
        name: z.string().nullish(),
        mimeType: z.string().nullish(),
      })
      .superRefine(oneOf(['bytes', 'uri']))
      .optional(),
  })
  .superRefine(oneOf(['text', 'raw', 'url', 'data', 'file']));

const paramsSchema = z.looseObject({
  id: idText,
  tenant: idText,
  contextId: idText,
  historyLength: count,
  pageSize: count,
  pageToken: idText,
  status: z.union([z.string().max(ID), z.int()]).nullish(),
  statusTimestampAfter: z.iso.datetime({ offset: true }).nullish(),
  includeArtifacts: z.boolean().nullish(),
  metadata: table,
  message: z
    .looseObject({
      messageId: z.string().min(1).max(ID),
      contextId: idText,
      taskId: idText,
      role: z.union([z.string().max(ID), z.int()]).nullish(),
      parts: z.array(partSchema).min(1).max(200),
      metadata: table,
      extensions: z.array(z.string()).max(100).nullish(),
      referenceTaskIds: z.array(z.string()).max(100).nullish(),
    })
    .optional(),
  configuration: z
    .looseObject({
      historyLength: count,
      blocking: z.boolean().nullish(),
      returnImmediately: z.boolean().nullish(),
      acceptedOutputModes: z.array(z.string()).max(100).nullish(),
      pushNotificationConfig: table,
      taskPushNotificationConfig: table,
    })
    .nullish(),
});

const callSchema = z.looseObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(1_000), z.int()]).nullish(),
  method: z.string().min(1).max(ID),
  params: z.record(z.string(), z.unknown()).optional(),
});

const SENDING = /^(?:Send(?:Streaming)?Message|message\/(?:send|stream))$/;

/** Version 1.0 has names such as `SendMessage`, 0.3 such as `message/send`. */
const NEWER = /^[A-Z]/;

/** Reads a call. Who names no version speaks 0.3, says the protocol; a name of 1.0 says more than no version. */
export function spoken(sent: Uint8Array, asked: string | null): Spoken | Unspeakable {
  const shape = badShape(sent);
  if (shape !== undefined) return { id: null, code: INVALID_REQUEST, message: shape };
  const body = jsonIn(new TextDecoder().decode(sent));
  if (body === undefined) return { id: null, code: PARSE_ERROR, message: 'The body is not JSON.' };
  const batch = 'Batches are not supported. Send one call at a time.';
  if (Array.isArray(body)) return { id: null, code: INVALID_REQUEST, message: batch };
  const call = callSchema.safeParse(body);
  if (!call.success) return { id: null, code: INVALID_REQUEST, message: 'Not a JSON-RPC 2.0 call.' };
  const { id = null, method, params = {} } = call.data;
  const version = versionOf(asked, method);
  const message = `Version ${quoted(asked ?? '')} is not supported. Supported: 1.0, 0.3.`;
  if (version === undefined) return { id, code: VERSION_NOT_SUPPORTED, message };
  const problem = problemOf(params, method);
  if (problem !== undefined) return { id, code: INVALID_PARAMS, message: problem };
  return { version, id, method, body: { ...call.data, params } };
}

function problemOf(params: Record<string, unknown>, method: string): string | undefined {
  const read = paramsSchema.safeParse(params);
  if (!read.success) {
    const [issue] = read.error.issues;
    return `${issue?.path.map(String).join('.').slice(0, ID) ?? 'params'}: ${issue?.message.slice(0, ID) ?? 'wrong'}`;
  }
  if (SENDING.test(method) && read.data.message === undefined) return 'message is missing.';
  return undefined;
}

function versionOf(asked: string | null, method: string): Spoken['version'] | undefined {
  if (asked === null || asked.trim() === '') return NEWER.test(method) ? '1.0' : '0.3';
  return (['1.0', '0.3'] as const).find((one) => asked === one || asked.startsWith(`${one}.`));
}
