import { BmadError, quoted } from '../base/errors.ts';
import { fold, nearest } from '../base/suggest.ts';
import { cut } from '../base/text.ts';
import { successorsOf, withoutOldPrefixes } from './old-names.ts';
import { isListed, qualifiedName, shortName, type BmadRecord, type RecordKind } from '../model/record.ts';

export interface NameQuery {
  /** `architect`, `bmm/architect`, `Winston`, `*party-mode`. */
  name: string;
  /** The kinds that will do; an earlier kind wins over a later one when both have the name. */
  kinds: readonly RecordKind[];
  module?: string | undefined;
  /** Whether part of a name is enough. Only for reading: nothing is started on a guess. */
  fuzzy: boolean;
}

export interface NameChoice {
  record: BmadRecord;
  /** How the choice was made, for the log. */
  trace: string;
}

interface Entry {
  record: BmadRecord;
  /** 0 the id, with or without its prefix; 1 any other alias. */
  tier: number;
}

/** Finds records by any of their names: the id, long or short, beats an alias, which beats a guess. */
export class NameIndex {
  readonly #entries = new Map<string, Entry[]>();
  readonly #records: readonly BmadRecord[];
  readonly #modules: readonly string[];

  constructor(records: readonly BmadRecord[], modules: readonly string[]) {
    this.#records = records;
    this.#modules = modules;
    for (const record of records) {
      const keys = new Map<string, number>();
      for (const alias of record.aliases) keys.set(fold(alias), 1);
      // The name of its prompt is a name as well.
      keys.set(fold(`bmad-${shortName(record.name)}`), 1);
      keys.set(fold(shortName(record.name)), 0);
      keys.set(fold(record.name), 0);
      for (const [key, tier] of keys)
        this.#entries.set(key, [...(this.#entries.get(key) ?? []), { record, tier }]);
    }
  }

  resolve(query: NameQuery): NameChoice {
    const { module, name } = this.#parse(query);
    const found = this.#find(query, module, name);
    const left = narrowed(query.kinds, found.name, found.records);
    const [record, other] = left;
    if (record === undefined) throw this.#notFound(query, module, name);
    if (other !== undefined) throw ambiguous(query.name, left);
    const count = (within: string | undefined): number =>
      (this.#entries.get(fold(found.name)) ?? []).filter((entry) => fits(entry.record, query.kinds, within))
        .length;
    const filtered = module === undefined ? '' : `, after module filter "${module}": ${count(module)}`;
    const trace = `found ${count(undefined)} candidates for ${quoted(name)}${filtered}; selected ${qualifiedName(record)} from ${record.origin.displayName} (${record.origin.kind}, priority=${record.origin.priority})`;
    return { record, trace };
  }

  /** What has this name; else what has it as a part, where that will do; else what has it without the old prefixes. */
  #find(
    { kinds, fuzzy }: NameQuery,
    module: string | undefined,
    name: string,
  ): { name: string; records: BmadRecord[] } {
    const records = this.#named(kinds, module, name);
    if (records.length === 0 && fuzzy) records.push(...this.#partOfName(kinds, module, name));
    const modern = records.length === 0 ? withoutOldPrefixes(name) : undefined;
    return modern === undefined
      ? { name, records }
      : { name: modern, records: this.#named(kinds, module, modern) };
  }

  #named(kinds: readonly RecordKind[], module: string | undefined, name: string): BmadRecord[] {
    const entries = (this.#entries.get(fold(name)) ?? []).filter(({ record }) => fits(record, kinds, module));
    const best = Math.min(...entries.map(({ tier }) => tier));
    return entries.filter(({ tier }) => tier === best).map(({ record }) => record);
  }

  #partOfName(kinds: readonly RecordKind[], module: string | undefined, name: string): BmadRecord[] {
    const part = fold(name);
    if (part.length < 3) return [];
    return this.#records.filter(
      (record) => fits(record, kinds, module) && isListed(record) && fold(record.name).includes(part),
    );
  }

