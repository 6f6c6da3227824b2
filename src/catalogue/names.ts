import { say, t } from '../base/text/message.ts';
import { BmadError, quoted } from '../base/errors.ts';
import { push, present } from '../base/values.ts';
import { fold, nearest } from '../base/text/suggest.ts';
import { cut } from '../base/text/text.ts';
import { otherNames } from './identity.ts';
import { ambiguous, fileMissing, successorsOf, withoutOldPrefixes } from './old-names.ts';
import { METHOD } from '../model/module.ts';
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
  /** The name without its module, and the module, if one was asked for. */
  name: string;
  module: string | undefined;
  /** What else has the name, where the method's is meant. */
  others: readonly BmadRecord[];
}

interface Entry {
  record: BmadRecord;
  /**
   * 0 the id, with or without its prefix; 1 any other alias; 2 the id of what another origin's record overrides, with its
   * module; 3 any name of such a record, which leads to what is served instead.
   */
  tier: number;
  /** The module it has under this name. */
  module: string;
}

/** The names of a record, with their tiers. */
function keysOf(record: BmadRecord): Map<string, number> {
  const keys = new Map<string, number>();
  for (const alias of record.aliases) keys.set(fold(alias), 1);
  // The name of its prompt is a name as well.
  keys.set(fold(`bmad-${shortName(record.name)}`), 1);
  keys.set(fold(shortName(record.name)), 0);
  keys.set(fold(record.name), 0);
  return keys;
}

const ADDRESS = 2;
const INSTEAD = 3;
/** After so many, names are entered anew. */
const MOST_INSTEAD = 200;

interface ParsedName {
  kinds: readonly RecordKind[];
  module: string | undefined;
  name: string;
}

/** The folders of version 4 begin with a dot, and other servers call its modules by them: `.bmad-core`. */
const withoutDot = (module: string): string => module.replace(/^\./, '');

/** Finds records by any of their names: the id, long or short, beats an alias, which beats a guess. */
export class NameIndex {
  #entries = new Map<string, Entry[]>();
  /** What has come into the place of a record since these were made. */
  #instead: Map<BmadRecord, BmadRecord> = new Map();
  #records: readonly BmadRecord[];
  readonly #modules: readonly string[];
  readonly #rank: (record: BmadRecord) => number;
  /** What manifests list and no file is there for. */
  readonly #missing: readonly BmadRecord[];

  constructor(
    records: readonly BmadRecord[],
    modules: readonly string[],
    overridden: ReadonlyMap<BmadRecord, BmadRecord> = new Map(),
    rank: (record: BmadRecord) => number = ({ origin }) => origin.priority,
    missing: readonly BmadRecord[] = [],
  ) {
    this.#rank = rank;
    this.#records = records;
    this.#missing = missing;
    this.#modules = modules;
    for (const record of records)
      for (const [key, tier] of keysOf(record)) this.#enter(key, record, tier, record.moduleName);
    for (const [record, served] of overridden) {
      this.#enter(fold(record.name), record, ADDRESS, record.moduleName);
      for (const key of keysOf(record).keys()) this.#enter(key, served, INSTEAD, record.moduleName);
    }
  }

  #enter(key: string, record: BmadRecord, tier: number, module: string): void {
    push(this.#entries, key, { record, tier, module });
  }

