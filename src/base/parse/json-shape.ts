import { t } from '../text/message.ts';
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
