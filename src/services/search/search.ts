import { onceWanted } from '../../base/async.ts';
import { lettersApart } from '../../base/text/suggest.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { analyse } from '../../meaning/analyse.ts';
import type { Embedder } from '../../meaning/vectors.ts';
import { isListed, STARTABLE, type BmadRecord, type RecordKind } from '../../model/record.ts';
import { createNames, plainName, type Names, questionOf } from './question.ts';
import type { IndexCache } from './kept-index.ts';
import { type Analyse, slipsIn } from './word-index.ts';
import { openShelf, type OpenShelf, type ShelfReport } from './open-shelf.ts';
import type { AgentText } from './record-text.ts';
import type { SearchHit } from './shelf.ts';

/** Whoever makes a search says what of it is kept: this comes with it. */
export { WORTH_KEEPING } from './kept-index.ts';
export { TERMS_FILE, withTerms } from './word-index.ts';

export interface SearchParts {
  catalogue: Catalogue;
  /** What an agent's own file says of it. */
  describe(agent: BmadRecord): Promise<AgentText>;
  /** Nothing where meaning is switched off: then words have to do. */
  embedder(): Promise<Embedder | undefined>;
  /** Knows the terms of some texts already. */
  terms?: (() => Promise<Analyse>) | undefined;
  /** How much each record is wanted at the moment; it decides between hits that fit about equally well. */
  ranking?: (() => Promise<(record: BmadRecord) => number>) | undefined;
  /** Whether this one has built-in modules that lists leave out. */
  hasBeside?: boolean | undefined;
  /** Where indexes are kept for the next process. */
  cache?: IndexCache | undefined;
}

interface SearchQuery {
  words: string;
  kinds: readonly RecordKind[];
  /** Filters: whether a record may be among the hits. */
  takes(record: BmadRecord): boolean;
  /** Ends the search, and what is indexed for it unless others wait for that too. */
  signal?: AbortSignal | undefined;
}

export type Search = ReturnType<typeof createSearch>;

/** Hits whose scores differ by less fit equally well. */
const NEARLY_EQUAL = 0.03;
/** Longer names are none. */
const LONGEST_NAME = 200;

/** Finds what is served by what people type. Nothing is indexed before the first question. */
export function createSearch({
  catalogue,
  describe,
  embedder,
  terms,
  ranking,
  hasBeside = false,
  cache,
}: SearchParts) {
  const served = catalogue.winners.filter(({ launches }) => launches === undefined);
  const listed = served.filter(isListed);
  const names = createNames(served, (record) => catalogue.names.handleOf(record));
  const shelves = new Map<string, (signal?: AbortSignal) => Promise<OpenShelf>>();
  /** Agents, workflows and tasks are searched together; each kind of material has a separate shelf. */
  const shelfOf = (kind: RecordKind): ((signal?: AbortSignal) => Promise<OpenShelf>) => {
    const key = STARTABLE.includes(kind) ? 'startable' : kind;
    const known = shelves.get(key);
    if (known !== undefined) return known;
    const records = listed.filter((record) =>
      key === kind ? record.kind === kind : STARTABLE.includes(record.kind),
    );
    const made = onceWanted((signal) =>
      openShelf({ key, catalogue, records, describe, embedder, terms, cache }, signal),
    );
    shelves.set(key, made);
    return made;
  };

  return {
    /** What was named comes first, then what fits by words and meaning, best first; old names come last. */
    async find({ words, kinds, takes, signal }: SearchQuery): Promise<SearchHit[]> {
      const isBeside = ({ origin }: BmadRecord): boolean => catalogue.beside.has(origin);
      const rank = (await ranking?.()) ?? (() => 0);
      const shelf = await shelfOf(mainKind(kinds))(signal);
      const found = await shelf.ask(words, signal, hasBeside ? isBeside : undefined);
      const hitsAmong = (hits: readonly SearchHit[], taken: (record: BmadRecord) => boolean): SearchHit[] => {
        const isWanted = (record: BmadRecord): boolean => kinds.includes(record.kind) && taken(record);
        const named = exactly(words, isWanted, names, rank);
        const own = ownFirst(catalogue, isWanted);
        return firstOfEach([
          ...own.named([
            ...named.filter(({ record }) => isListed(record)),
            ...replacing(named, served, isWanted),
            ...unreplaced(named, served, isWanted),
          ]),
          ...own.found(byRank(makersFirst(hits.filter(({ record }) => isWanted(record))), rank)),
          ...own.found(namedBy(words, names.holding(STARTABLE.includes(mainKind(kinds))), isWanted)),
        ]);
      };
      const all = hitsAmong(found.all, takes);
      if (!hasBeside) return all;
      return methodFirst(
        hitsAmong(found.own, (record) => takes(record) && !isBeside(record)),
        all,
        catalogue,
      );
    },

    /** Indexes what can be started, as the first question would, and waits until that is kept. */
    async index(signal?: AbortSignal): Promise<ShelfReport> {
      return (await shelfOf('workflow')(signal)).complete(signal);
    },

    /** What a name that is being typed may become, the likeliest first. */
    async complete(typed: string, kinds: readonly RecordKind[]): Promise<BmadRecord[]> {
      const rank = (await ranking?.()) ?? (() => 0);
      const fitting = listed
        .filter(({ kind }) => kinds.includes(kind))
        .flatMap((record) => {
          const { handle, own, other } = names.of(record);
          const fit = fitOf(typed, handle, [...own, ...other]);
          return fit === undefined ? [] : [{ record, fit }];
        });
      return fitting
        .sort((a, b) => a.fit - b.fit || rank(b.record) - rank(a.record))
        .map(({ record }) => record);
    },
  };
}

