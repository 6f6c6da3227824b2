import type { MemoryEntry, MemoryType } from '../../model/memory.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import type { MemoryStore } from './engine.ts';
import type { Recalled } from './recall.ts';
import type { Session, OpenMemory } from './opened.ts';
import { isLiving } from './select.ts';

/**
 * A memory and its copies in files are one; and a copy of what was forgotten, superseded or has been said otherwise since
 * is not shown either.
 */
export async function withoutCopies(
  hits: readonly Recalled[],
  { store }: Session,
  opened: OpenMemory,
  room: number,
): Promise<Recalled[]> {
  const kept: Recalled[] = [];
  for (const hit of hits) {
    if (kept.length >= room) break;
    // Two memories of the store with the same text have separate ids, by which each is changed.
    const twin = kept.find((other) => !(other.stored && hit.stored) && sameText(other.entry, hit.entry));
    if (twin !== undefined) {
      absorb(twin, hit);
      continue;
    }
    if (!hit.stored) {
      const old = await isEarlier(store, hit.entry.type, hit.entry.text);
      if ((old || (await hasGone(store))) && (await isGone(hit.entry, old, store, opened))) continue;
    }
    kept.push(hit);
  }
  return kept;
}

function absorb(twin: Recalled, hit: Recalled): void {
  twin.sources.push(...hit.sources.filter((source) => !twin.sources.includes(source)));
  // What the store has says more: the agent that wrote it, tags, the id to change it by.
  if (!hit.stored || twin.stored) return;
  twin.entry = hit.entry;
  twin.stored = true;
}

function sameText(a: MemoryEntry, b: MemoryEntry): boolean {
  return a.type === b.type && (a.id === b.id || lineText(a.text) === lineText(b.text));
}

const LOOKED_AT = 5;

/** `old` says that it is an earlier wording; another memory may still, or again, say the same. */
async function isGone(
  entry: MemoryEntry,
  old: boolean,
  store: MemoryStore,
  opened: OpenMemory,
): Promise<boolean> {
  const own = await store.get(entry);
  if (own !== undefined && !isLiving(own)) return true;
  const hits = await store.search({
    terms: opened.analyser.terms(entry.text).slice(0, 40),
    filter: { types: [entry.type], includeForgotten: true, includeSuperseded: true },
    limit: LOOKED_AT,
  });
  if (old)
    return !hits.some(({ entry: other }) => isLiving(other) && lineText(other.text) === lineText(entry.text));
  return hits.some(({ entry: other }) => !isLiving(other) && sameText(other, entry));
}

/** Whether anything in a store is forgotten or superseded, for as long as nothing changes: to count takes long. */
const goneBefore = new WeakMap<MemoryStore, { stamp: string; any: boolean }>();

async function hasGone(store: MemoryStore): Promise<boolean> {
  const stamp = await store.stamp();
  const found = goneBefore.get(store);
  if (found?.stamp === stamp) return found.any;
  const any = await store.hasGone();
  goneBefore.set(store, { stamp, any });
  return any;
}

/** The earlier wordings in a store, for as long as nothing changes. */
const known = new WeakMap<MemoryStore, { stamp: string; lines: ReadonlySet<string> }>();

const keyOf = (type: MemoryType, text: string): string => `${type}\n${lineText(text)}`;

/** Whether a text is what a memory said before it was changed: a file that has it is behind the store. */
export async function isEarlier(store: MemoryStore, type: MemoryType, text: string): Promise<boolean> {
  const stamp = await store.stamp();
  let found = known.get(store);
  if (found?.stamp !== stamp) {
    const lines = new Set<string>();
    const reworded = await store.reworded();
    for (const { entry, revisions } of reworded)
      for (const revision of revisions) lines.add(keyOf(entry.type, revision.text));
    // What one said before, another may say now.
    for (const { entry } of reworded) lines.delete(keyOf(entry.type, entry.text));
    found = { stamp, lines };
    known.set(store, found);
  }
  return found.lines.has(keyOf(type, text));
}