  /**
   * The same with other records in the place of some, each in the same place as before; nothing where one of them has other names.
   * What has not changed is shared with this one, which may still be in use.
   */
  renewed(
    instead: ReadonlyMap<BmadRecord, BmadRecord>,
    records: readonly BmadRecord[],
    missing: readonly BmadRecord[],
  ): NameIndex | undefined {
    const names = new NameIndex([], this.#modules, undefined, this.#rank, missing);
    names.#records = records;
    names.#entries = this.#entries;
    names.#instead = new Map(this.#instead);
    for (const [before, now] of instead) {
      const keys = keysOf(before);
      if ([...keysOf(now)].join() !== [...keys].join()) return undefined;
      for (const [first, last] of this.#instead) if (last === before) names.#instead.set(first, now);
      names.#instead.set(before, now);
    }
    return names.#instead.size > MOST_INSTEAD ? undefined : names;
  }

  /** What has a name, as it is now. */
  #at(name: string): Entry[] {
    const found = this.#entries.get(fold(name)) ?? [];
    if (this.#instead.size === 0) return found;
    return found.map((entry) => ({ ...entry, record: this.#instead.get(entry.record) ?? entry.record }));
  }

  resolve(query: NameQuery): NameChoice {
    const asked = this.#parse(query);
    const { wanted, records, isPart } = this.#find(asked, query.fuzzy);
    const some = narrowed(wanted, records, this.#rank);
    const left = isPart === true ? some : ofMethod(some);
    const [record, other] = left;
    if (record === undefined) throw this.#notFound(query, asked);
    if (other !== undefined) throw ambiguous(query.name, left);
    const others = some.filter((each) => each !== record);
    return { record, name: asked.name, module: wanted.module, others };
  }

  /** What has this name; else what has it as a part, where that will do; else what has it without the old prefixes. */
  #find(
    wanted: ParsedName,
    fuzzy: boolean,
  ): { wanted: ParsedName; records: readonly BmadRecord[]; isPart?: boolean } {
    const known = this.#known(wanted);
    if (known.length > 0) return { wanted, records: known };
    const apart = { ...wanted, ...this.apart(wanted.name) };
    const within = wanted.module === undefined && apart.module !== undefined ? this.#known(apart) : [];
    if (within.length > 0) return { wanted: apart, records: within };
    const partly = fuzzy ? this.#partOfName(wanted) : [];
    const modern = withoutOldPrefixes(wanted.name);
    if (partly.length > 0 || modern === undefined) return { wanted, records: partly, isPart: true };
    const plain = { ...wanted, name: modern };
    return { wanted: plain, records: this.#known(plain) };
  }

  #known(wanted: ParsedName): BmadRecord[] {
    const named = this.#named(wanted);
    return named.length > 0 ? named : this.#renamed(wanted);
  }

  /** A name without its module, before whichever sign it stands, and the module. */
  apart(asked: string): { module?: string; name: string } {
    const name = withoutDot(asked.trim());
    const module = this.#modules
      .filter((code) => fold(name).startsWith(fold(code)) && /[-./]/.test(name.charAt(code.length)))
      .sort((a, b) => b.length - a.length)[0];
    return module === undefined ? { name: asked.trim() } : { module, name: name.slice(module.length + 1) };
  }

  #named(wanted: ParsedName): BmadRecord[] {
    const entries = this.#entriesOf(wanted);
    const best = Math.min(...entries.map(({ tier }) => tier));
    const records = entries.filter(({ tier }) => tier === best).map(({ record }) => record);
    return [...new Set(records)];
  }

  #entriesOf({ name, kinds, module }: ParsedName): Entry[] {
    return this.#at(name).filter(
      (entry) =>
        kinds.includes(entry.record.kind) &&
        (module === undefined ? entry.tier !== ADDRESS : entry.module === module),
    );
  }

  /** What this generation has under another name: a name that BMAD once had, or has only today. */
  #renamed(wanted: ParsedName): BmadRecord[] {
    for (const kind of wanted.kinds)
      for (const name of otherNames(kind, wanted.name)) {
        const found = this.#named({ ...wanted, kinds: [kind], name });
        if (found.length > 0) return found;
      }
    return [];
  }

  #partOfName(wanted: ParsedName): BmadRecord[] {
    const part = fold(wanted.name);
    if (part.length < 3) return [];
    return this.#records.filter(
      (record) => fits(record, wanted) && isListed(record) && fold(record.name).includes(part),
    );
  }

  #parse({ name, module, kinds }: NameQuery): ParsedName {
    const clean = name.trim().replace(/^\*/, '');
    if (clean === '' || !/[\p{L}\p{N}]/u.test(clean)) {
      throw new BmadError('invalid_input', t`${quoted(name)} is not a valid name.`, {
        hint: t`Names look like "architect", "bmm/architect" or "*party-mode".`,
      });
    }
    const slash = clean.indexOf('/');
    const given = slash === -1 ? module : clean.slice(0, slash);
    if (slash !== -1 && module !== undefined && fold(module) !== fold(clean.slice(0, slash))) {
      throw new BmadError('invalid_input', t`${quoted(name)} names a module other than ${quoted(module)}.`, {
        hint: t`Give the module once.`,
      });
    }
    const rest = slash === -1 ? clean : clean.slice(slash + 1);
    const meant = slash === -1 ? [] : this.#at(rest);
    const suggestions = [...new Set(meant.map(({ record }) => this.handleOf(record)))].slice(0, 3);
    const code = given === undefined ? undefined : this.moduleCode(given, suggestions);
    return { kinds, module: code, name: rest };
  }

  /** The shortest name that leads to this record: `architect`, or `bmm/architect` where another module has one too. */
  handleOf(record: BmadRecord): string {
    const { kind, moduleName, name } = record;
    const short = shortName(name);
    const ways: ParsedName[] = [
      { kinds: [kind], module: undefined, name: short },
      { kinds: [kind], module: moduleName, name: short },
      { kinds: [kind], module: undefined, name },
    ];
    for (const wanted of ways) {
      const [found, other] = ofMethod(narrowed(wanted, this.#named(wanted), this.#rank));
      if (found === record && other === undefined)
        return wanted.module === undefined ? wanted.name : `${wanted.module}/${wanted.name}`;
    }
    return qualifiedName(record);
  }

  /** The code of a module, ignoring case; an unknown name throws an error that lists the modules. */
  moduleCode(name: string, suggestions: readonly string[] = []): string {
    const code = this.#modules.find((known) => fold(known) === fold(withoutDot(name)));
    if (code !== undefined) return code;
    const near = nearest(name, this.#modules);
    throw new BmadError('not_found', t`There is no module ${quoted(name)}.`, {
      reason: 'name',
      subject: cut(name, 100),
      suggestions: near.length > 0 ? near : suggestions,
      hint: t`Known modules: ${this.#modules.join(', ') || t`none`}.`,
    });
  }

  /** What a manifest lists under this name, though its file is gone. */
  missing({ name: asked, ...query }: NameQuery): BmadRecord | undefined {
    const { kinds, module, name } = this.#parse({ name: asked, ...query });
    return this.#missing.find(
      (record) => fits(record, { kinds, module, name }) && keysOf(record).has(fold(name)),
    );
  }

  #notFound(query: NameQuery, { module, name }: ParsedName): BmadError {
    const { name: asked, kinds } = query;
    const lost = this.missing(query);
    if (lost !== undefined) return fileMissing(asked, lost);
    const wanted = kinds.length > 1 && kinds.includes('agent') ? undefined : (kinds[0] ?? 'record');
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
    const where = module === undefined ? '' : t` in module "${module}"`;
    const [elsewhere] = this.#at(name).map(({ record }) => record);
    const other =
      elsewhere === undefined
        ? undefined
        : elsewhere.kind === 'agent'
          ? t`It is the name of an agent: ${qualifiedName(elsewhere)}.`
          : t`It is the name of a ${say(elsewhere.kind)}: ${qualifiedName(elsewhere)}.`;
    const isAgent = wanted === 'agent';
    const successors = successorsOf(name) ?? successorsOf(withoutOldPrefixes(name) ?? '');
    const current = (successors ?? []).filter(
      (short) => known.includes(short) || this.#entries.has(fold(short)),
    );
    const gone =
      successors === undefined
        ? wanted === undefined
          ? t`There is no agent or workflow ${quoted(asked)}${where}.`
          : t`There is no ${say(wanted)} ${quoted(asked)}${where}.`
        : t`${quoted(asked)} is a name from an earlier version of BMAD.`;
    return new BmadError('not_found', gone, {
      reason: 'name',
      subject: cut(asked, 200),
      suggestions: successors === undefined ? nearest(name, known) : current,
      ...present({ hint: other }),
      steps: [
        isAgent
          ? { operation: 'list', args: { what: 'agents' }, why: t`List the agents` }
          : wanted === 'task'
            ? { operation: 'list', args: { what: 'tasks' }, why: t`List the tasks` }
            : { operation: 'list', args: { what: 'workflows' }, why: t`List the workflows` },
        { operation: 'search', open: ['query'], why: t`Search by words` },
      ],
    });
  }
}

