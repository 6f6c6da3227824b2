import { parse as csvSync } from 'csv-parse/sync';
import { parse as tomlParse, stringify as tomlStringify, TomlError } from 'smol-toml';
import { parseDocument, stringify as yamlStringify } from 'yaml';

/** Text that could not be understood, with the place where it went wrong. */
export class ParseError extends Error {
  override readonly name = 'ParseError';
  readonly file: string;
  readonly line: number | undefined;

  constructor(file: string, line: number | undefined, reason: string) {
    super(`${file}${line === undefined ? '' : `:${line}`}: ${reason}`);
    this.file = file;
    this.line = line;
  }
}

/** A parsed table. Names come from files, so they are looked up with `Object.hasOwn`, never as properties. */
export type Table = Record<string, unknown>;

export function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

export function field(table: Table, name: string): unknown {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}

export function textField(table: Table, name: string): string | undefined {
  const value = field(table, name);
  return typeof value === 'string' ? value : undefined;
}

export function parseYaml(file: string, text: string): unknown {
  return guarded(file, () => {
    const document = parseDocument(withoutBom(text), { logLevel: 'silent', prettyErrors: false });
    const error = document.errors[0];
    if (error !== undefined) throw new ParseError(file, lineAt(text, error.pos[0]), firstLine(error.message));
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  });
}

export function parseToml(file: string, text: string): Table {
  return guarded(file, () => {
    try {
      return tomlParse(withoutBom(text));
    } catch (error) {
      if (error instanceof TomlError) throw new ParseError(file, error.line, firstLine(error.message));
      throw error;
    }
  });
}

/** Rows as lists of cells, the header included. Ragged rows and quoted line breaks are kept as they are. */
export function parseCsv(file: string, text: string): string[][] {
  return guarded(file, () =>
    csvSync(text, { bom: true, relax_column_count: true, relax_quotes: true, skip_empty_lines: true }),
  );
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

export function formatCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => `${row.map(csvCell).join(',')}\n`).join('');
}

function csvCell(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function withoutBom(text: string): string {
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

/** Parsers may overflow the stack on hostile nesting; that too is a problem of the file, not of the server. */
function guarded<T>(file: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof ParseError) throw error;
    throw new ParseError(
      file,
      undefined,
      error instanceof Error ? firstLine(error.message) : 'cannot be parsed',
    );
  }
}

function firstLine(message: string): string {
  return message.split('\n', 1)[0]?.slice(0, 200) ?? '';
}

function lineAt(text: string, offset: number): number {
  let line = 1;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', at + 1)) line += 1;
  return line;
}
