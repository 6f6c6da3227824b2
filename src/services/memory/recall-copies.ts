import type { MemoryEntry } from '../../model/memory.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import { isEarlier } from './earlier.ts';
import type { Recalled } from './recall.ts';
import type { Session, OpenMemory } from './opened.ts';

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
  const { superseded, forgotten } = await store.stats();
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
      if ((old || superseded + forgotten > 0) && (await isGone(hit.entry, old, store, opened))) continue;
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
  store: Session['store'],
  opened: OpenMemory,
): Promise<boolean> {
  const hits = await store.search({
    terms: opened.analyser.terms(entry.text).slice(0, 40),
    filter: { types: [entry.type], includeForgotten: true, includeSuperseded: true },
    limit: LOOKED_AT,
  });
  const isLiving = (other: MemoryEntry): boolean =>
    other.forgottenAt === undefined && other.supersededAt === undefined;
  if (old)
    return !hits.some(({ entry: other }) => isLiving(other) && lineText(other.text) === lineText(entry.text));
  return hits.some(({ entry: other }) => !isLiving(other) && sameText(other, entry));
}
