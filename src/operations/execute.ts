import type * as z from 'zod';
import { BmadError, quoted } from '../base/errors.ts';
import { nearest } from '../base/suggest.ts';
import type { Call, Context } from './context.ts';
import type { AnyOperation, Answer } from './operation.ts';
import { shaped } from './shaped.ts';

export type Outcome =
  | { ok: true; data: Record<string, unknown>; answer: Answer; failed: boolean }
  | { ok: false; error: BmadError };

/** The only door to an operation: checks the input, runs it, checks the output, hides secrets, logs. Never throws. */
export async function execute(
  operation: AnyOperation,
  raw: unknown,
  context: Context,
  call: Call,
): Promise<Outcome> {
  const started = performance.now();
  try {
    call.signal.throwIfAborted();
    refuseWrites(operation, context);
    refusePrograms(operation, context, call);
    const input = checkedInput(operation, raw);
    const data = operation.output.parse(await operation.run(input, context, call));
    call.signal.throwIfAborted();
    const answer = shaped(operation.render(data), operation.answeredBy?.(data) ?? operation, input, context);
    context.log.debug('operation', { name: operation.name, ms: elapsed(started) });
    return {
      ok: true,
      data: context.secrets.hideIn(data) as Table,
      answer: redacted(answer, context),
      failed: operation.failed?.(data) ?? false,
    };
  } catch (thrown) {
    // Once the caller has left, whatever went wrong is a consequence of that.
    const reason = call.signal.aborted ? new BmadError('cancelled', 'The call was cancelled.') : thrown;
    const error = BmadError.from(reason, (id, original) =>
      context.log.error('incident', {
        id,
        name: operation.name,
        error: original instanceof Error ? (original.stack ?? original.message) : String(original),
      }),
    );
    context.log.debug('operation failed', { name: operation.name, code: error.code, ms: elapsed(started) });
    return { ok: false, error: error.map((text) => context.secrets.redact(text)) };
  }
}

/** The way from one operation to another: what holds for a caller holds for an operation that calls. */
export async function handOver(
  operation: AnyOperation,
  args: Record<string, unknown>,
  spoken: Readonly<Record<string, string>>,
  context: Context,
  call: Call,
): Promise<Record<string, unknown>> {
  refuseWrites(operation, context);
  refusePrograms(operation, context, call);
  // What an operation gives is checked against its schema by the tests; once more here would only cost time.
  return operation.run(checkedInput(operation, args, spoken), context, call);
}

function refuseWrites({ name, effect }: AnyOperation, { config, configFrom, settingKeys }: Context): void {
  if (!config.readOnly || effect === 'read') return;
  const setting = settingKeys['readOnly'] ?? 'readOnly';
  throw new BmadError('forbidden', `${name} writes, and the server only reads.`, {
    hint: `${setting} is switched on (${configFrom.readOnly}).`,
  });
}

/** Whether somebody may be offered it at all: whoever reaches the port is not asked who they are. */
export function mayRunPrograms({ runsPrograms }: AnyOperation, { config }: Context, call: Call): boolean {
  return runsPrograms !== true || call.overHttp !== true || config.contractsOverHttp;
}

function refusePrograms(operation: AnyOperation, context: Context, call: Call): void {
  if (mayRunPrograms(operation, context, call)) return;
  const setting = context.settingKeys['contractsOverHttp'] ?? 'contractsOverHttp';
  throw new BmadError('forbidden', `${operation.name} runs programs, and over HTTP that is not allowed.`, {
    hint: `Use it over stdin or the command line, or have the owner of the server switch ${setting} on (${context.configFrom.contractsOverHttp}).`,
  });
}

/**
 * Also for an operation that hands over to another: its arguments are checked in the same words. `spoken` has the
 * names a caller knows the arguments by, where they differ from the operation's own.
 */
function checkedInput(
  operation: AnyOperation,
  raw: unknown,
  spoken: Readonly<Record<string, string>> = {},
): Record<string, unknown> {
  return checkedValue(operation.name, operation.input, underOwnNames(operation, raw ?? {}), spoken);
}

function underOwnNames({ synonyms }: AnyOperation, raw: unknown): unknown {
  if (synonyms === undefined || typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const given: Readonly<Record<string, string>> = synonyms;
  return Object.fromEntries(
    Object.entries(raw).map(([key, value]) => {
      const own = Object.hasOwn(given, key) ? given[key] : undefined;
      return [own === undefined || own in raw ? key : own, value];
    }),
  );
}

const KEYS_NAMED = 5;

/** Checks anything a caller sent. The error names the argument and the value that was wrong. */
export function checkedValue<S extends z.ZodObject>(
  subject: string,
  schema: S,
  raw: unknown,
  spoken: Readonly<Record<string, string>> = {},
): z.output<S> {
  const parsed = schema.safeParse(withoutEmpty(schema, raw));
  if (parsed.success) return parsed.data;
  const known = Object.keys(schema.shape).map((key) => spoken[key] ?? key);
  const [issue] = parsed.error.issues;
  const [first = '', ...inner] = issue?.path.map(String) ?? [];
  const path = [spoken[first] ?? first, ...inner].join('.');
  throw new BmadError('invalid_input', `${subject}: ${complaint(issue, path, raw)}`, {
    ...(path === '' ? {} : { subject: path.slice(0, 100) }),
    ...(issue?.code === 'invalid_value'
      ? { suggestions: nearValues(issue.values, valueAt(issue, raw)) }
      : {}),
    hint: `Arguments: ${known.join(', ')}.`,
  });
}

/** Many models fill in every argument they know of; an optional one that is empty was not given. */
function withoutEmpty(schema: z.ZodObject, raw: unknown): unknown {
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) return raw;
  const optional = (key: string): boolean => schema.shape[key]?.safeParse(undefined).success === true;
  return Object.fromEntries(
    Object.entries(raw).filter(([key, value]) => !((value === null || value === '') && optional(key))),
  );
}

function complaint(issue: z.core.$ZodIssue | undefined, path: string, raw: unknown): string {
  const reason = issue?.message.slice(0, 300) ?? '';
  if (issue?.code === 'unrecognized_keys') {
    const keys = issue.keys.slice(0, KEYS_NAMED).map((key) => quoted(key));
    const more = issue.keys.length > KEYS_NAMED ? ` and ${issue.keys.length - KEYS_NAMED} more` : '';
    return `there is no argument ${keys.join(', ')}${more}.`;
  }
  if (path === '') return `the arguments are not valid. ${reason}`;
  const value = issue === undefined ? undefined : valueAt(issue, raw);
  return value === undefined
    ? `${quoted(path)} is missing.`
    : `${quoted(path)} is not valid: ${shown(value)}. ${reason}`;
}

type Table = Partial<Record<PropertyKey, unknown>>;

function valueAt(issue: z.core.$ZodIssue, raw: unknown): unknown {
  return issue.path.reduce<unknown>((outer, key) => (outer as Table | undefined)?.[key], raw);
}

function nearValues(allowed: readonly unknown[], value: unknown): string[] {
  return typeof value === 'string' ? nearest(value, allowed.map(String), 1) : [];
}

/** A value in few words: what is in a list or an object would not help. */
function shown(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' && value !== null ? 'an object' : String(value);
}

function redacted(answer: Answer, { secrets }: Context): Answer {
  const { body, note, exact } = answer;
  return {
    ...answer,
    body: exact === true ? secrets.hide(body) : secrets.redact(body),
    ...(note === undefined ? {} : { note: secrets.redact(note) }),
  };
}

function elapsed(started: number): number {
  return Math.round((performance.now() - started) * 10) / 10;
}