/** Among several kinds, what can be started is what is asked for. */
function mainKind(kinds: readonly RecordKind[]): RecordKind {
  return kinds.find((kind) => STARTABLE.includes(kind)) ?? kinds[0] ?? 'workflow';
}

/** What has just the name that was typed, then what answers to it. */
function exactly(
  words: string,
  isWanted: (record: BmadRecord) => boolean,
  names: Names,
  rank: (record: BmadRecord) => number,
): SearchHit[] {
  if (words.length > LONGEST_NAME) return [];
  const typed = plainName(words);
  const hits = (which: 'own' | 'other', why: string): SearchHit[] => {
    const having = names.having(which, typed).filter(isWanted);
    const found = having.map((record) => ({ record, score: 1, weak: false, why: () => why }));
    return byRank(found, rank);
  };
  return [...hits('own', 'name'), ...hits('other', 'alias')];
}

/** A person who types an old name wants what replaced it. */
function replacing(
  named: readonly SearchHit[],
  records: readonly BmadRecord[],
  isWanted: (record: BmadRecord) => boolean,
): SearchHit[] {
  return named.flatMap(({ record: { name, deprecated } }) => {
    if (deprecated?.successor === undefined) return [];
    const successor = records.find(
      (record) => record.name === deprecated.successor && record.deprecated === undefined && isWanted(record),
    );
    return successor === undefined
      ? []
      : [{ record: successor, score: 1, weak: false, why: () => `replaces ${name}` }];
  });
}

/** An old name that nothing has replaced is what was asked for, when it is just what was typed. */
function unreplaced(
  named: readonly SearchHit[],
  records: readonly BmadRecord[],
  isWanted: (record: BmadRecord) => boolean,
): SearchHit[] {
  return named
    .filter(
      (hit) =>
        hit.why() === 'name' && !isListed(hit.record) && replacing([hit], records, isWanted).length === 0,
    )
    .map((hit) => ({ ...hit, why: () => 'old name' }));
}

/** Old names, and material among what can be started, are there only for who says their names. */
function namedBy(
  words: string,
  holding: (terms: readonly string[]) => readonly BmadRecord[],
  isWanted: (record: BmadRecord) => boolean,
): SearchHit[] {
  const found = holding(analyse(questionOf(words)))
    .filter(isWanted)
    .map((record) => ({
      record,
      score: 0,
      weak: false,
      why: () => (record.deprecated === undefined ? 'name' : 'old name'),
    }));
  return found.sort((a, b) => Number(isListed(b.record)) - Number(isListed(a.record)));
}

const CHANGES = /^(?:edit|validate|check|review|update)-/;
/** Nobody reads further for what they want. */
const LOOKED_AT = 30;

/** Who only names a thing wants to make one: `create-prd` comes before its `edit-prd` where they fit equally well. */
function makersFirst(found: readonly SearchHit[]): SearchHit[] {
  const ordered = [...found];
  for (const maker of found.slice(0, LOOKED_AT)) {
    if (!maker.record.name.startsWith('create-')) continue;
    const thing = maker.record.name.slice('create-'.length);
    const at = ordered.indexOf(maker);
    const before = ordered.findIndex(
      ({ record: { name }, score }) =>
        CHANGES.test(name) && name.replace(CHANGES, '') === thing && score - maker.score < NEARLY_EQUAL,
    );
    if (before >= 0 && before < at) ordered.splice(before, 0, ...ordered.splice(at, 1));
  }
  return ordered;
}

/** Hits that fit about equally well, in the order of their rank; the rest is unchanged. */
function byRank(found: readonly SearchHit[], rank: (record: BmadRecord) => number): SearchHit[] {
  const ordered: SearchHit[] = [];
  for (let from = 0; from < found.length;) {
    const best = found[from]?.score ?? 0;
    let to = from + 1;
    while (to < found.length && best - (found[to]?.score ?? 0) < NEARLY_EQUAL) to++;
    const ranked = found.slice(from, to).map((hit) => ({ hit, wanted: rank(hit.record) }));
    ordered.push(...ranked.sort((a, b) => b.wanted - a.wanted).map(({ hit }) => hit));
    from = to;
  }
  return ordered;
}