  #parse({ name, module }: NameQuery): { module: string | undefined; name: string } {
    const clean = name.trim().replace(/^\*/, '');
    if (clean === '' || !/[\p{L}\p{N}]/u.test(clean)) {
      throw new BmadError('invalid_input', `${quoted(name)} is not a name.`, {
        hint: 'Names look like "architect", "bmm/architect" or "*party-mode".',
      });
    }
    const slash = clean.indexOf('/');
    const given = slash === -1 ? module : clean.slice(0, slash);
    if (slash !== -1 && module !== undefined && fold(module) !== fold(clean.slice(0, slash))) {
      throw new BmadError('invalid_input', `${quoted(name)} names another module than ${quoted(module)}.`, {
        hint: 'Give the module once.',
      });
    }
    const rest = slash === -1 ? clean : clean.slice(slash + 1);
    return { module: given === undefined ? undefined : this.moduleCode(given), name: rest };
  }

  /** The shortest name that leads to this record: `architect`, or `bmm/architect` where another module has one too. */
  handleOf(record: BmadRecord): string {
    const { kind, moduleName, name } = record;
    const short = shortName(name);
    const ways: [module: string | undefined, name: string][] = [
      [undefined, short],
      [moduleName, short],
      [undefined, name],
    ];
    for (const [module, called] of ways) {
      const [found, other] = narrowed([kind], called, this.#named([kind], module, called));
      if (found === record && other === undefined)
        return module === undefined ? called : `${module}/${called}`;
    }
    return qualifiedName(record);
  }

  /** The code of a module, whatever its case; an error that lists the modules when there is none of that name. */
  moduleCode(name: string): string {
    const code = this.#modules.find((known) => fold(known) === fold(name));
    if (code !== undefined) return code;
    throw new BmadError('not_found', `There is no module ${quoted(name)}.`, {
      subject: cut(name, 100),
      suggestions: nearest(name, this.#modules),
      hint: `Known modules: ${this.#modules.join(', ') || 'none'}.`,
    });
  }

  #notFound({ name: asked, kinds }: NameQuery, module: string | undefined, name: string): BmadError {
    const what = kinds.length > 1 && kinds.includes('agent') ? 'agent or workflow' : (kinds[0] ?? 'record');
    const known: string[] = [];
    for (const { kind, name: id, moduleName, displayName, deprecated } of this.#records) {
      if (
        !kinds.includes(kind) ||
        deprecated !== undefined ||
        (module !== undefined && moduleName !== module)
      )
        continue;
      known.push(shortName(id), ...(displayName === undefined ? [] : [displayName]));
    }
    const where = module === undefined ? '' : ` in module "${module}"`;
    const [elsewhere] = (this.#entries.get(fold(name)) ?? []).map(({ record }) => record);
    const other =
      elsewhere === undefined
        ? ''
        : `It is the name of ${elsewhere.kind === 'agent' ? 'an agent' : 'a workflow'}: ${qualifiedName(elsewhere)}. `;
    const successors = successorsOf(name);
    const current = (successors ?? []).filter(
      (short) => known.includes(short) || this.#entries.has(fold(short)),
    );
    const gone =
      successors === undefined
        ? `There is no ${what} ${quoted(asked)}${where}.`
        : `${quoted(asked)} is a name of an earlier BMAD.`;
    return new BmadError('not_found', gone, {
      subject: cut(asked, 200),
      suggestions: successors === undefined ? nearest(name, known) : current,
      hint: `${other}List them with {operation:"list", query:"${what === 'agent' ? 'agents' : 'workflows'}"}, or look for words with {operation:"search", query:"…"}.`,
    });
  }
}

function fits(record: BmadRecord, kinds: readonly RecordKind[], module: string | undefined): boolean {
  return kinds.includes(record.kind) && (module === undefined || record.moduleName === module);
}

/** The best of several: of the origin of the highest rank, listed, of the first kind asked for, with the name as its id. */
function narrowed(
  kinds: readonly RecordKind[],
  name: string,
  candidates: readonly BmadRecord[],
): readonly BmadRecord[] {
  const rank = Math.min(...candidates.map(({ origin }) => origin.priority));
  const ofRank = candidates.filter(({ origin }) => origin.priority === rank);
  const current = preferred(ofRank, isListed);
  const kind = kinds.find((wanted) => current.some((record) => record.kind === wanted));
  const ofKind = current.filter((record) => record.kind === kind);
  return preferred(ofKind, (record) => fold(record.name) === fold(name));
}

function preferred(
  records: readonly BmadRecord[],
  isBetter: (record: BmadRecord) => boolean,
): readonly BmadRecord[] {
  const better = records.filter(isBetter);
  return better.length > 0 ? better : records;
}

function ambiguous(name: string, candidates: readonly BmadRecord[]): BmadError {
  const names = candidates.map(qualifiedName);
  return new BmadError('ambiguous', `${quoted(name)} is the name of ${candidates.length} things.`, {
    subject: cut(name, 200),
    suggestions: names,
    hint: 'Use one of the qualified names.',
  });
}
