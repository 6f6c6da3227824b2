import type { ModuleInfo } from '../model/module.ts';
import type { BmadRecord, Problem, RecordDetails } from '../model/record.ts';
import { type Source, optionalText, type Tree } from '../sources/tree.ts';
import { attempt, noted } from '../base/errors.ts';
import { type CsvRow, csvRows, field, isTable, type Table, tableOf } from '../base/parse/parse.ts';
import { t } from '../base/text/message.ts';
import { cut, decodeEntities } from '../base/text/text.ts';
import { present } from '../base/values.ts';
import { withoutHidden } from '../base/text/hidden.ts';

/** What one reader understood of one source. */
export interface Reading {
  records: BmadRecord[];
  modules: ModuleInfo[];
  problems: Problem[];
}

/**
 * Understands one family of BMAD formats. Readers are not exclusive: each takes what is its own and leaves the rest,
 * because real installs are mixtures. A reader reports problems and does not throw for the sake of one file.
 */
export interface Reader {
  generation: string;
  read(source: Source): Promise<Reading>;
  /** The files beside the main one that say something of its record, and of no other. */
  beside?: readonly string[];
  /**
   * The record again, whose text is another one while all other files, and which there are, are the same. Nothing where that
   * cannot be said of it alone.
   */
  again?(source: Source, record: BmadRecord, reading: Reading): Promise<BmadRecord | undefined>;
}

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

/** Attributes of one XML-like tag, as they are written: entities are not decoded. */
export type Attributes = ReadonlyMap<string, string>;

/** More of a tag than this is never looked at; real ones have a few hundred characters. */
const TAG_LENGTH = 8_192;

/** A file that only talks about the tag may name it a few times before the tag itself comes. */
const TAGS_TRIED = 20;

/**
 * The attributes of the first `<name …>` in a text; of the first that has any, should there be several. Compiled agents
 * are not always well-formed XML, and a comment above may mention the tag, so this is a scanner and not a parser.
 */
export function firstTag(text: string, name: string): Attributes | undefined {
  const opening = `<${name}`;
  let bare: Attributes | undefined;
  let tried = 0;
  for (let at = text.indexOf(opening); at !== -1; at = text.indexOf(opening, at + opening.length)) {
    if (!/[\s/>]/.test(text.charAt(at + opening.length))) continue;
    const attributes = attributesIn(text.slice(at + opening.length, at + opening.length + TAG_LENGTH));
    if (attributes.size > 0) return attributes;
    bare ??= attributes;
    tried += 1;
    if (tried === TAGS_TRIED) break;
  }
  return bare;
}

/** What follows a quotation mark that really ends a value: the end of the tag, or another attribute. */
const AFTER_VALUE = /\s*(?:\/?>|[\w:.-]+\s*=\s*["'])/y;

/** So many quotation marks a value may have inside; the limit keeps odd texts from being searched again and again. */
const QUOTES_TRIED = 20;

const ATTRIBUTE = /\s*([\w:.-]+)\s*=\s*(["'])/y;

/** Reads up to the `>` that ends the tag. What is neither an attribute nor the end is stepped over. */
function attributesIn(tag: string): Attributes {
  const found = new Map<string, string>();
  let at = 0;
  while (at < tag.length && tag[at] !== '>' && tag[at] !== '<') {
    ATTRIBUTE.lastIndex = at;
    const match = ATTRIBUTE.exec(tag);
    if (match === null) {
      at = afterWord(tag, at);
      continue;
    }
    const [, name = '', quote = '"'] = match;
    const start = ATTRIBUTE.lastIndex;
    const end = endOfValue(tag, start, quote);
    if (!found.has(name)) found.set(name, tag.slice(start, end));
    at = end + 1;
  }
  return found;
}

/** The place after the next word: white space is stepped over in one go, so that no run of it is looked at twice. */
function afterWord(tag: string, at: number): number {
  let next = at;
  while (/\s/.test(tag[next] ?? '')) next += 1;
  while (/[^\s<>]/.test(tag[next] ?? '')) next += 1;
  return Math.max(next, at + 1);
}

/** The compiler does not escape values, so a quotation mark may be part of one; a line break or another tag may not. */
function endOfValue(tag: string, start: number, quote: string): number {
  const first = tag.indexOf(quote, start);
  if (first === -1) return tag.length;
  const beyond = tag.slice(first).search(/[<\n]/);
  const last = beyond === -1 ? tag.length : first + beyond;
  let at = first;
  for (let tried = 0; tried < QUOTES_TRIED && at !== -1 && at < last; tried += 1) {
    AFTER_VALUE.lastIndex = at + 1;
    if (AFTER_VALUE.test(tag)) return at;
    at = tag.indexOf(quote, at + 1);
  }
  return first;
}

/** What people and models choose by: nothing in it may be read that is not seen. The files themselves stay as they are. */
const NAMES = ['moduleName', 'name', 'displayName', 'title', 'icon', 'phase', 'description'] as const;

/** A reading whose names and descriptions have nothing hidden in them; each record tells what was taken out. */
export function plainlyNamed(reading: Reading): Reading {
  const problems: Problem[] = [];
  const records = reading.records.flatMap((record) => {
    const plain = plainRecord(record);
    if (plain.name.trim() !== '') return [plain];
    problems.push({ file: record.bmadRelativePath, message: t`its name has hidden characters only` });
    return [];
  });
  return {
    records,
    modules: reading.modules.map(plainModule),
    problems: [...reading.problems, ...problems],
  };
}

function plainRecord(record: BmadRecord): BmadRecord {
  const changed = NAMES.filter((key) => {
    const text = record[key];
    return text !== undefined && withoutHidden(text) !== text;
  });
  const aliases = record.aliases.map(withoutHidden);
  const same = aliases.every((alias, index) => alias === record.aliases[index]);
  const details = record.details === undefined ? undefined : plainTexts(record.details);
  if (changed.length === 0 && same) return details === undefined ? record : { ...record, details };
  return {
    ...record,
    ...present({ details }),
    ...Object.fromEntries(changed.map((key) => [key, withoutHidden(record[key] ?? '')])),
    aliases: aliases.filter((alias) => alias !== ''),
    disguised: [...changed, ...(same ? [] : ['aliases'])],
  };
}

function plainModule(module: ModuleInfo): ModuleInfo {
  const { origin, settings, ...named } = module;
  return { ...plainTexts(named), origin, settings };
}

/** Rosters and help are names and descriptions through and through. */
export function plainTexts<T>(value: T): T;
export function plainTexts(value: unknown): unknown {
  if (typeof value === 'string') return withoutHidden(value);
  if (Array.isArray(value)) return value.map((item: unknown) => plainTexts(item));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainTexts<unknown>(item)]));
}
