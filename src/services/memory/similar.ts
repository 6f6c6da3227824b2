import { HOLDS_WITH, type MemoryEntry, type MemoryKey } from '../../model/memory.ts';
import { localDay, oneLine } from '../../base/text/text.ts';
import { lineText } from '../../kit/memories/write.ts';
import { ours } from '../../base/errors.ts';
import { embedded, isUndated, kitCandidates, type Known, type OpenMemory, type Session } from './opened.ts';
import { dot, normalized } from '../../meaning/vectors.ts';

export const holdsWith = (id: string): string => `${HOLDS_WITH}${id}`;

function isSettled(one: Pick<MemoryEntry, 'id' | 'tags'>, other: Pick<MemoryEntry, 'id' | 'tags'>): boolean {
  return one.tags.includes(holdsWith(other.id)) || other.tags.includes(holdsWith(one.id));
}

/** New tags, and those of the old ones that say what it holds beside: these are not for finding it. */
export function withSettled(tags: readonly string[], before: readonly string[] = []): string[] {
  return [...new Set([...tags, ...before.filter((tag) => tag.startsWith(HOLDS_WITH))])];
}

type Relation = 'same text' | 'about the same';

export interface Similar extends MemoryKey {
  relation: Relation;
  agent: string;
  text: string;
  /** From 0 to 1: in meaning, or by the words that both have, of the shorter one's. */
  nearness: number;
  /** When it was last changed; of an entry without a date, nothing. */
  updatedAt?: string;
  source?: string;
}

const LOOKED_AT = 12;
const SHOWN = 3;
const SNIPPET = 160;

/** From where on two memories are about the same; below, they are near by chance. docs/measurements/memory.md has the figures. */
const PAIR = { words: 0.5, meaning: 0.75 };

/** How near two memories are that are about the same: in meaning, or by the words that both have, of the shorter one's. */
export function nearnessOf(
  mine: ReadonlySet<string>,
  other: readonly string[],
  cosine = 0,
): number | undefined {
  const theirs = new Set(other);
  let both = 0;
  for (const term of theirs) if (mine.has(term)) both++;
  const words = both < 2 ? 0 : both / Math.min(mine.size, theirs.size);
  return words >= PAIR.words || cosine >= PAIR.meaning ? Math.max(words, cosine) : undefined;
}

/**
 * What is remembered already about the same as a new memory of its kind, nearest first. Whether it says the same, the contrary or something
 * beside it is for the one who remembers to judge: that can be read, and not be told from words.
 */
export async function similarTo(
  opened: OpenMemory,
  { store, embedder }: Session,
  fresh: MemoryKey & { agent: string; text: string; tags: readonly string[] },
  vector: Float32Array | undefined,
): Promise<Similar[]> {
  const own = opened.analyser.terms(fresh.text);
  const filter = { types: [fresh.type] };
  const hits = await store.search({ terms: own, vector, filter, limit: LOOKED_AT });
  const inFiles = (await kitCandidates(opened, embedder)).filter(({ from }) => from.type === fresh.type);
  const found = new Map<string, Similar>();
  const mine = new Set(own);
  const text = lineText(fresh.text).toLowerCase();
  const add = (
    entry: MemoryEntry,
    line: string,
    terms: readonly string[],
    cosine?: number,
    source?: string,
  ): void => {
    const said = line.toLowerCase();
    const isTwin = said === text;
    // The same memory, and its copies in files. The same text under another id is another memory.
    if (entry.id === fresh.id || (source !== undefined && isTwin) || isSettled(fresh, entry)) return;
    const nearness = isTwin ? 1 : nearnessOf(mine, terms, cosine);
    if (nearness === undefined || (!isTwin && found.has(said))) return;
    found.set(isTwin ? entry.id : said, {
      relation: isTwin ? 'same text' : 'about the same',
      id: entry.id,
      type: entry.type,
      agent: entry.agent,
      text: oneLine(entry.text, SNIPPET),
      nearness: Math.min(1, Math.round(nearness * 100) / 100),
      ...(isUndated(entry) ? {} : { updatedAt: entry.updatedAt }),
      ...(source === undefined ? {} : { source }),
    });
  };
  for (const { entry, cosine } of hits)
    add(entry, lineText(entry.text), opened.analyser.terms(entry.text), cosine);
  for (const { entry, line, said, from } of inFiles) {
    const cosine = vector && said.vector && dot(vector, said.vector);
    add(entry, line, said.terms(), cosine, from.source);
  }
  return [...found.values()].sort((a, b) => b.nearness - a.nearness).slice(0, SHOWN);
}

