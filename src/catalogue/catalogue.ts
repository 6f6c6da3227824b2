import { plural, t } from '../base/text/message.ts';
import { quoted } from '../base/errors.ts';
import { compare, oneLine } from '../base/text/text.ts';
import type { ModuleInfo } from '../model/module.ts';
import {
  type Origin,
  kindCalled,
  originList,
  originsCalled,
  isListed,
  qualifiedName,
  recordKey,
  shortName,
  STARTABLE,
  type BmadRecord,
  type Problem,
  type RecordKind,
} from '../model/record.ts';
import { fold } from '../base/text/suggest.ts';
import type { Source } from '../sources/tree.ts';
import { ContentFiles } from './content-files.ts';
import {
  asideOf,
  commandInstead,
  type CommandInstead,
  identityOf,
  servedOnce,
  type ServedOnce,
  otherNames,
} from './identity.ts';
import { NameIndex, type NameChoice } from './names.ts';
import type { Reading } from '../readers/reader.ts';

/** What the readers understood of a source that never changes, with the list of its files. */
export interface PreparedReading extends Reading {
  files: string[];
}

/** Puts what is preferred before every priority. */
const PREFERRED = 1_000_000;

export interface CatalogueParts {
  records: BmadRecord[];
  modules: ModuleInfo[];
  problems: Problem[];
  sources: Source[];
  /** The files of a source, where they are known without looking. */
  files: Map<Source, readonly string[]> | ContentFiles;
  /** What is to come from one origin, whatever its rank. */
  preferences?: readonly Preference[];
  /** The texts of overrides, as digests, by the names of their files. */
  overrides?: ReadonlyMap<string, string>;
  /** Built-in modules that are here for callers who ask for them. */
  beside?: ReadonlySet<Origin>;
}

/** What of a record decides its place: everything but what it says of itself. */
const PLACE = [
  'kind',
  'source',
  'origin',
  'moduleName',
  'moduleVersion',
  'bmadVersion',
  'name',
  'bmadRelativePath',
  'moduleRelativePath',
  'exists',
  'generation',
  'launches',
  'likeness',
] as const;

/** Whether two records have the same place among others, whatever they say. */
export function isSamePlace(a: BmadRecord, b: BmadRecord): boolean {
  const known = (record: BmadRecord): string => JSON.stringify([record.deprecated, record.disguised]);
  return PLACE.every((key) => a[key] === b[key]) && known(a) === known(b);
}

interface Order extends ServedOnce {
  records: readonly BmadRecord[];
  aside: Origin | undefined;
  names: NameIndex | undefined;
}

/** The master manifest: every record of every origin, and the view of it in which each name has one winner. */
export class Catalogue {
  readonly records: readonly BmadRecord[];
  /** What is served, in a fixed order: one record for each kind and qualified name, and each thing from one origin. */
  readonly winners: readonly BmadRecord[];
  /** What exists and would be served if another origin did not have the same thing, and what is served instead. */
  readonly overridden: ReadonlyMap<BmadRecord, BmadRecord>;
  /** Everything that can be called by a name: what is served, then what it overrides. */
  readonly callable: readonly BmadRecord[];
  /** What lists show: neither old names, nor built-in content beside an install of another version. */
  readonly listed: readonly BmadRecord[];
  /** The built-in origin, where lists leave it out. */
  readonly aside: Origin | undefined;
  readonly modules: readonly ModuleInfo[];
  readonly problems: readonly Problem[];
  readonly sources: readonly Source[];
  readonly files: ContentFiles;
  /** The texts of overrides, as digests, by the names of their files. */
  readonly overrides: ReadonlyMap<string, string>;
  /** The origins among them that lists leave out. */
  readonly beside: ReadonlySet<Origin>;
  readonly #parts: CatalogueParts;
  readonly #views = new Map<string, Catalogue>();
  #names: NameIndex | undefined;

