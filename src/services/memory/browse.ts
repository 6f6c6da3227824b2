import type { MemoryEntry, MemoryType } from '../../model/memory.ts';
import { BmadError } from '../../base/errors.ts';
import { breath } from '../../base/pace.ts';
import { nameKey } from '../../base/text/same-name.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import { type OpenMemory, kitCandidates, shownBy } from './opened.ts';
import { isLiving } from './rank.ts';
import type { MemoryStore } from './store.ts';
import { allEntries } from './store.ts';

export interface Browsed {
  entry: MemoryEntry;
  /** Files of the project that have it, with the line. */
  sources: string[];
  stored: boolean;
  /** False for an entry of a file that has no date. */
  dated: boolean;
}

interface Browsing {
  takes?: (each: Browsed) => boolean;
  /** To mask secrets in thousands of texts takes seconds. */
  most?: number;
}

/**
 * Everything that is known of a type, in the store and in the project's files, newest first. A memory and its copies are
 * one; copies of what was forgotten, superseded or has been said otherwise since are left out, and `gone` has their places.
 * `total` counts also what is beyond `most`, and `stored` says whether all of it is in the store.
 */
export async function browse(
  opened: OpenMemory,
  type: MemoryType,
  agents?: readonly string[],
  { takes = () => true, most = Infinity }: Browsing = {},
): Promise<{
  entries: Browsed[];
  total: number;
  stored: boolean;
  /** The id of what is at a place, also of what is not among the entries. */
  ids: ReadonlyMap<string, string>;
  gone: string[];
  notes: string[];
}> {
  const wanted = agents === undefined ? undefined : new Set(agents.map(nameKey));
  const { stored, store, notes } = await storedEntries(opened, type);
  const found = new Map<string, Browsed>();
  const gone = new Set<string>();
  const living = new Set<string>();
  const left: string[] = [];
  // There may be a hundred thousand.
  for (const entry of stored) {
    await breath();
    const key = lineText(entry.text);
    (isLiving(entry) ? living : gone).add(key);
    if (!isLiving(entry)) gone.add(entry.id);
    if (isLiving(entry) && (wanted === undefined || wanted.has(nameKey(entry.agent))))
      found.set(key, { entry, sources: [], stored: true, dated: true });
  }
  const earlier = (await store?.past())?.earlier;
  for (const { entry, line: key, names: whose, place, dated } of await kitCandidates(opened, undefined)) {
    await breath();
    if (entry.type !== type) continue;
    if (wanted !== undefined && !whose.some((name) => wanted.has(nameKey(name)))) continue;
    const twin = found.get(key);
    const old = !living.has(key) && earlier?.has(`${type}\n${key}`) === true;
    if (twin !== undefined) twin.sources.push(place);
    else if (gone.has(key) || gone.has(entry.id) || old) left.push(place);
    else found.set(key, { entry, sources: [place], stored: false, dated });
  }
  const ids = new Map(
    [...found.values()].flatMap(({ entry, sources }) => sources.map((at) => [at, entry.id])),
  );
  const shown = shownBy(opened);
  // Entries lower in a file are newer.
  const entries = [...found.values()].toReversed().filter(takes).sort(newestFirst);
  const masked: Browsed[] = [];
  for (const each of entries.slice(0, most)) {
    await breath();
    masked.push({ ...each, entry: shown.entry(each.entry) });
  }
  return {
    entries: masked,
    total: entries.length,
    stored: entries.every((each) => each.stored),
    ids,
    gone: left,
    notes: [...notes, ...(await opened.files.read()).problems],
  };
}

/** When the store cannot be opened, the project's own files still can be read. */
async function storedEntries(
  opened: OpenMemory,
  type: MemoryType,
): Promise<{ stored: MemoryEntry[]; store?: MemoryStore; notes: string[] }> {
  try {
    const { store } = await opened.session();
    const filter = { types: [type], includeForgotten: true, includeSuperseded: true };
    return { stored: await allEntries(store, filter), store, notes: [] };
  } catch (error) {
    if (!(error instanceof BmadError) || error.code !== 'unavailable') throw error;
    return { stored: [], notes: [`DEGRADED, only the project's files were read: ${error.message}`] };
  }
}

/** Entries without a date are older than those with one. */
function newestFirst(a: Browsed, b: Browsed): number {
  const [first = '', second = ''] = [a, b].map(({ dated, entry }) => (dated ? entry.createdAt : ''));
  return first === second ? 0 : first > second ? -1 : 1;
}
