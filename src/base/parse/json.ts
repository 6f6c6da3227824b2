import { isObject } from '../values.ts';
import { t } from '../text/message.ts';

/** The value of a JSON text, byte order mark or not; nothing when it is not one, or nested too deeply to work with. */
export function jsonIn(text: string): unknown {
  const value = anyJson(text);
  return isTooDeep(value) ? undefined : value;
}

/** The same however deep it is: for messages, whose sender is told what is wrong with them. */
export function anyJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

/** The same for a text that should be an object; any other value is nothing. */
export function jsonObject(text: string): Record<string, unknown> | undefined {
  // Most lines of a file that is something else can be told from their first character; an exception takes much longer.
  if (!/^[\uFEFF\s]*\{/.test(text)) return undefined;
  const value = jsonIn(text);
  return isObject(value) ? value : undefined;
}

/** Far more than people write, and far less than what overflows the stack of whatever walks through a value. */
export const NESTING_LIMIT = 200;

/**
 * Whether a parsed value is nested too deeply, or contains itself. Parsers take what the code after them cannot: a key
 * of forty thousand parts in TOML, a YAML list in itself.
 */
export function isTooDeep(value: unknown, levels = NESTING_LIMIT): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
  return inner.some((each) => isTooDeep(each, levels - 1));
}

/** Nesting depth; what people and programs send stays far below it. */
export const DEEPEST = 64;
/** Messages in one list. */
export const MOST_MESSAGES = 100;

/** Names in one object: no operation has a hundredth of them, and checking each takes long. */
export const MOST_NAMES = 5_000;

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const ESCAPE = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * What is wrong with the shape of a JSON text; undefined if it may be parsed. It is scanned as bytes, before a parser
 * or a check that visits every level can be made to work for seconds.
 */
export function badShape(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let messages = 1;
  let isList = false;
  /** How many names the object of each depth has had so far; a list has none. */
  const names: number[] = [];
  for (let index = 0; index < bytes.length; index += 1) {
    const byte = bytes[index];
    if (byte === QUOTE) index = endOfString(bytes, index);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      if (depth === 0) isList = byte === OPEN_LIST;
      depth += 1;
      names[depth] = 0;
      if (depth > DEEPEST) return t`A message may be nested at most ${DEEPEST} levels deep.`;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) depth -= 1;
    else if (byte === COLON) {
      names[depth] = (names[depth] ?? 0) + 1;
      if ((names[depth] ?? 0) > MOST_NAMES) return t`An object may have at most ${MOST_NAMES} names.`;
    } else if (byte === COMMA && depth === 1 && isList) {
      messages += 1;
      if (messages > MOST_MESSAGES) return t`A batch may contain at most ${MOST_MESSAGES} messages.`;
    }
  }
  return undefined;
}

function endOfString(bytes: Uint8Array, start: number): number {
  let index = start + 1;
  while (index < bytes.length && bytes[index] !== QUOTE) index += bytes[index] === ESCAPE ? 2 : 1;
  return index;
}
