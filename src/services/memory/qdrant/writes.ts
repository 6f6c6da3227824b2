import { randomUUID } from 'node:crypto';
import { BmadError } from '../../../base/errors.ts';
import type { MemoryEntry, MemoryKey, MemoryType } from '../../../model/memory.ts';
import type { Decide, Decision, Stored, StoreOptions, VectorFor } from '../engine.ts';
import { spaceText } from '../rank.ts';
import { isForgotten } from '../select.ts';
import type { Shelf } from './collections.ts';
import { anyOf, type Condition, empty, equal, payloadOf, type RawPayload, storedOf } from './payload.ts';
import type { Operation, Point, Points } from './client.ts';
import type { Analyser } from '../../../meaning/analyse.ts';

/** How often a change is retried because another process changed the same memory at the same time. */
const ROUNDS = 8;
/** Writes that a memory remembers, so that a writer can see that its own took effect. */
const TRAIL = 16;

interface StoredPoint {
  stored: Stored;
  changeId: string | undefined;
  embedder: unknown;
  trail: readonly string[];
}

interface Planned {
  id: string;
  decision: Decision;
  textChanged: boolean;
  changeId: string;
}

/**
 * Changes memories of one shelf. Qdrant has no transactions: each write is made only if the memory is still as it was
 * read, then checked; if another process was faster, the change is decided again on what it wrote.
 */
export async function changed<T>(
  shelf: Shelf,
  keys: readonly { key: MemoryKey; index: number }[],
  decide: Decide<T>,
  options: StoreOptions,
): Promise<Map<number, T>> {
  const answers = new Map<number, T>();
  let open = keys;
  for (let round = 0; open.length > 0; round++) {
    if (round === ROUNDS) throw contended(shelf);
    const found = await read(shelf, open);
    const plans = new Map<string, Planned>();
    for (const { key, index } of open) {
      const before = plans.get(key.id);
      const { decision, answer } = decide(before?.decision.next ?? found.get(key.id)?.stored, index);
      answers.set(index, answer);
      const plan = planned(key.id, decision, before, found.get(key.id), options);
      if (plan !== undefined) plans.set(key.id, plan);
    }
    const lost = await write(shelf, [...plans.values()], found, options);
    open = open.filter(({ key }) => lost.has(key.id));
  }
  return answers;
}

async function read(shelf: Shelf, keys: readonly { key: MemoryKey }[]): Promise<Map<string, StoredPoint>> {
  const points = await shelf.points.retrieve([...new Set(keys.map(({ key }) => key.id))]);
  return new Map(
    points.map(({ id, payload }) => [
      id,
      {
        stored: storedOf(id, shelf.type, payload),
        changeId: typeof payload.change_id === 'string' ? payload.change_id : undefined,
        embedder: payload.embedder,
        trail: Array.isArray(payload.trail) ? (payload.trail as string[]) : [],
      },
    ]),
  );
}

/** One write for each memory, even if a batch names it twice. */
function planned(
  id: string,
  decision: Decision,
  before: Planned | undefined,
  found: StoredPoint | undefined,
  { space }: StoreOptions,
): Planned | undefined {
  const current = before?.decision.next ?? found?.stored;
  const next = decision.next ?? current;
  const vector = decision.vector ?? (decision.textChanged ? undefined : before?.decision.vector);
  const embedded = space !== undefined && before === undefined && found?.embedder === spaceText(space);
  if (decision.next === undefined && before === undefined && (vector === undefined || embedded))
    return undefined;
  if (next === undefined) return undefined;
  return {
    id,
    decision: { next, vector, textChanged: decision.textChanged },
    textChanged: decision.textChanged || before?.textChanged === true,
    changeId: randomUUID(),
  };
}

async function write(
  shelf: Shelf,
  plans: readonly Planned[],
  found: ReadonlyMap<string, StoredPoint>,
  options: StoreOptions,
): Promise<Set<string>> {
  if (plans.length === 0) return new Set();
  const payloads = new Map(
    plans.map(({ id, decision, changeId }) => [
      id,
      {
        ...payloadOf(decision.next as Stored, options.analyser, changeId),
        trail: [changeId, ...(found.get(id)?.trail ?? [])].slice(0, TRAIL),
      },
    ]),
  );
  await shelf.points.write(
    plans.map((plan) => operation(plan, payloads.get(plan.id) ?? {}, found.get(plan.id), options)),
  );
  const after = await shelf.points.retrieve(
    plans.map(({ id }) => id),
    ['trail'],
  );
  const trails = new Map(after.map(({ id, payload }) => [id, payload.trail]));
  const won = plans.filter(({ id, changeId }) => {
    const trail = trails.get(id);
    return Array.isArray(trail) && trail.includes(changeId);
  });
  const copies = won.map(({ id, textChanged }) => wordsOnly(id, payloads.get(id) ?? {}, !textChanged));
  await Promise.all(shelf.others.map(async (other) => other.write(copies)));
  return new Set(plans.filter((plan) => !won.includes(plan)).map(({ id }) => id));
}

