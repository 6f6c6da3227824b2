import { isObject } from '../base/values.ts';
import { say, t } from '../base/text/message.ts';
import * as z from 'zod';
import { jsonIn } from '../base/parse/json.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { nearest } from '../base/text/suggest.ts';
import type { AnyOperation } from './operation.ts';

/** What a caller calls an operation and its arguments, where it has other names for them. */
export interface SpokenNames {
  name?: string | undefined;
  args?: Readonly<Record<string, string>> | undefined;
}

/** Also for an operation that hands over to another: its arguments are checked in the same words. */
export function checkedInput(
  operation: AnyOperation,
  raw: unknown,
  { name = operation.name, args }: SpokenNames = {},
): Record<string, unknown> {
  const given = raw ?? {};
  const text = isObject(given) ? flatText(given) : undefined;
  const known = text === undefined ? undefined : checked.get(operation)?.get(text);
  if (known !== undefined) return { ...known };
  if (isObject(given)) refuseMany(name, operation, given);
  const input = checkedValue(name, operation.input, underOwnNames(operation, given), args);
  if (text !== undefined) keepChecked(operation, text, input);
  return { ...input };
}

/** Models call the same again and again: what was right once is, as long as nothing in it can be changed by others. */
const checked = new WeakMap<AnyOperation, Map<string, Record<string, unknown>>>();
const MOST_CHECKED = 32;
const LONGEST_CHECKED = 1_000;

function keepChecked(operation: AnyOperation, text: string, input: Record<string, unknown>): void {
  if (!Object.values(input).every(isPlain)) return;
  const kept = checked.get(operation) ?? new Map<string, Record<string, unknown>>();
  checked.set(operation, kept);
  if (kept.size >= MOST_CHECKED) kept.clear();
  kept.set(text, input);
}

/** An input in which there are only plain values, written down; nothing for any other. */
function flatText(given: Record<string, unknown>): string | undefined {
  for (const key in given) if (!isPlain(given[key])) return undefined;
  return JSON.stringify(given);
}

/** Short, and written down as it is. */
const isPlain = (value: unknown): boolean =>
  typeof value === 'string'
    ? value.length <= LONGEST_CHECKED
    : Number.isFinite(value) || typeof value === 'boolean';

/** Checking each of hundreds of thousands of names would hold up all other callers. */
const MOST_NAMES = 1_000;

function refuseMany(subject: string, { input }: AnyOperation, given: Record<string, unknown>): void {
  const names = Object.keys(given);
  if (names.length <= MOST_NAMES) return;
  const keys = names.filter((key) => !Object.hasOwn(input.shape, key));
  throw new BmadError('invalid_input', `${subject}: ${noSuch(keys)}`, {
    reason: 'arguments',
    hint: t`Arguments: ${Object.keys(input.shape).join(', ')}.`,
  });
}

/** Operations say one or the other; callers cannot know which. */
const EVERYWHERE = { agent: 'agent_id', agent_id: 'agent' };

/** Callers use other names, and forget to put arguments where they belong. */
function underOwnNames({ synonyms, gathers, input }: AnyOperation, raw: unknown): unknown {
  if (!isObject(raw)) return raw;
  const isOwn = (key: string): boolean => Object.hasOwn(input.shape, key);
  const given: Readonly<Record<string, string>> = { ...EVERYWHERE, ...synonyms };
  const named = Object.entries(raw).map(([key, value]) => {
    const own = !isOwn(key) && Object.hasOwn(given, key) ? given[key] : undefined;
    return [own === undefined || !isOwn(own) || own in raw ? key : own, value] as const;
  });
  if (gathers === undefined) return Object.fromEntries(named);
  const stray = named.filter(([key]) => !isOwn(key));
  if (stray.length === 0) return Object.fromEntries(named);
  const inner = asMeant(input.shape[gathers], raw[gathers] ?? {});
  return {
    ...Object.fromEntries(named.filter(([key]) => isOwn(key))),
    [gathers]: isObject(inner) ? { ...Object.fromEntries(stray), ...inner } : inner,
  };
}

/**
 * A value as it was meant: many models write numbers, switches, lists and objects as text. It is read as something else
 * only where it cannot be what it is, and stays as it is where that does not help.
 */
