import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { normalized } from '../../meaning/vectors.ts';
import { lengthNorm, rarity, saturated } from '../../meaning/words.ts';
import { analyse, type Analyser, ANALYSER_VERSION } from '../../meaning/analyse.ts';
import {
  HOLDS_WITH,
  MEMORY_TYPES,
  type MemoryEntry,
  type MemoryFilter,
  type MemoryHit,
  type MemoryKey,
  type MemoryType,
} from '../../model/memory.ts';
import { jsonIn } from '../../base/parse/json.ts';
import { momentOf } from '../../base/text/text.ts';
import { foreignCursor } from '../../base/text/paging.ts';
import { nameKey } from '../../base/text/suggest.ts';
import {
  isMoment,
  isoTime,
  type MemoryPage,
  type MemoryQuery,
  type MemoryStats,
  type Page,
  type VectorSpace,
} from './engine.ts';

/** Memories have their tags among their words, which earlier ones had not. */
export const ANALYSER: Analyser = { id: `tagged-${ANALYSER_VERSION}`, terms: analyse };

export function termsOf(
  analyser: Analyser,
  { text, others = [], tags }: Pick<MemoryEntry, 'text' | 'others' | 'tags'>,
): string[] {
  const named = tags.filter((tag) => !tag.startsWith(HOLDS_WITH));
  return analyser.terms([text, ...others, ...named].join('\n'));
}

/**
 * What finding all words of the query adds to the nearness in meaning. Measured: better than merging ranks. A part of them
 * adds less than its share, because one word in common says little where the meaning says something else.
 */
const WORDS_WEIGHT = 0.5;
/** What finding all its numbers adds: story 1.3 is not story 1.4, however near they are. */
const NUMBERS_WEIGHT = 0.1;

/**
 * The one fusion of meaning and words; `numbers` is the share of the numbers that were asked for. What has no vector yet is
 * judged by its words alone.
 */
export function fused(cosine: number | undefined, coverage: number, numbers = 0): number {
  if (cosine === undefined) return WORDS_WEIGHT * coverage + NUMBERS_WEIGHT * numbers;
  return cosine + WORDS_WEIGHT * coverage ** 5 + NUMBERS_WEIGHT * numbers;
}

/** The words to ask an index for, rarest first, as long as their memories are few enough; the rarest one always. */
export function rarest(frequency: ReadonlyMap<string, number>, memories: number, most = Infinity): string[] {
  let sum = 0;
  return [...frequency]
    .filter(([, count]) => count > 0)
    .sort(([, a], [, b]) => a - b)
    .filter(([, count], index) => {
      sum += count;
      return index === 0 || (sum <= memories && index < most);
    })
    .map(([term]) => term);
}

interface QueryWords {
  weights: ReadonlyMap<string, number>;
  ways: readonly { terms: ReadonlySet<string>; total: number }[];
  numbers: ReadonlySet<string>;
}

export function weighed(
  terms: readonly string[],
  frequency: (term: string) => number,
  total: number,
  ways: MemoryQuery['ways'] = [terms],
): QueryWords {
  const weights = new Map<string, number>();
  for (const term of new Set(terms)) weights.set(term, rarity(Math.min(frequency(term), total), total));
  return {
    weights,
    ways: ways.map((way) => {
      const own = new Set(way);
      return { terms: own, total: [...own].reduce((sum, term) => sum + (weights.get(term) ?? 0), 0) };
    }),
    numbers: new Set(ways[0]?.filter(isNumber)),
  };
}

export interface Candidate {
  entry: MemoryEntry;
  terms: readonly string[];
  cosine: number | undefined;
}

/** Saturation and length of the usual BM25; only for the order of memories that cover the query equally. */
const K1 = 1.2;
const B = 0.75;
const USUAL_LENGTH = 40;

const isNumber = (term: string): boolean => /\d/.test(term);

interface Words {
  /** The share of them, each by its weight, in the way to say it of which the most is there. */
  coverage: number;
  matched: readonly string[];
  numbers: number;
  bm25: number;
}

const NONE: Words = { coverage: 0, matched: [], numbers: 0, bm25: 0 };