  /** `order`: what comes first and what is served, where that is known. */
  constructor(parts: CatalogueParts, order?: Order) {
    this.#parts = parts;
    this.#names = order?.names;
    this.sources = [...parts.sources].sort((a, b) => a.origin.priority - b.origin.priority);
    this.records = order?.records ?? [...parts.records].sort(byRankAndName);
    const { served, overridden } = order ?? this.#servedOf(this.records);
    this.winners = served;
    this.overridden = overridden;
    this.aside = order === undefined ? asideOf(this.records) : order.aside;
    this.listed = served.filter((record) => isListed(record) && record.origin !== this.aside);
    this.callable = overridden.size === 0 ? served : [...served, ...overridden.keys()];
    this.modules = firstOfEach(
      // A module has the project's settings with it: in whatever order content is served, they hold.
      [...parts.modules].sort(
        (a, b) => rankOfModule(a) - rankOfModule(b) || a.origin.priority - b.origin.priority,
      ),
      (module) => module.code,
    );
    this.problems = parts.problems;
    this.overrides = parts.overrides ?? new Map();
    this.beside = parts.beside ?? new Set();
    this.files =
      parts.files instanceof ContentFiles ? parts.files : new ContentFiles(this.sources, parts.files);
  }

  #servedOf(records: readonly BmadRecord[]): ServedOnce {
    const existing = records.filter((record) => record.exists);
    return servedOnce(firstOfEach(existing, recordKey, this.#rank), this.#rank);
  }

  /**
   * The same with other texts: `before` are the records that it was made of, and those of `parts` are each in the same place.
   * Nothing where one of them is not: what is served has to be found out.
   */
  renewed(before: readonly BmadRecord[], parts: CatalogueParts): Catalogue | undefined {
    const instead = new Map<BmadRecord, BmadRecord>();
    if (parts.records.length !== before.length) return undefined;
    for (const [index, record] of parts.records.entries()) {
      const known = before[index] as BmadRecord;
      if (record === known) continue;
      if (!isSamePlace(known, record)) return undefined;
      instead.set(known, record);
    }
    const now = (record: BmadRecord): BmadRecord => instead.get(record) ?? record;
    const [records, served] = [this.records.map(now), this.winners.map(now)];
    return new Catalogue(parts, {
      records,
      served,
      overridden: new Map([...this.overridden].map(([record, other]) => [now(record), now(other)])),
      aside: this.aside,
      names: this.#names?.renewed(instead, served, missingOf(records)),
    });
  }

  /** Which record comes first, the lowest number before all: what is preferred, then the priority of its origin. */
  readonly #rank = (record: BmadRecord): number =>
    this.isPreferred(record) ? record.origin.priority - PREFERRED : record.origin.priority;

  /** Whether the configuration prefers its origin for it. */
  isPreferred(record: BmadRecord): boolean {
    const { preferences = [] } = this.#parts;
    return preferences.length > 0 && isPreferred(record, preferences);
  }

  /** Whether an entry of the setting `prefer` is about this record, and not about its module. */
  isAbout(record: BmadRecord, entry: string): boolean {
    return preferredBy(record).has(fold(entry.split('=', 1)[0]?.trim() ?? ''));
  }

  /** The same with these origins only: what they have is served as if there were no others. */
  from(origins: ReadonlySet<Origin>): Catalogue {
    const key = [...origins].map(({ priority }) => priority).join(' ');
    const ofThese = ({ origin }: { origin: Origin }): boolean => origins.has(origin);
    const view =
      this.#views.get(key) ??
      new Catalogue({
        ...this.#parts,
        records: this.#parts.records.filter(ofThese),
        modules: this.#parts.modules.filter(ofThese),
        sources: this.#parts.sources.filter(ofThese),
        files: this.files.only(origins),
      });
    this.#views.set(key, view);
    return view;
  }

  /** The same and these, which come after everything that is in it. */
  plus(readings: ReadonlyMap<Source, PreparedReading>): Catalogue {
    const { records, modules } = this.#parts;
    const added = [...readings.values()];
    return new Catalogue({
      ...this.#parts,
      records: [...records, ...added.flatMap((each) => each.records)],
      modules: [...modules, ...added.flatMap((each) => each.modules)],
      sources: [...this.sources, ...readings.keys()],
      beside: new Set([...readings.keys()].map(({ origin }) => origin)),
      files: this.files.plus(new Map([...readings].map(([source, { files }]) => [source, files]))),
    });
  }

  /** The command of the project's own version that does what this built-in workflow of another version does. */
  commandInsteadOf(record: BmadRecord): CommandInstead | undefined {
    return this.aside === undefined || record.origin !== this.aside
      ? undefined
      : commandInstead(record, this.winners);
  }

  /** What is served in the place of a record that is not: the same thing, or what has its very name. */
  servedInsteadOf(record: BmadRecord): BmadRecord | undefined {
    const served =
      this.overridden.get(record) ?? this.winners.find((winner) => recordKey(winner) === recordKey(record));
    return served === record ? undefined : served;
  }

  /** All records of all origins that a record competes with: of the same name, or the same thing in another origin. */
  rivalsOf(record: BmadRecord): BmadRecord[] {
    const [name, identity] = [fold(shortName(record.name)), identityOf(record)];
    return this.records.filter(
      (other) =>
        (other.kind === record.kind && namesOf(other).includes(name)) ||
        (identity !== undefined && other.origin !== record.origin && identityOf(other) === identity),
    );
  }

  /** How a choice was made, for the log: of the same candidates that an explanation lists. */
  traceOf({ record, name, module }: Omit<NameChoice, 'others'>): string {
    const rivals = this.rivalsOf(record);
    const inModule = rivals.filter(({ moduleName }) => moduleName === module).length;
    const filtered = module === undefined ? '' : `, after module filter "${module}": ${inModule}`;
    const { displayName, kind, priority } = record.origin;
    return `found ${plural(rivals.length, 'candidate')} for ${quoted(name)}${filtered}; selected ${oneLine(qualifiedName(record), 200)} from ${displayName} (${kind}, priority=${priority})`;
  }

  /** How many of a kind are shown in lists. */
  count(kind: RecordKind): number {
    return this.listed.filter((record) => record.kind === kind).length;
  }

  /**
   * What a name would lead to if the origin of this record were not there: content of a lower rank with a name in
   * common, or the same thing under another name. The built-in content comes first, because that is what people expect. Nothing, if it says the same.
   */
  displacedBy(record: BmadRecord): BmadRecord | undefined {
    const [names, identity] = [new Set(namesOf(record)), identityOf(record)];
    const others = this.records.filter(
      (other) =>
        other.exists &&
        isListed(other) &&
        other.origin.priority > record.origin.priority &&
        ((other.kind === record.kind && namesOf(other).some((name) => names.has(name))) ||
          (identity !== undefined && identityOf(other) === identity)),
    );
    const expected = others.find(({ origin }) => origin.kind === 'package') ?? others[0];
    return expected === undefined || expected.digest === record.digest ? undefined : expected;
  }

  /** What is served under a name of something built in and says something else; `by` is that name where it is not its own id. */
  displacing(): { record: BmadRecord; by?: string }[] {
    const startable = (record: BmadRecord): boolean => record.exists && STARTABLE.includes(record.kind);
    // An old name leads to what has replaced it: several may have one name.
    const builtIn = new Map<string, Set<string | undefined>>();
    for (const record of this.records.filter((one) => one.origin.kind === 'package' && startable(one)))
      for (const name of namesOf(record)) {
        const key = `${record.kind} ${name}`;
        builtIn.set(key, (builtIn.get(key) ?? new Set()).add(record.digest));
      }
    const renamed = new Set<BmadRecord>();
    for (const [record, served] of this.overridden)
      if (record.origin.kind === 'package' && isListed(record)) renamed.add(served);
    const displaced = (record: BmadRecord, name: string): boolean => {
      const same = builtIn.get(`${record.kind} ${fold(name)}`);
      return same !== undefined && !same.has(record.digest);
    };
    return this.winners
      .filter((record) => record.origin.kind !== 'package' && startable(record))
      .flatMap((record) => {
        if (renamed.has(record)) return [{ record }];
        const taken = [record.name, shortName(record.name), ...record.aliases].find((name) =>
          displaced(record, name),
        );
        if (taken === undefined) return [];
        const isOwn = [record.name, shortName(record.name)].includes(taken);
        return [isOwn ? { record } : { record, by: taken }];
      });
  }

  get names(): NameIndex {
    this.#names ??= new NameIndex(
      this.winners,
      this.modules.map((module) => module.code),
      this.overridden,
      this.#rank,
      missingOf(this.records),
    );
    return this.#names;
  }
}

