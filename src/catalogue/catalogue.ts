import { compare } from '../base/text/text.ts';
import type { ModuleInfo } from '../model/module.ts';
import { fold } from '../base/text/suggest.ts';
import {
  isListed,
  qualifiedName,
  shortName,
  STARTABLE,
  type BmadRecord,
  type Problem,
  type RecordKind,
} from '../model/record.ts';
import type { Source } from '../sources/source.ts';
import { ContentFiles } from './content-files.ts';
import { NameIndex } from './names.ts';

export interface CatalogueParts {
  records: BmadRecord[];
  modules: ModuleInfo[];
  problems: Problem[];
  sources: Source[];
  /** The files of a source, where they are known without looking. */
  files: Map<Source, readonly string[]>;
}

/** The master manifest: every record of every origin, and the view of it in which each name has one winner. */
export class Catalogue {
  readonly records: readonly BmadRecord[];
  /** The record that is served for each kind and qualified name, in a fixed order. */
  readonly winners: readonly BmadRecord[];
  readonly modules: readonly ModuleInfo[];
  readonly problems: readonly Problem[];
  readonly sources: readonly Source[];
  readonly files: ContentFiles;
  #names: NameIndex | undefined;

  constructor(parts: CatalogueParts) {
    this.sources = [...parts.sources].sort((a, b) => a.origin.priority - b.origin.priority);
    this.records = [...parts.records].sort(byRankAndName);
    this.winners = firstOfEach(
      this.records.filter((record) => record.exists),
      (record) => `${record.kind} ${qualifiedName(record)}`,
    );
    this.modules = firstOfEach(
      [...parts.modules].sort((a, b) => a.origin.priority - b.origin.priority),
      (module) => module.code,
    );
    this.problems = parts.problems;
    this.files = new ContentFiles(this.sources, parts.files);
  }

  /** How many of a kind are shown in lists. */
  count(kind: RecordKind): number {
    return this.winners.filter((record) => record.kind === kind && isListed(record)).length;
  }

  /**
   * What a name would lead to if the origin of this record were not there: content of a lower rank with a name in
   * common. The built-in content comes first, because that is what people expect. Nothing, if it says the same.
   */
  displacedBy(record: BmadRecord): BmadRecord | undefined {
    const names = new Set(namesOf(record));
    const others = this.records.filter(
      (other) =>
        other.exists &&
        isListed(other) &&
        other.kind === record.kind &&
        other.origin.priority > record.origin.priority &&
        namesOf(other).some((name) => names.has(name)),
    );
    const expected = others.find(({ origin }) => origin.kind === 'package') ?? others[0];
    return expected === undefined || expected.digest === record.digest ? undefined : expected;
  }

  /** What is served under the name of something built in and says something else. */
  displacing(): BmadRecord[] {
    const startable = (record: BmadRecord): boolean => record.exists && STARTABLE.includes(record.kind);
    const builtIn = new Map<string, string | undefined>();
    for (const record of this.records.filter((one) => one.origin.kind === 'package' && startable(one)))
      for (const name of namesOf(record)) builtIn.set(`${record.kind} ${name}`, record.digest);
    return this.winners.filter(
      (record) =>
        record.origin.kind !== 'package' &&
        startable(record) &&
        namesOf(record).some((name) => {
          const key = `${record.kind} ${name}`;
          return builtIn.has(key) && builtIn.get(key) !== record.digest;
        }),
    );
  }

  get names(): NameIndex {
    this.#names ??= new NameIndex(
      this.winners,
      this.modules.map((module) => module.code),
    );
    return this.#names;
  }
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

function firstOfEach<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Map<string, T>();
  for (const item of items) {
    const key = keyOf(item);
    if (!seen.has(key)) seen.set(key, item);
  }
  return [...seen.values()];
}