function wordsIn(query: QueryWords, terms: readonly string[]): Words {
  const { weights, ways } = query;
  const counts = new Map<string, number>();
  for (const term of terms) if (weights.has(term)) counts.set(term, (counts.get(term) ?? 0) + 1);
  if (counts.size === 0) return NONE;
  let bm25 = 0;
  const norm = lengthNorm(terms.length, USUAL_LENGTH, B);
  for (const [term, count] of counts) {
    const weight = weights.get(term) ?? 0;
    bm25 += weight * saturated(count, K1, norm);
  }
  const matched =
    counts.size === 1 ? [...counts.keys()] : [...weights.keys()].filter((term) => counts.has(term));
  let coverage = 0;
  for (const { terms: own, total } of ways) {
    let mass = 0;
    for (const term of matched) if (own.has(term)) mass += weights.get(term) ?? 0;
    if (total > 0) coverage = Math.max(coverage, mass / total);
  }
  const { numbers: asked } = query;
  const numbers = asked.size === 0 ? 0 : matched.filter((term) => asked.has(term)).length / asked.size;
  return { coverage, matched, bm25, numbers };
}

/** A search that looks at each: a word is as rare as it is among all, of whom some pass a filter. */
export function searchedAmong(
  query: MemoryQuery,
  all: readonly Candidate[],
  passing: readonly Candidate[] = all,
): MemoryHit[] {
  const wanted = new Set(query.terms);
  const having = new Map<string, number>();
  for (const { terms } of all)
    for (const term of new Set(terms)) if (wanted.has(term)) having.set(term, (having.get(term) ?? 0) + 1);
  const words = weighed(query.terms, (term) => having.get(term) ?? 0, all.length, query.ways);
  return ranked(words, passing, query);
}

export function ranked(
  query: QueryWords,
  candidates: readonly Candidate[],
  { vector, limit, minScore, all = false }: Pick<MemoryQuery, 'vector' | 'limit' | 'minScore' | 'all'>,
): MemoryHit[] {
  const hits = candidates.flatMap(({ entry, terms, cosine }) => {
    const { coverage, matched, bm25, numbers } = wordsIn(query, terms);
    if (!all && cosine === undefined && matched.length === 0) return [];
    const score = vector !== undefined ? fused(cosine, coverage, numbers) : coverage;
    return minScore !== undefined && score < minScore
      ? []
      : [{ hit: { entry, score, cosine, coverage, matched }, bm25 }];
  });
  hits.sort((a, b) => b.hit.score - a.hit.score || b.bm25 - a.bm25 || byPosition(a.hit.entry, b.hit.entry));
  return hits.slice(0, limit).map(({ hit }) => hit);
}

/** Of length one, so that a product is a cosine. A vector that is not of the space is refused. */
export function unit(vector: Float32Array, space: VectorSpace | undefined): Float32Array {
  if (space === undefined)
    throw new BmadError('internal', t`A vector was passed to a store that was opened without an embedder.`);
  const areNumbers = vector.every(Number.isFinite);
  if (vector.length !== space.dim || !areNumbers)
    throw new BmadError(
      'unavailable',
      t`The embedder ${space.embedder} returned a vector of ${vector.length} numbers where ${space.dim} were expected${areNumbers ? '' : t`, some of them not numbers`}.`,
      {
        hint: t`Check the embedder’s model; it may have changed while the server was running.`,
      },
    );
  return normalized(vector);
}

export interface ReadyFilter {
  types: ReadonlySet<string> | undefined;
  agents: ReadonlySet<string> | undefined;
  tagsAll: readonly string[];
  since: string | undefined;
  until: string | undefined;
  superseded: boolean;
  forgotten: boolean;
}

const set = (items: readonly string[] | undefined): ReadonlySet<string> | undefined =>
  items === undefined || items.length === 0 ? undefined : new Set(items);

const nfc = (text: string): string => text.normalize('NFC');

export function readyFilter(filter: MemoryFilter): ReadyFilter {
  return {
    types: set(filter.types),
    agents: set(filter.agents?.map(nameKey)),
    tagsAll: (filter.tagsAll ?? []).map(nfc),
    since: filter.since === undefined ? undefined : isoTime(filter.since),
    until: filter.until === undefined ? undefined : isoTime(filter.until),
    superseded: filter.includeSuperseded ?? false,
    forgotten: filter.includeForgotten ?? false,
  };
}

