import { CsvError, parse as csvSync } from 'csv-parse/sync';
import { parse as tomlParse, stringify as tomlStringify, TomlError } from 'smol-toml';
import { stringify as yamlStringify } from 'yaml';
import { ParseError } from '../errors.ts';
import { t } from '../text/message.ts';
import { isTooDeep } from './json.ts';
import { composedYaml, firstLine, guarded, MOST_ALIASES, refuseTwins, withoutBom } from './yaml-document.ts';

/** A parsed table. Names come from files, so they are looked up with `Object.hasOwn`, never as properties. */
export type Table = Record<string, unknown>;

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

/** Whether a value says nothing, however deep: templates are full of such values. */
export const isEmpty = (value: unknown): boolean =>
  value === null ||
  value === undefined ||
  value === '' ||
  (Array.isArray(value) && value.length === 0) ||
  (isTable(value) && Object.values(value).every(isEmpty));

export function field(table: Table, name: string): unknown {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

/** A value that should be a table; anything else is an empty one. */
export function tableOf(value: unknown): Table {
  return isTable(value) ? value : {};
}

export function textField(table: Table, name: string): string | undefined {
  const value = field(table, name);
  return typeof value === 'string' ? value : undefined;
}

/** The value of a YAML text; of its first document, should it have several. */
export function parseYaml(file: string, text: string): unknown {
  const plain = plainTable(text);
  if (plain !== undefined) return plain;
  return guarded(file, () => {
    const { document, failAt } = composedYaml(file, withoutBom(text), 'refused');
    if (document !== undefined) refuseTwins(document, failAt);
    return shallow(file, document?.toJS({ maxAliasCount: MOST_ALIASES }) as unknown);
  });
}

/** A key, and a text that is nothing but itself: quoted without escapes, or words. */
const PLAIN_LINE =
  /^([A-Za-z][\w-]*): (?:"([ !#-[\]-~\u00A0-\uD7FF]*)"|'([ -&(-~\u00A0-\uD7FF]*)'|([A-Za-z][A-Za-z,.()/ -]*[A-Za-z.)]))$/;
/** Words that stand for something else. */
const OTHER_VALUE = /^(?:true|false|null)$/i;
const MOST_PLAIN_LINES = 20;

/** The table that most files begin with. The parser takes a hundred times as long; all but the plainest is left to it. */
function plainTable(text: string): Table | undefined {
  const lines = text.split('\n', MOST_PLAIN_LINES + 1);
  if (lines.length > MOST_PLAIN_LINES) return undefined;
  const table = new Map<string, string>();
  for (const line of lines) {
    if (line === '') continue;
    const [, key, double, single, words] = PLAIN_LINE.exec(line) ?? [];
    const value = double ?? single ?? words;
    if (key === undefined || value === undefined || table.has(key)) return undefined;
    if (OTHER_VALUE.test(key) || OTHER_VALUE.test(words ?? '')) return undefined;
    table.set(key, value);
  }
  return table.size === 0 ? undefined : Object.fromEntries(table);
}

/** TOML or YAML, as the name of the file says. */
export function parseConfig(file: string, text: string): unknown {
  return file.endsWith('.toml') ? parseToml(file, text) : parseYaml(file, text);
}

export function parseToml(file: string, text: string): Table {
  return guarded(file, () => {
    try {
      return shallow(file, tomlParse(withoutBom(text)));
    } catch (error) {
      if (error instanceof TomlError) throw new ParseError(file, error.line, firstLine(error.message));
      throw error;
    }
  });
}

/** No one writes as many. The parser makes an error, with a stack, of each row that is shorter than the first. */
const CSV_LINES = 50_000;

