import { t } from '../base/text/message.ts';
import { ParseError } from '../base/errors.ts';
import { isTable, parseToml, type Table } from '../base/parse/parse.ts';
import { lineEnd, withGap, type Made, type Removal, type Spliced, type Target } from './entries.ts';

/** Puts an entry into a TOML text: a table at its end, where it can disturb nothing. */
export function spliceToml({ file, text, key, name }: Target, entry: Table): Spliced {
  const end = lineEnd(text);
  const holder = parseToml(file, text)[key];
  if (holder !== undefined && !isTable(holder))
    throw new ParseError(file, undefined, t`"${key}" is not a table`);
  const lines = tableLines([key, name], entry).join(end);
  const isEmpty = text === '' || text === '\uFEFF';
  // An empty line before it, as between other tables.
  const gap = isEmpty ? '' : /[\r\n]$/.test(text) ? (/(?:^|\n)\r?\n$/.test(text) ? '' : end) : end + end;
  return {
    insertions: [{ at: text.length, text: `${gap}${lines}${end}` }],
    made: { key: holder === undefined, gap },
  };
}

/** Takes an entry out of a TOML text: its table and those below it. */
export function cutToml({ file, text, key, name }: Target, made: Made | undefined): Removal[] {
  const holder = parseToml(file, text)[key];
  if (!isTable(holder) || !Object.hasOwn(holder, name)) return [];
  const headers = tomlHeaders(text);
  const isOwn = ({ path }: { path: readonly string[] }): boolean => path[0] === key && path[1] === name;
  const removals: Removal[] = [];
  for (const [index, header] of headers.entries()) {
    if (!isOwn(header)) continue;
    const limit = headers[index + 1]?.start ?? text.length;
    const to = header.start + ownLength(text.slice(header.start, limit));
    const before = headers[index - 1];
    const last = removals.at(-1);
    // Tables below it that follow at once go with what is between them.
    if (last !== undefined && before !== undefined && isOwn(before)) last.to = to;
    else removals.push({ from: header.start, to });
  }
  if (removals.length === 0)
    throw new ParseError(file, undefined, t`"${key}.${name}" is not written as a table`);
  return removals.map((removal) => withGap(text, removal, made ?? { key: false }));
}

/** Up to the end of the last line that says something: comments after it belong to the next table. */
function ownLength(text: string): number {
  let end = 0;
  let place = 0;
  for (const line of text.split(/(?<=\n)/)) {
    place += line.length;
    const content = line.trim();
    if (content !== '' && !content.startsWith('#')) end = place;
  }
  return end;
}

function tableLines(path: readonly string[], table: Table): string[] {
  const plain = Object.entries(table).filter(([, value]) => !isTable(value));
  const inner = Object.entries(table).filter((pair): pair is [string, Table] => isTable(pair[1]));
  return [
    `[${path.map(keyOf).join('.')}]`,
    ...plain.map(([key, value]) => `${keyOf(key)} = ${valueOf(value)}`),
    ...inner.flatMap(([key, value]) => ['', ...tableLines([...path, key], value)]),
  ];
}

function keyOf(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Texts, numbers, switches and lists of them are written as in JSON. */
function valueOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(valueOf).join(', ')}]`;
  return isTable(value)
    ? `{ ${Object.entries(value)
        .map(([key, inner]) => `${keyOf(key)} = ${valueOf(inner)}`)
        .join(', ')} }`
    : JSON.stringify(value);
}

interface TomlHeader {
  /** Where its line begins. */
  start: number;
  path: string[];
}

/**
 * The table headers of a TOML text that has been parsed before. No parser tells where they are; all that can hide one, or
 * look like one, is a string over several lines or a list over several lines.
 */
function tomlHeaders(text: string): TomlHeader[] {
  const headers: TomlHeader[] = [];
  let depth = 0;
  let lineStart = text.startsWith('\uFEFF') ? 1 : 0;
  let begins = true;
  for (let at = lineStart; at < text.length;) {
    const sign = text[at] ?? '';
    if (sign === '\n') {
      at += 1;
      lineStart = at;
      begins = true;
    } else if (sign === '#') at = lineEndAt(text, at);
    else if (sign === '"' || sign === "'") {
      at = stringEnd(text, at);
      begins = false;
    } else if (sign === '[' && begins && depth === 0) {
      const { path, end } = headerAt(text, at);
      headers.push({ start: lineStart, path });
      at = end;
      begins = false;
    } else {
      if (sign === '[' || sign === '{') depth += 1;
      if (sign === ']' || sign === '}') depth -= 1;
      if (!/\s/.test(sign)) begins = false;
      at += 1;
    }
  }
  return headers;
}

function lineEndAt(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** Where a string ends that begins here. */
function stringEnd(text: string, at: number): number {
  const quote = text[at] ?? '';
  const escapes = quote === '"';
  const long = text.startsWith(quote.repeat(3), at);
  const close = long ? quote.repeat(3) : quote;
  let end = at + close.length;
  // Two quotation marks may stand right before the three that close it.
  while (end < text.length && !text.startsWith(close, end)) end += escapes && text[end] === '\\' ? 2 : 1;
  end += close.length;
  if (long) while (text[end] === quote) end += 1;
  return Math.min(end, text.length);
}

function headerAt(text: string, at: number): { path: string[]; end: number } {
  const path: string[] = [];
  let place = at;
  while (text[place] === '[') place += 1;
  let part = '';
  for (; place < text.length && text[place] !== ']' && text[place] !== '\n'; place += 1) {
    const sign = text[place] ?? '';
    if (sign === '"' || sign === "'") {
      const end = stringEnd(text, place);
      const source = text.slice(place, end);
      part = sign === '"' ? (JSON.parse(source) as string) : source.slice(1, -1);
      place = end - 1;
    } else if (sign === '.') {
      path.push(part);
      part = '';
    } else if (!/\s/.test(sign)) part += sign;
  }
  path.push(part);
  return { path, end: lineEndAt(text, place) };
}