function fits(record: BmadRecord, { kinds, module }: ParsedName): boolean {
  return kinds.includes(record.kind) && (module === undefined || record.moduleName === module);
}

/** The folders of one project that are of one form, such as the packages of version 4: none of their modules goes first. */
const areBeside = (one: BmadRecord, other: BmadRecord): boolean =>
  one.origin.kind === 'project' && other.origin.kind === 'project' && one.format === other.format;

/**
 * The best of several: of the origin of the highest rank, listed, of the first kind asked for, with the name as its id.
 * An id with its module names one thing only, so there the id comes first.
 */
function narrowed(
  { kinds, module, name }: ParsedName,
  candidates: readonly BmadRecord[],
  rank: (record: BmadRecord) => number,
): readonly BmadRecord[] {
  const named = module === undefined ? candidates : withId(name, candidates);
  const first = Math.min(...named.map(rank));
  const leading = named.filter((record) => rank(record) === first);
  const ofRank = named.filter(
    (record) =>
      leading.includes(record) ||
      (rank(record) < first + 1 && leading.some((each) => areBeside(each, record))),
  );
  const current = preferred(ofRank, isListed);
  const kind = kinds.find((wanted) => current.some((record) => record.kind === wanted));
  return withId(
    name,
    current.filter((record) => record.kind === kind),
  );
}

/** Of several with one name: the method's, where it has one. */
function ofMethod(records: readonly BmadRecord[]): readonly BmadRecord[] {
  const first = METHOD.find((code) => records.some(({ moduleName }) => moduleName === code));
  return first === undefined ? records : records.filter(({ moduleName }) => moduleName === first);
}

/** Those that have the name as their id, the exact spelling before any other; all when none has. */
function withId(name: string, records: readonly BmadRecord[]): readonly BmadRecord[] {
  const folded = preferred(records, (record) => fold(record.name) === fold(name));
  return preferred(folded, (record) => record.name === name);
}

function preferred(
  records: readonly BmadRecord[],
  isBetter: (record: BmadRecord) => boolean,
): readonly BmadRecord[] {
  const better = records.filter(isBetter);
  return better.length > 0 ? better : records;
}