const missingOf = (records: readonly BmadRecord[]): BmadRecord[] => records.filter(({ exists }) => !exists);

function rankOfModule({ origin }: ModuleInfo): number {
  return origin.kind === 'project' ? 0 : 1;
}

function namesOf({ name, aliases }: BmadRecord): string[] {
  return [name, shortName(name), ...aliases].map(fold);
}

function byRankAndName(a: BmadRecord, b: BmadRecord): number {
  return (
    a.origin.priority - b.origin.priority ||
    compare(a.moduleName, b.moduleName) ||
    compare(a.name, b.name) ||
    // A name that was made plain must not take the place of one that is.
    Number(a.disguised?.includes('name') ?? false) - Number(b.disguised?.includes('name') ?? false)
  );
}

/** One item for each key: the first, or the first of the lowest rank. */
function firstOfEach<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  rank: (item: T) => number = () => 0,
): T[] {
  const seen = new Map<string, T>();
  for (const item of items) {
    const key = keyOf(item);
    const known = seen.get(key);
    if (known === undefined || rank(item) < rank(known)) seen.set(key, item);
  }
  return [...seen.values()];
}

/** An origin from which something is to come, whatever its rank. */
export interface Preference {
  /** What it is about: an agent, a workflow or a module by any name. */
  name: string;
  origins: ReadonlySet<Origin>;
}

