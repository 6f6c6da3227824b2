import { randomUUID } from 'node:crypto';
import type { MemoryType } from '../../../model/memory.ts';
import type { Analyser } from '../../../meaning/analyser.ts';
import { equal, payloadOf, storedOf, type RawPayload } from './payload.ts';
import type { Operation, Point, Points } from './points.ts';

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
export function wordsOnly(id: string, payload: object, sameText: boolean): Operation {
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
