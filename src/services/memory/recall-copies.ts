import type { MemoryEntry, MemoryType } from '../../model/memory.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import type { Analyser } from '../../meaning/analyse.ts';
import type { Answer, MemoryIndex, Stored } from './engine.ts';
import type { Recalled } from './recall.ts';
import { isLiving } from './select.ts';

/** A memory and its copies in files are one, and what the store is ahead of is not shown. */
export async function withoutCopies(
  hits: readonly Recalled[],
  isBehindStore: Answer['isBehind'],
  most: number,
): Promise<Recalled[]> {
  const kept: Recalled[] = [];
  for (const hit of hits) {
    // Two memories of the store with the same text have separate ids, by which each is changed.
    const twin = kept.find((other) => !(other.stored && hit.stored) && sameText(other.entry, hit.entry));
    if (twin !== undefined) absorb(twin, hit);
    else if (kept.length < most && (hit.stored || !(await isBehindStore(hit.entry)))) kept.push(hit);
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

/** Whether an entry of a file says what was forgotten, superseded or said otherwise since. */
export async function isBehind(store: MemoryIndex, analyser: Analyser, entry: MemoryEntry): Promise<boolean> {
  const old = await isEarlier(store, entry.type, entry.text);
  if (!old && !(await hasGone(store))) return false;
  const own = await store.get(entry);
  if (own !== undefined && !isLiving(own)) return true;
  const hits = await store.search({
    terms: analyser.terms(entry.text).slice(0, 40),
    filter: { types: [entry.type], includeForgotten: true, includeSuperseded: true },
    limit: LOOKED_AT,
  });
  // Another memory may still, or again, say what one said before.
  if (old)
    return !hits.some(({ entry: other }) => isLiving(other) && lineText(other.text) === lineText(entry.text));
  return hits.some(({ entry: other }) => !isLiving(other) && sameText(other, entry));
}

/** Whether anything in a store is forgotten or superseded, for as long as nothing changes: to count takes long. */
const goneBefore = new WeakMap<MemoryIndex, { stamp: string; any: boolean }>();

async function hasGone(store: MemoryIndex): Promise<boolean> {
  const stamp = await store.stamp();
  const found = goneBefore.get(store);
  if (found?.stamp === stamp) return found.any;
  const any = await store.hasGone();
  goneBefore.set(store, { stamp, any });
  return any;
}

/** The earlier wordings in a store, for as long as nothing changes. */
const known = new WeakMap<MemoryIndex, { stamp: string; lines: ReadonlySet<string> }>();

export const lineKey = (type: MemoryType, text: string): string => `${type}\n${lineText(text)}`;

/** What memories said before they were changed, of those that have been, unless one of them says it now. */
export function earlierLines(reworded: readonly Stored[]): ReadonlySet<string> {
  const lines = new Set<string>();
  for (const { entry, revisions } of reworded)
    for (const revision of revisions) lines.add(lineKey(entry.type, revision.text));
  for (const { entry } of reworded) lines.delete(lineKey(entry.type, entry.text));
  return lines;
}

/** Whether a text is what a memory said before it was changed: a file that has it is behind the store. */
async function isEarlier(store: MemoryIndex, type: MemoryType, text: string): Promise<boolean> {
  return (await earlierIn(store)).has(lineKey(type, text));
}

/** All of them, for those who ask about many. */
export async function earlierIn(store: MemoryIndex): Promise<ReadonlySet<string>> {
  const stamp = await store.stamp();
  let found = known.get(store);
  if (found?.stamp !== stamp) {
    found = { stamp, lines: earlierLines(await store.reworded()) };
    known.set(store, found);
  }
  return found.lines;
}