/** Reads entries such as `analyst=package` or `bmm=user`. */
export function preferencesIn(
  entries: readonly string[],
  origins: readonly Origin[],
): { preferences: Preference[]; warnings: string[] } {
  const preferences: Preference[] = [];
  const warnings: string[] = [];
  for (const entry of entries) {
    const [, name = '', word = ''] = /^([^=]*)=([^=]*)$/.exec(entry) ?? [];
    const meant = originsCalled(word.trim(), origins);
    if (name.trim() === '' || word.trim() === '')
      warnings.push(t`${quoted(entry)} is not of the form name=origin, and is ignored`);
    else if (preferences.some((known) => known.name === fold(name.trim())))
      warnings.push(t`${quoted(name.trim())} is there twice; the first counts`);
    else if (meant.length > 0) preferences.push({ name: fold(name.trim()), origins: new Set(meant) });
    else if (kindCalled(word) === undefined)
      warnings.push(
        t`${quoted(word.trim())} is not an origin here, so ${quoted(entry)} is ignored; known: ${originList(origins)}`,
      );
  }
  return { preferences, warnings };
}

/** Whether a preference puts this record before those of other origins; one for itself counts before one for its module. */
function isPreferred(record: BmadRecord, preferences: readonly Preference[]): boolean {
  if (preferences.every(({ origins }) => !origins.has(record.origin))) return false;
  const known = preferredBy(record);
  const own = preferences.filter(({ name }) => known.has(name));
  const about = own.length > 0 ? own : preferences.filter(({ name }) => name === fold(record.moduleName));
  return about.some(({ origins }) => origins.has(record.origin));
}

/** What a preference for this record may call it. */
function preferredBy({ kind, moduleName, name }: BmadRecord): ReadonlySet<string> {
  const names = [name, shortName(name), ...otherNames(kind, name)].map(fold);
  return new Set([...names, ...names.map((each) => `${fold(moduleName)}/${each}`)]);
}