/** Rows as lists of cells, the header included. Ragged rows and quoted line breaks are preserved. */
export function parseCsv(file: string, text: string): string[][] {
  let line = 0;
  return guarded(file, () => {
    if (text.split(/\r\n?|\n/, CSV_LINES + 2).length > CSV_LINES + 1)
      throw new ParseError(file, undefined, t`too long: more than ${CSV_LINES} lines`);
    try {
      return csvSync(text, {
        bom: true,
        record_delimiter: ['\r\n', '\n', '\r'],
        relax_column_count: true,
        relax_quotes: true,
        skip_empty_lines: true,
        on_record(record: string[], { lines }) {
          line = lines;
          return record;
        },
      });
    } catch (error) {
      // The parser names the line where it gave up; the row that is wrong begins after the last good one.
      if (error instanceof CsvError)
        throw new ParseError(file, line + 1, error.message.split(':', 1)[0] ?? '');
      throw error;
    }
  });
}

/** A row of a CSV text with a header: its cells by the names of their columns, whose case does not count. */
export interface CsvRow {
  cell: (column: string) => string;
}

export function csvRows(file: string, text: string): CsvRow[] {
  const [header = [], ...rows] = parseCsv(file, text);
  const columns = header.map((name) => name.trim().toLowerCase());
  // By name: to look through many columns for each of many rows would take minutes.
  const places = new Map(columns.map((name, place) => [name, place] as const).toReversed());
  return rows.map((cells) => ({ cell: (column) => cells[places.get(column.toLowerCase()) ?? -1] ?? '' }));
}

/** Of the rows of a long file those that may have a text in them, without parsing the others. */
export function csvRowsWith(file: string, text: string, part: string): CsvRow[] {
  const lines = [text.slice(0, Math.max(0, text.indexOf('\n')))];
  let [isQuoted, counted] = [false, 0];
  for (let at = text.indexOf(part); at !== -1;) {
    const start = text.lastIndexOf('\n', at) + 1;
    const end = text.indexOf('\n', at);
    const line = text.slice(start, end === -1 ? text.length : end);
    isQuoted = isQuoted !== hasOddQuotes(text, counted, start);
    counted = start;
    // A row of several lines, or a line in the midst of one.
    if (isQuoted || hasOddQuotes(line, 0, line.length)) return csvRows(file, text);
    lines.push(line);
    at = end === -1 ? -1 : text.indexOf(part, end);
  }
  return csvRows(file, lines.join('\n'));
}

function hasOddQuotes(text: string, start: number, end: number): boolean {
  let odd = false;
  for (let at = start; at < end; at += 1) if (text.charCodeAt(at) === 34) odd = !odd;
  return odd;
}

export interface FrontMatter {
  data: Table;
  /** The text after the front matter. */
  body: string;
}

/** The YAML block at the top of a Markdown file; an empty table when there is none. */
export function parseFrontMatter(file: string, text: string): FrontMatter {
  const clean = withoutBom(text);
  const open = /^---[ \t]*\r?\n/.exec(clean);
  if (open === null) return { data: {}, body: clean };
  const close = /^---[ \t]*(?:\r?\n|$)/m;
  const rest = clean.slice(open[0].length);
  const end = close.exec(rest);
  if (end === null) return { data: {}, body: clean };
  // The opening line is kept as an empty one, so that errors name the line of the file.
  const data = parseYaml(file, `\n${rest.slice(0, end.index)}`);
  return { data: isTable(data) ? data : {}, body: rest.slice(end.index + end[0].length) };
}

export function formatToml(table: Table): string {
  return tomlStringify(table);
}

export function formatYaml(value: unknown): string {
  return yamlStringify(value, { lineWidth: 0 });
}

/** A text as one value of a line of YAML, in single quotation marks where it needs any. */
export function yamlText(text: string): string {
  return yamlStringify(text.replace(/\s+/g, ' ').trim(), { lineWidth: 0, singleQuote: true }).trimEnd();
}

export function formatCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(',') || '""'}\n`).join('');
}

function csvCell(text: string): string {
  return /[",\r\n\uFEFF]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function shallow<T>(file: string, value: T): T {
  if (isTooDeep(value)) throw new ParseError(file, undefined, t`nested too deeply`);
  return value;
}