function operation(
  { id, decision, textChanged }: Planned,
  payload: object,
  found: StoredPoint | undefined,
  { space }: StoreOptions,
): Operation {
  const { vector } = decision;
  const unchanged: Condition =
    found !== undefined && found.changeId === undefined
      ? empty('change_id')
      : anyOf('change_id', [found?.changeId ?? 'none']);
  if (vector !== undefined && space !== undefined) {
    const point = { id, vector: [...vector], payload: { ...payload, embedder: spaceText(space) } };
    return { upsert: { points: [point], update_filter: { must: [unchanged] } } };
  }
  if (textChanged)
    return {
      upsert: {
        points: [{ id, vector: {}, payload: { ...payload, embedder: null } }],
        update_filter: { must: [unchanged] },
      },
    };
  return { set_payload: { payload: { ...payload }, filter: { must: [{ has_id: [id] }, unchanged] } } };
}

/** Removes what is forgotten, unless it is restored at this moment. */
export async function purged(shelf: Shelf, ids: readonly string[]): Promise<MemoryEntry[]> {
  if (ids.length === 0) return [];
  const before = (await shelf.points.retrieve(ids)).map(
    ({ id, payload }) => storedOf(id, shelf.type, payload).entry,
  );
  const forgotten = before.filter(isForgotten);
  if (forgotten.length === 0) return [];
  const filter = { must: [{ has_id: forgotten.map(({ id }) => id) }], must_not: [empty('forgotten_at')] };
  for (const points of [shelf.points, ...shelf.others]) await points.write([{ delete: { filter } }]);
  const left = await shelf.points.retrieve(
    forgotten.map(({ id }) => id),
    ['type'],
  );
  return forgotten.filter(({ id }) => !left.some((point) => point.id === id));
}

/** Vectors for texts that are still at the revision that was embedded: the mark is set only then. */
export async function vectorsSet(
  shelf: Shelf,
  vectors: readonly VectorFor[],
  space: string,
): Promise<number> {
  const known = await shelf.points.retrieve(
    vectors.map(({ key }) => key.id),
    ['revision'],
  );
  const revisions = new Map(known.map(({ id, payload }) => [id, payload.revision ?? 1]));
  const current = vectors.filter(({ key, revision }) => revisions.get(key.id) === revision);
  await shelf.points.write(
    current.flatMap(({ key: { id }, revision, vector }): Operation[] => {
      const same: Condition =
        revision === 1 ? { should: [equal('revision', 1), empty('revision')] } : equal('revision', revision);
      const now = { change_id: randomUUID(), changed_at: new Date().toISOString() };
      return [
        { update_vectors: { points: [{ id, vector: [...vector] }] } },
        { set_payload: { payload: { embedder: space, ...now }, filter: { must: [{ has_id: [id] }, same] } } },
      ];
    }),
  );
  return current.length;
}

function contended(shelf: Shelf): BmadError {
  return new BmadError('unavailable', `Other processes keep changing the same memories in ${shelf.type}.`, {
    hint: 'Try again in a moment.',
  });
}

/** Brings the words of one collection into another, without vectors: whatever is missing there or older. */
export async function copied(from: Points, to: Points, type: MemoryType, analyser: Analyser): Promise<void> {
  const there = new Map<string, string>();
  for await (const points of to.all({}, ['changed_at']))
    for (const { id, payload } of points) there.set(id, changedAt(payload));
  for await (const points of from.all({}, ['changed_at'])) {
    const newer = points.filter(({ id, payload }) => {
      const known = there.get(id);
      return known === undefined || known < changedAt(payload);
    });
    const full = await from.retrieve(newer.map(({ id }) => id));
    const before = await to.retrieve(
      newer.map(({ id }) => id),
      ['text'],
    );
    const texts = new Map(before.map(({ id, payload }) => [id, payload.text]));
    await to.write(
      full.map((point) => copyOf(point, type, analyser, texts.get(point.id) === point.payload.text)),
    );
  }
}

const changedAt = ({ changed_at: at }: RawPayload): string => (typeof at === 'string' ? at : '');

function copyOf({ id, payload }: Point, type: MemoryType, analyser: Analyser, sameText: boolean): Operation {
  const stored = storedOf(id, type, payload);
  const changeId = typeof payload.change_id === 'string' ? payload.change_id : randomUUID();
  const copy = payloadOf(stored, analyser, changeId);
  return wordsOnly(id, { ...copy, changed_at: changedAt(payload) || stored.entry.createdAt }, sameText);
}

/** A write without a vector: an existing one is kept if its text is. */
function wordsOnly(id: string, payload: object, sameText: boolean): Operation {
  return sameText
    ? { set_payload: { payload: { ...payload }, points: [id] } }
    : { upsert: { points: [{ id, vector: {}, payload: { ...payload, embedder: null } }] } };
}

/** Recomputes the words of points that a different analyser, or none, has processed. */
export async function reanalysed(points: Points, type: MemoryType, analyser: Analyser): Promise<void> {
  for await (const page of points.all({ must_not: [equal('analyser', analyser.id)] }, true))
    await points.write(
      page.map(({ id, payload }) => {
        const { terms, analyser: by } = payloadOf(storedOf(id, type, payload), analyser, '');
        return { set_payload: { payload: { terms, analyser: by }, points: [id] } };
      }),
    );
}
