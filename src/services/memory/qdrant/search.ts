import type { Schemas } from '@qdrant/js-client-rest';
import { mapLimited } from '../../../base/async.ts';
import type { MemoryEntry, MemoryHit } from '../../../model/memory.ts';
import { candidatesFor, ranked, rarest, spaceText, weighed, type Candidate } from '../rank.ts';
import { byPosition, type Position, type ReadyFilter } from '../select.ts';
import type { MemoryQuery, StoreOptions } from '../store.ts';
import type { Shelf } from './collections.ts';
import { anyOf, conditions, equal, storedOf, termsOf, type Condition } from './payload.ts';
import type { Point } from './points.ts';

/** Memories that are looked at because of their words alone, from each collection. */
const BY_WORDS = 600;
const WORDS_ASKED = 64;
const AT_ONCE = 16;

const WITHOUT_REVISIONS = { exclude: ['revisions'] };

/** Words cost a request each; of a long text the longest are asked for, which are seldom the common ones. */
export function asked(terms: readonly string[]): string[] {
  const each = [...new Set(terms)];
  return each.length <= WORDS_ASKED ? each : each.sort((a, b) => b.length - a.length).slice(0, WORDS_ASKED);
}

/** How many memories have each word, over all collections, whatever their state. */
export async function frequencies(
  shelves: readonly Shelf[],
  terms: readonly string[],
): Promise<Map<string, number>> {
  const pairs = terms.flatMap((term) => shelves.map((shelf) => ({ term, shelf })));
  const counts = new Map<string, number>();
  await mapLimited(pairs, AT_ONCE, async ({ term, shelf }) => {
    const count = await shelf.points.count({ must: [equal('terms', term)] });
    counts.set(term, (counts.get(term) ?? 0) + count);
  });
  return counts;
}

/** The best of all collections together, then weighed against each other. */
export async function searched(
  shelves: readonly Shelf[],
  { vector, limit, minScore }: MemoryQuery,
  filter: ReadyFilter,
  counted: { frequency: ReadonlyMap<string, number>; total: number },
  options: StoreOptions,
): Promise<MemoryHit[]> {
  const must = conditions(filter);
  const wording = rarest(counted.frequency, BY_WORDS);
  const found = await Promise.all(
    shelves
      .filter(({ type }) => filter.types?.has(type) ?? true)
      .map(async (shelf) => candidates(shelf, vector, must, wording, candidatesFor(limit), options)),
  );
  const words = weighed(
    [...counted.frequency.keys()],
    (term) => counted.frequency.get(term) ?? 0,
    counted.total,
  );
  return ranked(words, found.flat(), { compared: vector !== undefined, limit, minScore });
}

async function candidates(
  { points, type }: Shelf,
  wanted: Float32Array | undefined,
  must: readonly Condition[],
  wording: readonly string[],
  count: number,
  { space, analyser }: StoreOptions,
): Promise<Candidate[]> {
  const near = wanted === undefined || space === undefined ? undefined : [...wanted];
  const inSpace = space === undefined ? [] : [equal('embedder', spaceText(space))];
  const byVector = (more: Condition[], size: number): Schemas['QueryRequest'] => ({
    query: near as number[],
    filter: { must: [...must, ...inSpace, ...more] },
    limit: size,
    with_payload: WITHOUT_REVISIONS,
  });
  const withWords = wording.length === 0 ? [] : [anyOf('terms', wording)];
  const [nearest, worded] = await Promise.all([
    near === undefined
      ? []
      : points.query([byVector([], count), ...(withWords.length === 0 ? [] : [byVector(withWords, count)])]),
    withWords.length === 0
      ? []
      : points.scroll({ must: [...must, ...withWords] }, BY_WORDS, { with_payload: WITHOUT_REVISIONS }),
  ]);
  const all = new Map<string, Point>();
  for (const point of worded) all.set(point.id, point);
  for (const point of nearest.flat()) all.set(point.id, point);
  const unscored = [...all.values()].filter(({ score }) => score === undefined).map(({ id }) => id);
  if (near !== undefined && unscored.length > 0) {
    const exactly = { ...byVector([{ has_id: unscored }], unscored.length), with_payload: false };
    const [scored = []] = await points.query([{ ...exactly, params: { exact: true } }]);
    for (const { id, score } of scored) {
      const point = all.get(id);
      if (point !== undefined) all.set(id, { ...point, score });
    }
  }
  return [...all.values()].map(({ id, payload, score }) => ({
    entry: storedOf(id, type, payload).entry,
    terms: termsOf(payload, analyser),
    cosine: score,
  }));
}

/** The first entries of a collection after a place in the order of lists. */
export async function firstOf(
  { points, type }: Shelf,
  filter: { must: Condition[]; must_not?: Condition[] },
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