/** What people ask for. */
export interface Selection extends Pick<MemoryFilter, 'agents'> {
  type?: MemoryType | readonly MemoryType[] | undefined;
  tags?: readonly string[] | undefined;
  /** Days or moments; a day is taken as a whole. */
  since?: string | undefined;
  until?: string | undefined;
  /** Also what was forgotten or superseded. */
  all?: boolean | undefined;
}

export function filterOf({ type, agents, tags, since, until, all }: Selection): MemoryFilter {
  return {
    types: type === undefined ? undefined : [type].flat(),
    agents,
    tagsAll: tags,
    since: since === undefined ? undefined : momentOf(since, 'first'),
    until: until === undefined ? undefined : momentOf(until, 'last'),
    includeSuperseded: all,
    includeForgotten: all,
  };
}

export function passes(entry: MemoryEntry, filter: ReadyFilter): boolean {
  return (
    (filter.types?.has(entry.type) ?? true) &&
    (filter.agents?.has(nameKey(entry.agent)) ?? true) &&
    filter.tagsAll.every((tag) => entry.tags.includes(tag)) &&
    (filter.since === undefined || entry.updatedAt >= filter.since) &&
    (filter.until === undefined || entry.updatedAt <= filter.until) &&
    (filter.superseded || entry.supersededAt === undefined) &&
    (filter.forgotten || entry.forgottenAt === undefined)
  );
}

export type Position = Pick<MemoryEntry, 'createdAt' | 'type' | 'id'>;

function byPosition(a: Position, b: Position): number {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  if (a.type !== b.type) return typeIndex(a) - typeIndex(b);
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

const typeIndex = ({ type }: Pick<MemoryKey, 'type'>): number => MEMORY_TYPES.indexOf(type);

/** One page of sorted entries that begin after the page's mark; there may be more of them than the page takes. */
export function pageOf(sorted: readonly MemoryEntry[], limit: number): MemoryPage {
  const entries = sorted.slice(0, limit);
  const last = entries.at(-1);
  if (sorted.length <= limit || last === undefined) return { entries, next: undefined };
  const mark = JSON.stringify([last.createdAt, last.type, last.id]);
  return { entries, next: Buffer.from(mark).toString('base64url') };
}

export function positionOf(after: string): Position {
  const value = jsonIn(Buffer.from(after, 'base64url').toString('utf8'));
  if (Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === 'string')) {
    const [createdAt, type, id] = value as [string, string, string];
    const known = MEMORY_TYPES.find((name) => name === type);
    if (known !== undefined && isMoment(createdAt)) return { createdAt, type: known, id };
  }
  throw foreignCursor();
}

export function listed(entries: readonly MemoryEntry[], page: Page): MemoryPage {
  const from = page.after === undefined ? undefined : positionOf(page.after);
  const rest = from === undefined ? [...entries] : entries.filter((entry) => byPosition(from, entry) < 0);
  return pageOf(rest.sort(byPosition), page.limit);
}

/** So many memories that are alike in all but the times, or one. */
export interface Group extends Pick<MemoryEntry, 'type' | 'agent' | 'createdAt' | 'updatedAt'> {
  supersededAt?: string | null;
  forgottenAt?: string | null;
  n?: number;
}

export function tally(groups: Iterable<Group>): MemoryStats {
  const byType = Object.fromEntries(MEMORY_TYPES.map((type) => [type, 0])) as Record<MemoryType, number>;
  const agents = new Map<string, number>();
  const stats = { live: 0, superseded: 0, forgotten: 0 };
  let [total, oldest, newest]: [number, string | undefined, string | undefined] = [0, undefined, undefined];
  for (const group of groups) {
    const { type, agent, n = 1, createdAt, updatedAt } = group;
    total += n;
    const state = group.forgottenAt ? 'forgotten' : group.supersededAt ? 'superseded' : 'live';
    stats[state] += n;
    if (state === 'live') {
      byType[type] += n;
      agents.set(agent, (agents.get(agent) ?? 0) + n);
    }
    if (oldest === undefined || createdAt < oldest) oldest = createdAt;
    if (newest === undefined || updatedAt > newest) newest = updatedAt;
  }
  const byAgent = Object.fromEntries([...agents].sort(([a], [b]) => (a < b ? -1 : 1)));
  return { total, ...stats, byType, byAgent, oldest, newest };
}
