import { t } from '../base/text/message.ts';
import { attempt, orElse, ParseError } from '../base/errors.ts';
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

/** A string over several lines, in which a line may look like a header; or what may have its quotes in it. */
const QUOTING = /"""(?:\\[^]|[^\\])*?"""(?!")|'''[^]*?'''(?!')|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#.*/g;

/**
 * The table headers of a TOML text that has been parsed before: no parser tells where they are. A line that only looks like one
 * does no harm, since what has become of the file is read again.
 */
function tomlHeaders(text: string): { start: number; path: string[] }[] {
  const plain = text.replace(QUOTING, (part) =>
    /^(?:"""|''')/.test(part) ? part.replace(/[^\n]/g, ' ') : part,
  );
  return [...plain.matchAll(/^\uFEFF?([ \t]*\[.*)$/gm)].flatMap(({ 0: line, 1: header = '', index }) => {
    const path = attempt(() => pathIn(parseToml('', header)), orElse(undefined));
    return path === undefined ? [] : [{ start: index + line.length - header.length, path }];
  });
}

/** The keys that a header alone leads to. */
function pathIn(value: unknown): string[] {
  const [only] = isTable(value) ? Object.entries(value) : [];
  return only === undefined ? [] : [only[0], ...pathIn(only[1])];
}