function asMeant(schema: z.core.$ZodType | undefined, value: unknown): unknown {
  if (schema === undefined || typeof value !== 'string') return value;
  const tried = z.safeParse(schema, value);
  if (tried.success) return value;
  const text = value.trim();
  const readings: unknown[] = [];
  if (/^-?\d{1,15}(?:\.\d{1,10})?$/.test(text)) readings.push(Number(text));
  if (/^(?:true|false)$/i.test(text)) readings.push(text.toLowerCase() === 'true');
  if (/^[[{]/.test(text)) readings.push(jsonIn(text));
  readings.push([text], ...tried.error.issues.map((issue) => choiceMeant(issue, text)));
  const fits = readings.find((reading) => reading !== undefined && z.safeParse(schema, reading).success);
  if (fits !== undefined) return fits;
  // A number that is too large is a number: it is refused for its size.
  const [number] = readings;
  return typeof number === 'number' && isNearly(schema, number) ? number : value;
}

/** Whether nothing but the size of a number is wrong. */
function isNearly(schema: z.core.$ZodType, number: number): boolean {
  const { error } = z.safeParse(schema, number);
  return (
    error?.issues.every(
      (issue) =>
        ['too_big', 'too_small', 'not_multiple_of'].includes(issue.code) ||
        (issue.code === 'invalid_type' && issue.expected === 'int'),
    ) === true
  );
}

/** The one choice that is the same word: `decision` for `decisions`, `learning` for `agent-learnings`. */
function choiceMeant(issue: z.core.$ZodIssue, text: string): string | undefined {
  if (issue.code !== 'invalid_value' || text.length > 100) return undefined;
  const word = singular(text);
  const choices = issue.values.filter((choice) => typeof choice === 'string');
  const [same, other] = choices.filter((choice) => singular(choice) === word);
  if (same !== undefined) return other === undefined ? same : undefined;
  const [ending, another] = choices.filter((choice) => singular(choice).endsWith(`-${word}`));
  return another === undefined ? ending : undefined;
}

function singular(word: string): string {
  return word.toLowerCase().replaceAll(/[_ ]/g, '-').replace(/ies$/, 'y').replace(/s$/, '');
}

const KEYS_NAMED = 5;

/** Checks anything a caller sent. The error names the argument and the value that was wrong. */
export function checkedValue<S extends z.ZodObject>(
  subject: string,
  schema: S,
  raw: unknown,
  spoken: Readonly<Record<string, string>> = {},
): z.output<S> {
  const given = withoutEmpty(schema, raw);
  // Most callers write everything as it should be, and then nothing has to be looked at twice.
  const asGiven = schema.safeParse(given);
  if (asGiven.success) return asGiven.data;
  const meant = readable(schema, given);
  const parsed = schema.safeParse(meant);
  if (parsed.success) return parsed.data;
  const known = Object.keys(schema.shape).map((key) => spoken[key] ?? key);
  const issues = parsed.error.issues.slice(0, KEYS_NAMED);
  const [issue] = issues;
  const paths = issues.map(({ path: [first = '', ...inner] }) =>
    [spoken[String(first)] ?? first, ...inner].map(String).join('.'),
  );
  const [path = ''] = paths;
  // All at once: whoever learns of one at a time has to call as often.
  const told = issues
    .map((one, at) =>
      complaint(one, paths[at] ?? '', isObject(raw) && isObject(meant) ? { ...raw, ...meant } : raw),
    )
    .map((text, at) => (at === 0 ? text : text.charAt(0).toUpperCase() + text.slice(1)))
    .join(' ');
  throw new BmadError('invalid_input', `${subject}: ${told}`, {
    reason: 'arguments',
    ...(path === '' ? {} : { subject: path.slice(0, 100) }),
    ...(issue?.code === 'invalid_value'
      ? { suggestions: nearValues(issue.values, valueAt(issue, raw)) }
      : {}),
    hint: [t`Arguments: ${known.join(', ')}.`, ...required(schema, raw, spoken)].join(' '),
  });
}

/** What has to be given, where something of it is missing: one error is enough to learn it. */
function required(schema: z.ZodObject, raw: unknown, spoken: Readonly<Record<string, string>>): string[] {
  const needed = Object.keys(schema.shape).filter(
    (key) => schema.shape[key]?.safeParse(undefined).success !== true,
  );
  const isMissing = needed.some((key) => isObject(raw) && raw[key] === undefined);
  return isMissing && needed.length > 1
    ? [t`Required: ${needed.map((key) => spoken[key] ?? key).join(', ')}.`]
    : [];
}

/** Many models fill in every argument they know of; an optional one that is empty was not given. */
function withoutEmpty(schema: z.ZodObject, raw: unknown): unknown {
  if (!isObject(raw)) return raw;
  const optional = (key: string): boolean => schema.shape[key]?.safeParse(undefined).success === true;
  return Object.fromEntries(
    Object.entries(raw).filter(([key, value]) => !((value === null || value === '') && optional(key))),
  );
}

function readable(schema: z.ZodObject, given: unknown): unknown {
  if (!isObject(given)) return given;
  return Object.fromEntries(
    Object.entries(given).map(([key, value]) => [key, asMeant(schema.shape[key], value)]),
  );
}

function complaint(issue: z.core.$ZodIssue | undefined, path: string, raw: unknown): string {
  if (issue?.code === 'unrecognized_keys') {
    return noSuch(issue.keys);
  }
  if (issue === undefined || path === '') return t`the arguments must be an object, not ${valueText(raw)}.`;
  const value = valueAt(issue, raw);
  if (value === undefined)
    return issue.code === 'invalid_value'
      ? t`${quoted(path)} is missing: one of ${issue.values.join(', ')}.`
      : t`${quoted(path)} is missing.`;
  const rule = ruleOf(issue, value);
  return rule === undefined
    ? t`${quoted(path)} is not valid: ${valueText(value)}.${isOwnText(issue) ? ` ${issue.message}` : ''}`
    : t`${quoted(path)} must ${rule}.`;
}

function noSuch(keys: readonly string[]): string {
  const named = keys.slice(0, KEYS_NAMED).map((key) => quoted(key));
  const more = keys.length > KEYS_NAMED ? t` and ${keys.length - KEYS_NAMED} more` : '';
  return t`there is no argument ${named.join(', ')}${more}.`;
}

/** A schema may say itself what it expects; all other texts are those of the library. */
function isOwnText({ message }: z.core.$ZodIssue): boolean {
  return !/^(?:Invalid|Too |Unrecognized)/.test(message);
}

const TYPES: Partial<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What a value has to be, in words that follow "must"; nothing where the schema has its own. */
function ruleOf(issue: z.core.$ZodIssue, value: unknown): string | undefined {
  if (isOwnText(issue)) return undefined;
  if (issue.code === 'invalid_type')
    return t`be ${say(TYPES[issue.expected] ?? issue.expected)}, not ${valueText(value)}`;
  if (issue.code === 'invalid_value') {
    const allowed = issue.values.map(String);
    return allowed.length === 1
      ? t`be ${allowed[0]}, not ${valueText(value)}`
      : t`be one of ${allowed.join(', ')}, not ${valueText(value)}`;
  }
  if (issue.code === 'too_small')
    return sizeOf(value) === 0 ? t`not be empty` : atLeast(issue.minimum, value);
  return issue.code === 'too_big' ? atMost(issue.maximum, value) : undefined;
}

function atLeast(limit: number | bigint, value: unknown): string {
  const size = sizeOf(value);
  if (size === undefined) return t`be at least ${limit}, not ${valueText(value)}`;
  return typeof value === 'string'
    ? t`have at least ${limit} characters, not ${size}`
    : t`have at least ${limit} entries, not ${size}`;
}

function atMost(limit: number | bigint, value: unknown): string {
  const size = sizeOf(value);
  if (size === undefined) return t`be at most ${limit}, not ${valueText(value)}`;
  return typeof value === 'string'
    ? t`have at most ${limit} characters, not ${size}`
    : t`have at most ${limit} entries, not ${size}`;
}

/** How long a text or a list is. */
function sizeOf(value: unknown): number | undefined {
  if (typeof value === 'string') return value.trim().length;
  return Array.isArray(value) ? value.length : undefined;
}

type Table = Partial<Record<PropertyKey, unknown>>;

function valueAt(issue: z.core.$ZodIssue, raw: unknown): unknown {
  return issue.path.reduce<unknown>((outer, key) => (outer as Table | undefined)?.[key], raw);
}

function nearValues(allowed: readonly unknown[], value: unknown): string[] {
  return typeof value === 'string' ? nearest(value, allowed.map(String), 1) : [];
}

/** A value in few words: what is in a list or an object would not help. */
function valueText(value: unknown): string {
  if (typeof value === 'string') return quoted(value);
  if (Array.isArray(value)) return t`a list`;
  return typeof value === 'object' && value !== null ? t`an object` : String(value);
}