function firstOfEach(found: readonly SearchHit[]): SearchHit[] {
  const seen = new Set<BmadRecord>();
  return found.filter(({ record }) => !seen.has(record) && seen.add(record) !== undefined);
}

/** The longest name that is completed; anything longer is not a name. */
const LONGEST_COMPLETED = 100;
/** A single letter stands for too many other names. */
const SHORTEST_ALIAS = 2;

/**
 * How well a name that is being typed fits, the less the better: it begins so, a word in it does, it holds it, another
 * name of the same thing begins so, or it begins almost so. Nothing when it does not fit.
 */
function fitOf(typed: string, handle: string, others: Iterable<string>): number | undefined {
  const name = plainName(handle);
  const wanted = plainName(typed);
  if (wanted.length > LONGEST_COMPLETED) return undefined;
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  const known = [...others];
  if (wanted.length >= SHORTEST_ALIAS && known.some((other) => other.startsWith(wanted))) return 2;
  const slips = slipsIn(wanted);
  if (slips === 0) return undefined;
  const almost = [name, ...known].some((other) => beginsAlmost(other, wanted, slips));
  return almost ? 3 : undefined;
}

/** A slip may have made what was typed longer or shorter than what was meant. */
function beginsAlmost(name: string, typed: string, slips: number): boolean {
  for (let length = typed.length - slips; length <= typed.length + slips; length++)
    if (lettersApart(typed, name.slice(0, length), slips) <= slips) return true;
  return false;
}

/** So well a hit of a module that lists leave out has to fit, alone and beside the best other, to come before it. */
const SURE = 0.9;
const CLEARLY = 1.2;
/** What its score counts for otherwise. */
const BEHIND = 0.8;

/**
 * The hits of the method and of what is installed, as they are without the further built-in modules, and those of these
 * modules among them. One of these comes first only where it fits clearly better: whoever asks for a developer has no
 * game in mind.
 */
function methodFirst(
  own: readonly SearchHit[],
  all: readonly SearchHit[],
  { beside }: Catalogue,
): SearchHit[] {
  const isBeside = ({ record }: SearchHit): boolean => beside.has(record.origin);
  const best = Math.max(0, ...all.flatMap((hit) => (isBeside(hit) ? [] : [hit.score])));
  const isAhead = ({ score, weak }: SearchHit): boolean => !weak && score >= SURE && score >= best * CLEARLY;
  const further = all.filter(isBeside);
  const merged = further.filter((hit) => own.length === 0 || isAhead(hit));
  const behind = further.filter((hit) => !merged.includes(hit));
  const fits = (hit: SearchHit): boolean => {
    const [next] = behind;
    return next !== undefined && next.score * BEHIND > hit.score && (hit.weak || !next.weak);
  };
  /** The score that is shown is the one that has put it there. */
  const follow = (hit: SearchHit): void => {
    merged.push({ ...hit, score: Math.min(hit.score * BEHIND, merged.at(-1)?.score ?? hit.score) });
  };
  for (const [place, hit] of own.entries()) {
    // The first place is taken by what fits clearly better, or by none of them.
    if (place > 0) while (fits(hit)) behind.splice(0, 1).forEach(follow);
    merged.push(hit);
  }
  behind.forEach(follow);
  return merged;
}

/**
 * Hits in a project that has BMAD in another version than the built-in one: its own come first, and nothing is offered
 * beside what the project does in a way of its own. Weak hits stay behind those that are not.
 */
interface OwnFirst {
  /** What has the name that was typed; a workflow that version 4 has as a command becomes the agent that has it. */
  named(hits: readonly SearchHit[]): SearchHit[];
  found(hits: readonly SearchHit[]): SearchHit[];
}

const AS_THEY_ARE: OwnFirst = { named: (hits) => [...hits], found: (hits) => [...hits] };

function ownFirst(catalogue: Catalogue, isWanted: (record: BmadRecord) => boolean): OwnFirst {
  const { aside, winners } = catalogue;
  const isAside = ({ origin }: BmadRecord): boolean => origin === aside;
  // Whoever asks for a module that only the built-in version has means that version.
  if (aside === undefined || !winners.some((record) => isWanted(record) && !isAside(record)))
    return AS_THEY_ARE;
  const order = (hits: readonly SearchHit[]): SearchHit[] => [
    ...hits.filter(({ record }) => !isAside(record)),
    ...hits.filter(({ record }) => isAside(record)),
  ];
  return {
    named: (hits) =>
      order(
        hits.flatMap((hit) => {
          const command = catalogue.commandInsteadOf(hit.record);
          if (command === undefined) return [hit];
          const why = (): string => `its command *${command.command}`;
          return isWanted(command.agent) ? [{ ...hit, record: command.agent, why }] : [];
        }),
      ),
    found: (hits) => {
      const offered = hits.filter(({ record }) => catalogue.commandInsteadOf(record) === undefined);
      return [...order(offered.filter(({ weak }) => !weak)), ...order(offered.filter(({ weak }) => weak))];
    },
  };
}
