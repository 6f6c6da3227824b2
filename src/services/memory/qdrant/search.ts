import type { Schemas } from '@qdrant/js-client-rest';
import type { MemoryEntry, MemoryHit } from '../../../model/memory.ts';
import type { MemoryQuery, Stored, StoreOptions, VectorSpace, Wanted } from '../engine.ts';
import {
  type Candidate,
  type Position,
  byPosition,
  candidatesFor,
  keyText,
  ranked,
  readyFilter,
  spaceText,
  termsOf,
  unmatched,
  weighed,
} from '../rank.ts';
import type { Shelf } from './collections.ts';
import { anyOf, CHANGED, conditions, equal, storedOf, type Condition, type Filter } from './payload.ts';

/** Memories that are looked at because they have any of the words, from each collection. */
const BY_WORDS = 300;
/** And for each word, so that a common one does not hide what a rare one leads to. */
const BY_EACH_WORD = 30;
const WORDS_ASKED = 48;
/** Changed, forgotten and superseded ones, whose copies in files are behind. */
const MOST_CHANGED = 2_000;

const WITHOUT_REVISIONS = { exclude: ['revisions'] };

/** Of a long text the longest words are asked for, which are seldom the common ones. */
function asked(terms: readonly string[]): string[] {
  const each = [...new Set(terms)];
  return each.length <= WORDS_ASKED ? each : each.sort((a, b) => b.length - a.length).slice(0, WORDS_ASKED);
}

/**
 * The best of all collections together, with one request to each. How rare a word is, is taken from what was looked at: to
 * count it in each collection takes a request a word.
 */
export async function searched(
  shelves: readonly Shelf[],
  query: MemoryQuery,
  wanted: Wanted,
  options: StoreOptions,
): Promise<{ hits: MemoryHit[]; changed: Stored[] }> {
  const { vector, ways, limit, minScore } = query;
  const filter = readyFilter(query.filter);
  const terms = asked(query.terms);
  const found = await Promise.all(
    shelves
      .filter(({ type }) => filter.types?.has(type) ?? true)
      .map((shelf) => candidates(shelf, { ...query, terms }, conditions(filter), wanted, options)),
  );
  const looked = found.flatMap(({ near }) => near);
  const frequency = new Map<string, number>();
  for (const candidate of looked)
    for (const term of new Set(candidate.terms)) frequency.set(term, (frequency.get(term) ?? 0) + 1);
  const words = weighed(terms, (term) => frequency.get(term) ?? 0, looked.length, ways);
  const ranking = { compared: vector !== undefined, limit, minScore };
  const hits: MemoryHit[] = ranked(words, looked, ranking);
  if (wanted.all) {
    const known = new Set(hits.map(({ entry }) => keyText(entry)));
    const others = looked.map(({ entry }) => entry).filter((entry) => !known.has(keyText(entry)));
    hits.push(
      ...others
        .sort(byPosition)
        .slice(0, Math.max(0, limit - hits.length))
        .map(unmatched),
    );
  }
  return { hits, changed: found.flatMap(({ changed }) => changed) };
}

async function candidates(
  { points, type }: Shelf,
  query: MemoryQuery,
  must: readonly Condition[],
  wanted: Wanted,
  { space, analyser }: StoreOptions,
): Promise<{ near: Candidate[]; changed: Stored[] }> {
  const near = query.vector === undefined || space === undefined ? undefined : [...query.vector];
  const inSpace = space === undefined ? [] : [equal('embedder', spaceText(space))];
  const search = (more: readonly Condition[], limit: number): Schemas['QueryRequest'] => ({
    ...(near === undefined ? {} : { query: near }),
    filter: { must: [...must, ...(near === undefined ? [] : inSpace), ...more] },
    limit,
    with_payload: WITHOUT_REVISIONS,
  });
  /** What has no vector to compare yet. */
  const waiting = (more: readonly Condition[]): Schemas['QueryRequest'] => ({
    filter: { must: [...must, ...more], must_not: inSpace },
    limit: BY_WORDS,
    with_payload: WITHOUT_REVISIONS,
  });
  const withWords = query.terms.length === 0 ? [] : [anyOf('terms', query.terms)];
  const searches = [
    ...(near === undefined ? [] : [search([], candidatesFor(query.limit))]),
    ...(withWords.length === 0 ? [] : [search(withWords, BY_WORDS)]),
    ...(query.terms.length < 2
      ? []
      : query.terms.map((term) => search([equal('terms', term)], BY_EACH_WORD))),
    ...(near === undefined || withWords.length === 0 ? [] : [waiting(withWords)]),
    ...(wanted.all ? [near === undefined ? search([], query.limit) : waiting([])] : []),
  ];
  const changes = { filter: CHANGED, limit: MOST_CHANGED, with_payload: true };
  if (searches.length === 0 && !wanted.files) return { near: [], changed: [] };
  const results = await points.query([...searches, ...(wanted.files ? [changes] : [])]);
  const changed = wanted.files ? (results.pop() ?? []) : [];
  // A point without a vector of ours has no score, and one without a question has one that says nothing.
  const found = new Map(results.flat().map((point) => [point.id, point]));
  return {
    near: [...found.values()].map(({ id, payload, score }) => {
      const { entry } = storedOf(id, type, payload);
      const isCompared = near !== undefined && payload.embedder === spaceText(space as VectorSpace);
      return { entry, terms: termsOf(analyser, entry), cosine: isCompared ? score : undefined };
    }),
    changed: changed.map(({ id, payload }) => storedOf(id, type, payload)),
  };
}

/** The first entries of a collection after a place in the order of lists. */
export async function firstOf(
  { points, type }: Shelf,
  filter: Filter,
  count: number,
  from: Position | undefined,
): Promise<MemoryEntry[]> {
  // The server sorts by time only, so it is asked for more until those of one moment are all there.
  for (let size = count + 16; ; size *= 4) {
    const start =
      from === undefined ? {} : { start_from: new Date(Date.parse(from.createdAt) + 1).toISOString() };
    const found = await points.scroll(filter, size, {
      order_by: { key: 'created_at', direction: 'desc', ...start },
      with_payload: WITHOUT_REVISIONS,
    });
    const entries = found.map(({ id, payload }) => storedOf(id, type, payload).entry).sort(byPosition);
    const last = entries.at(-1)?.createdAt;
    const rest = from === undefined ? entries : entries.filter((entry) => byPosition(from, entry) < 0);
    if (found.length < size) return rest.slice(0, count);
    // The last timestamp may continue after what was read.
    const whole = rest.filter(({ createdAt }) => createdAt !== last);
    if (whole.length >= count) return whole.slice(0, count);
  }
}