interface Against {
  id: string;
  /** What the other one is beside this; nothing where the dates do not tell. */
  age?: 'newer' | 'older' | undefined;
}

interface Distinct extends Known {
  also: number;
  against: Against[];
}

interface Kept {
  one: Known;
  also: number;
  terms: readonly string[];
  vector: Float32Array | undefined;
  near: Kept[];
}

/**
 * What was found, each text once: of those with the same one the newest, in the place of the first of them. Two that are about
 * the same both stay, side by side and the newer first.
 */
export async function distinct(
  opened: OpenMemory,
  found: readonly Known[],
  signal?: AbortSignal,
): Promise<Distinct[]> {
  if (found.length < 2) return found.map((each) => ({ ...each, also: 0, against: [] }));
  const session = await opened.session().catch(ours(() => undefined, 'unavailable'));
  const texts = found.map(({ entry }) => entry.text);
  const { vectors } = await embedded(opened, { embedder: session?.embedder }, texts, signal);
  const kept = new Map<string, Kept>();
  for (const [at, one] of found.entries()) {
    const { text } = one.entry;
    const same = kept.get(letters(text));
    const vector = vectors[at] && normalized(vectors[at]);
    if (same === undefined)
      kept.set(letters(text), { one, also: 0, terms: opened.analyser.terms(text), vector, near: [] });
    else Object.assign(same, { also: same.also + 1, one: newestFirst(one, same.one) < 0 ? one : same.one });
  }
  const all = [...kept.values()];
  for (const [at, one] of all.entries()) {
    const mine = new Set(one.terms);
    for (const other of all.slice(at + 1)) {
      if (one.one.entry.type !== other.one.entry.type || isSettled(one.one.entry, other.one.entry)) continue;
      const cosine = one.vector && other.vector && dot(one.vector, other.vector);
      if (nearnessOf(mine, other.terms, cosine) === undefined) continue;
      one.near.push(other);
      other.near.push(one);
    }
  }
  const told = new Set<Kept>();
  for (const each of all) {
    if (told.has(each)) continue;
    const beside = [each, ...each.near.filter((other) => !told.has(other))];
    for (const next of beside.sort((a, b) => newestFirst(a.one, b.one))) told.add(next);
  }
  return Array.from(told, ({ one, also, near }) => ({
    ...one,
    also,
    against: near.map((other) => ({ id: other.one.entry.id, age: ageOf(other.one.entry, one.entry) })),
  }));
}

/** Those without a date last, equal ones as they were found. */
function newestFirst({ entry: one }: Known, { entry: other }: Known): number {
  return one.updatedAt === other.updatedAt ? 0 : one.updatedAt > other.updatedAt ? -1 : 1;
}

/** Whether one is newer than the other; nothing where that cannot be told: a date is missing, or says the day alone. */
function ageOf(one: MemoryEntry, other: MemoryEntry): Against['age'] {
  if (isUndated(one) || isUndated(other) || one.updatedAt === other.updatedAt) return undefined;
  const dates = [one, other].map(({ updatedAt }) => new Date(updatedAt));
  const areOfOneDay = new Set(dates.map(localDay)).size === 1;
  if (areOfOneDay && dates.some(isDay)) return undefined;
  return one.updatedAt > other.updatedAt ? 'newer' : 'older';
}

const isDay = (date: Date): boolean =>
  date.getTime() % 86_400_000 === 0 ||
  (date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0);

const letters = (text: string): string =>
  lineText(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();
