import { t } from '../../base/text/message.ts';
import type { MemoryEntry, MemoryType } from '../../model/memory.ts';
import { BmadError, ours } from '../../base/errors.ts';
import { createBounded, madeOnce, those } from '../../base/values.ts';
import { breath } from '../../base/async.ts';
import { nameKey } from '../../base/text/suggest.ts';
import { lineText } from '../../kit/memories/write.ts';
import { type KitCandidate, kitCandidates, type Known, type OpenMemory, shownBy } from './opened.ts';
import { allEntries, MemoryStore } from './store.ts';

export interface Browsed extends Known {
  /** False for an entry of a file that has no date. */
  dated: boolean;
}

/** All that is known of a type as it was found last: of thousands, most calls find them as they were. */
interface Listed {
  store: MemoryStore | undefined;
  stamp: string | undefined;
  candidates: readonly KitCandidate[];
  /** Newest first, nothing masked. */
  all: readonly Browsed[];
  gone: string[];
}

const MOST_KEPT = 20;
const nothingYet = () => createBounded<Listed>(MOST_KEPT);
const knownIn = madeOnce<OpenMemory, ReturnType<typeof nothingYet>>(nothingYet);
/** Of thousands, to wait for each takes longer than what is done with it. */
const SOME = 100;

/**
 * Everything that is known of a type, in the store and in the project's files, newest first. A memory and its copies are
 * one; copies of what was forgotten, superseded or has been said otherwise since are left out.
 */
export async function browse(
  opened: OpenMemory,
  type: MemoryType,
  agents?: readonly string[],
  /** To mask secrets in thousands of texts takes seconds. */
  { takes = () => true, most = Infinity }: { takes?: (each: Browsed) => boolean; most?: number } = {},
): Promise<{ entries: Browsed[]; notes: string[] }> {
  const { all, notes } = await known(opened, type, agents);
  const shown = shownBy(opened);
  const entries: Browsed[] = [];
  for (const each of all.filter(takes).slice(0, most)) {
    await breath();
    entries.push({ ...each, entry: shown.entry(each.entry) });
  }
  return { entries, notes };
}

/**
 * The same for one who puts thousands of them in an order and shows a few: nothing is masked but by `shown`, what is only
 * in the files that he has read himself is left out, and `gone` has the places of copies that are. `all` is the same list for as long as nothing has changed.
 */
export async function browseAll(opened: OpenMemory, type: MemoryType, read: readonly string[]) {
  const { entry: shown } = shownBy(opened);
  const { all, gone, candidates, notes } = await known(opened, type, undefined, read);
  let placed: Map<string, { entry: MemoryEntry }> | undefined;
  const idAt = (place: string): string | undefined => {
    placed ??= new Map<string, { entry: MemoryEntry }>([
      ...candidates.map((each) => [each.place, each] as const),
      ...all.flatMap((each) => each.sources.map((source) => [source, each] as const)),
    ]);
    return placed.get(place)?.entry.id;
  };
  return { all, gone, idAt, shown, notes };
}

async function known(
  opened: OpenMemory,
  type: MemoryType,
  agents: readonly string[] | undefined,
  read: readonly string[] = [],
): Promise<Listed & { notes: string[] }> {
  const { store, trouble } = await opened
    .session()
    .then((session) => ({ store: session.store, trouble: undefined }))
    .catch(ours(degraded, 'unavailable'));
  const candidates = await kitCandidates(opened, undefined);
  const notes = those(trouble, (await opened.files.read()).problems);
  const stamp = await store?.stamp();
  const key = [type, ...(agents ?? []), '', ...read].join('\n');
  const before = knownIn(opened).get(key);
  if (before?.store === store && before?.stamp === stamp && before?.candidates === candidates)
    return { ...before, notes };
  const listed = await allOf(store, candidates, type, agents, new Set(read));
  knownIn(opened).set(key, { store, stamp, candidates, ...listed });
  return { store, stamp, candidates, ...listed, notes };
}

async function allOf(
  store: MemoryStore | undefined,
  candidates: readonly KitCandidate[],
  type: MemoryType,
  agents: readonly string[] | undefined,
  read: ReadonlySet<string>,
): Promise<Pick<Listed, 'all' | 'gone'>> {
  const wanted = agents === undefined ? undefined : new Set(agents.map(nameKey));
  const found = new Map<string, Browsed>();
  const gone: string[] = [];
  for (const entry of store === undefined ? [] : await allEntries(store, { types: [type] }))
    if (wanted === undefined || wanted.has(nameKey(entry.agent)))
      found.set(lineText(entry.text), { entry, sources: [], stored: true, dated: true });
  const isBehind = await store?.isBehind();
  const own = candidates.filter(
    ({ from }) =>
      from.type === type && (wanted === undefined || from.names.some((name) => wanted.has(nameKey(name)))),
  );
  const others = read.size === 0 ? own : own.filter(({ from }) => !read.has(from.source));
  const lines = new Set(others.map(({ line }) => line));
  // Of thousands that are only there, nothing is made where there is nothing to compare them with.
  const isAlone = found.size + lines.size === 0 && isBehind === undefined;
  for (const [at, candidate] of isAlone ? [] : own.entries()) {
    if (at % SOME === 0) await breath();
    const { line, place } = candidate;
    const twin = found.get(line);
    if (twin !== undefined) twin.sources.push(place);
    else if (isBehind?.(candidate.entry) === true) gone.push(place);
    else if (lines.has(line)) {
      const { entry, dated } = candidate;
      found.set(line, { entry, sources: [place], stored: false, dated });
    }
  }
  // Entries lower in a file are newer.
  return { all: [...found.values()].toReversed().sort(newestFirst), gone };
}

/** When the store cannot be opened, the project's own files still can be read. */
const degraded = ({ message }: BmadError) => ({
  store: undefined,
  trouble: t`DEGRADED, only the project's files were read: ${message}`,
});

/** Entries without a date are older than those with one. */
function newestFirst(a: Browsed, b: Browsed): number {
  const [first, second] = [a.dated ? a.entry.createdAt : '', b.dated ? b.entry.createdAt : ''];
  return first === second ? 0 : first > second ? -1 : 1;
}
