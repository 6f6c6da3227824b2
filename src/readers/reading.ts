import { attempt, noted } from '../base/errors.ts';
import { type CsvRow, csvRows, field, isTable, type Table, tableOf } from '../base/parse/parse.ts';
import { t } from '../base/text/message.ts';
import { cut, decodeEntities } from '../base/text/text.ts';
import { present } from '../base/values.ts';
import type { BmadRecord, Problem, RecordDetails } from '../model/record.ts';
import { optionalText, type Source, type Tree } from '../sources/tree.ts';

export const READS_AT_ONCE = 16;

/** The text of a file that may be absent. A file that cannot be read is a problem, and counts as absent. */
export async function readable(tree: Tree, file: string, problems: Problem[]): Promise<string | undefined> {
  return optionalText(tree, file).catch(noted(problems, file, undefined));
}

/** What is parsed, if it is a table; a text that is none, or cannot be parsed, is a problem and gives an empty one. */
export function parsedTable(file: string, problems: Problem[], parse: () => unknown): Table {
  const value = attempt(parse, noted(problems, file, {}));
  if (!isTable(value) && value !== undefined && value !== null)
    problems.push({ file, message: t`it is not a table of values` });
  return tableOf(value);
}

/** The table of a file that may be absent. */
export async function readTable(
  tree: Tree,
  file: string,
  problems: Problem[],
  parse: (file: string, text: string) => unknown,
): Promise<Table> {
  const text = await readable(tree, file, problems);
  return text === undefined ? {} : parsedTable(file, problems, () => parse(file, text));
}

/** The lines of a CSV file with a header. A file that is not one is a problem and has no lines. */
export async function readRows(tree: Tree, file: string, problems: Problem[]): Promise<CsvRow[]> {
  const text = (await readable(tree, file, problems)) ?? '';
  return attempt(() => csvRows(file, text), noted(problems, file, []));
}

/** An unquoted `1.0` is a number in YAML. */
export function versionField(table: Table, name: string): string | undefined {
  const version = field(table, name);
  return typeof version === 'string' || typeof version === 'number'
    ? String(version).slice(0, 64)
    : undefined;
}

type Derived = 'source' | 'origin' | 'absolutePath' | 'exists' | 'status' | 'aliases' | 'digest';
type Told = Omit<BmadRecord, Derived>;

/** What a reader knows about a file; the rest of its record follows from that. */
type Known = { [K in keyof Told]: Told[K] | undefined } & {
  bmadRelativePath: string;
  /** Whether a manifest lists it. */
  listed: boolean;
  aliases: readonly (string | undefined)[];
  /** Nothing for a file that a manifest lists and that does not exist. */
  digest: string | undefined;
};

export function recordOf(source: Source, { kind, listed, aliases, digest, ...told }: Known): BmadRecord {
  const others = aliases.filter((alias) => alias !== undefined && alias !== '' && alias !== told.name);
  return present<BmadRecord>({
    kind,
    source: listed ? 'manifest' : 'filesystem',
    origin: source.origin,
    ...told,
    absolutePath: source.tree.place(told.bmadRelativePath),
    exists: digest !== undefined,
    status: digest === undefined ? 'no-file-found' : listed ? 'verified' : 'not-in-manifest',
    aliases: [...new Set(others as string[])],
    digest: digest ?? '',
  });
}

const LENGTH = 4_000;

/** The first that says something for each detail: the line of a manifest comes before the file it is about. */
export function detailsOf(...told: readonly ((name: string) => unknown)[]): RecordDetails | undefined {
  const said = (name: string, ...others: readonly string[]): string | undefined => {
    for (const tell of told)
      for (const each of [name, ...others]) {
        const text = detailText(tell(each));
        if (text !== undefined) return text;
      }
    return undefined;
  };
  const standalone = said('standalone');
  const details = present<RecordDetails>({
    role: said('role'),
    identity: said('identity'),
    communicationStyle: said('communicationStyle', 'communication_style', 'style'),
    principles: said('principles', 'core_principles'),
    author: said('author'),
    standalone: standalone === undefined ? undefined : /^(?:true|yes|1)$/i.test(standalone),
  });
  return Object.keys(details).length === 0 ? undefined : details;
}

/** Unlike a name it keeps its lines. A list is one text, as the installers write it into their manifests. */
function detailText(value: unknown): string | undefined {
  if (Array.isArray(value)) return detailText(value.filter((item) => typeof item === 'string').join(' '));
  if (typeof value === 'boolean') return String(value);
  if (typeof value !== 'string' || value === '') return undefined;
  // Some installers escaped quotation marks twice, so that two are left after reading.
  const text = decodeEntities(cut(value, LENGTH)).replaceAll('""', '"').trim();
  return text === '' ? undefined : text;
}
