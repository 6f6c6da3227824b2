const KEY = /\s*(?:(\w+)|"((?:[^"\\]|\\.)*)")\s*:/y;
const SCALAR = /\s*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:e[+-]?\d+)?|true|false|null)/y;

type Read<T> = { value: T; end: number };

/** Reads an object as steps are printed, JSON whose keys need no quotation marks, from this place of a text. */
export function relaxedObject(text: string, start: number): Read<Record<string, unknown>> {
  const value: Record<string, unknown> = {};
  let at = after('{', text, start);
  if (next(text, at) === '}') return { value, end: after('}', text, at) };
  for (;;) {
    KEY.lastIndex = at;
    const key = KEY.exec(text);
    if (key === null) throw broken(text, start);
    const read = relaxedValue(text, KEY.lastIndex);
    value[key[1] ?? (JSON.parse(`"${key[2] ?? ''}"`) as string)] = read.value;
    at = read.end;
    if (next(text, at) === '}') return { value, end: after('}', text, at) };
    at = after(',', text, at);
  }
}

function relaxedValue(text: string, start: number): Read<unknown> {
  if (next(text, start) === '{') return relaxedObject(text, start);
  if (next(text, start) === '[') return relaxedList(text, start);
  SCALAR.lastIndex = start;
  const scalar = SCALAR.exec(text)?.[1];
  if (scalar === undefined) throw broken(text, start);
  return { value: JSON.parse(scalar), end: SCALAR.lastIndex };
}

function relaxedList(text: string, start: number): Read<unknown[]> {
  const value: unknown[] = [];
  let at = after('[', text, start);
  while (next(text, at) !== ']') {
    if (value.length > 0) at = after(',', text, at);
    const read = relaxedValue(text, at);
    value.push(read.value);
    at = read.end;
  }
  return { value, end: after(']', text, at) };
}

const next = (text: string, at: number): string | undefined => /\S/.exec(text.slice(at, at + 50))?.[0];

function after(sign: string, text: string, at: number): number {
  const found = text.indexOf(sign, at);
  if (found === -1 || text.slice(at, found).trim() !== '') throw broken(text, at);
  return found + 1;
}

function broken(text: string, at: number): Error {
  return new Error(
    `This cannot be read as a call: ${JSON.stringify(text.slice(Math.max(0, at - 60), at + 120))}`,
  );
}
