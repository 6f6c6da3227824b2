import { HOLDS_WITH, type MemoryEntry, type MemoryKey } from '../../model/memory.ts';
import { localDay, oneLine } from '../../base/text/text.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import { ours } from '../../base/errors.ts';
import { embedded, type KitCandidate, kitCandidates, type OpenMemory, type Session } from './opened.ts';
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
function nearnessOf(mine: ReadonlySet<string>, other: readonly string[], cosine = 0): number | undefined {
  const theirs = new Set(other);
  let both = 0;
  for (const term of theirs) if (mine.has(term)) both++;
  const words = both < 2 ? 0 : both / Math.min(mine.size, theirs.size);
  return words >= PAIR.words || cosine >= PAIR.meaning ? Math.max(words, cosine) : undefined;
}

export function isAboutTheSame(
  one: readonly string[],
  other: readonly string[],
  cosine: number | undefined,
): boolean {
  return nearnessOf(new Set(one), other, cosine) !== undefined;
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
  const known = [
    ...hits.map(({ entry, cosine }) => ({
      entry,
      cosine,
      terms: opened.analyser.terms(entry.text),
      line: lineText(entry.text),
    })),
    ...inFiles.map((each) => ({
      entry: each.entry,
      cosine: cosineOf(each, vector),
      terms: each.terms(),
      line: each.line,
      source: each.from.source,
    })),
  ];
  const found = new Map<string, Similar>();
  const mine = new Set(own);
  const text = lineText(fresh.text).toLowerCase();
  for (const { entry, cosine, terms, line, ...more } of known) {
    const said = line.toLowerCase();
    const isTwin = said === text;
    const source = 'source' in more ? more.source : undefined;
    // The same memory, and its copies in files. The same text under another id is another memory.
    if (entry.id === fresh.id || (source !== undefined && isTwin) || isSettled(fresh, entry)) continue;
    const nearness = isTwin ? 1 : nearnessOf(mine, terms, cosine);
    if (nearness === undefined || (!isTwin && found.has(said))) continue;
    found.set(isTwin ? entry.id : said, {
      relation: isTwin ? 'same text' : 'about the same',
      id: entry.id,
      type: entry.type,
      agent: entry.agent,
      text: oneLine(entry.text, SNIPPET),
      nearness: Math.min(1, Math.round(nearness * 100) / 100),
      ...(entry.updatedAt.startsWith('1970') ? {} : { updatedAt: entry.updatedAt }),
      ...(source === undefined ? {} : { source }),
    });
  }
  return [...found.values()].sort((a, b) => b.nearness - a.nearness).slice(0, SHOWN);
}

function cosineOf({ vector: other }: KitCandidate, vector: Float32Array | undefined): number | undefined {
  return vector === undefined || other === undefined ? undefined : dot(vector, other);
}

interface ReadMemory {
  entry: MemoryEntry;
  sources: readonly string[];
  stored: boolean;
}

interface Against {
  id: string;
  /** What the other one is beside this; nothing where the dates do not tell. */
  age?: 'newer' | 'older' | undefined;
}

interface Distinct extends ReadMemory {
  also: number;
  against: Against[];
}

/**
 * What was found, each text once: of those with the same one the newest, in the place of the first of them. Two that are about
 * the same both stay, side by side and the newer first.
 */
export async function distinct(
  opened: OpenMemory,
  found: readonly ReadMemory[],
  signal?: AbortSignal,
): Promise<Distinct[]> {
  if (found.length < 2) return found.map((each) => ({ ...each, also: 0, against: [] }));
  const relation = await relations(opened, found, signal);
  const kept: { told: Distinct; at: number; place: number }[] = [];
  const newestFirst = found.map((_, at) => at).sort((a, b) => byAge(found, a, b));
  for (const at of newestFirst) {
    const same = kept.find((other) => relation(other.at, at) === 'same text');
    if (same === undefined) {
      kept.push({ told: { ...(found[at] as ReadMemory), also: 0, against: [] }, at, place: at });
      continue;
    }
    same.told.also += 1;
    same.place = Math.min(same.place, at);
  }
  const left = kept.toSorted((a, b) => a.place - b.place);
  const told: Distinct[] = [];
  while (left.length > 0) {
    const [next] = left.splice(0, 1);
    if (next === undefined) break;
    const others = left.filter((other) => relation(other.at, next.at) === 'about the same');
    for (const other of others) left.splice(left.indexOf(other), 1);
    const together = [next, ...others].sort((a, b) => byAge(found, a.at, b.at));
    told.push(...together.map((each) => each.told));
  }
  for (const one of kept)
    for (const other of kept)
      if (one !== other && relation(one.at, other.at) === 'about the same')
        one.told.against.push({ id: other.told.entry.id, age: ageOf(other.told, one.told) });
  return told;
}

/** The newer of two first, those without a date last, equal ones as they were found. */
function byAge(found: readonly ReadMemory[], a: number, b: number): number {
  const [one = '', other = ''] = [a, b].map((at) => {
    const date = found[at]?.entry.updatedAt ?? '';
    return date.startsWith('1970') ? '' : date;
  });
  return one === other ? a - b : one > other ? -1 : 1;
}

/** Which of two dates is later; nothing where that cannot be told: one is missing, or says the day alone. */
function laterOf(first: string, second: string): 'first' | 'second' | undefined {
  const [one, other] = [new Date(first), new Date(second)];
  if ([first, second].some((date) => date.startsWith('1970')) || first === second) return undefined;
  const isDay = (date: Date): boolean =>
    date.getTime() % 86_400_000 === 0 ||
    (date.getHours() === 0 && date.getMinutes() === 0 && date.getSeconds() === 0);
  if (localDay(one) === localDay(other) && (isDay(one) || isDay(other))) return undefined;
  return other > one ? 'second' : 'first';
}

function ageOf(one: ReadMemory, other: ReadMemory): Against['age'] {
  const later = laterOf(one.entry.updatedAt, other.entry.updatedAt);
  return later === undefined ? undefined : later === 'first' ? 'newer' : 'older';
}

const letters = (text: string): string =>
  lineText(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();

async function relations(
  opened: OpenMemory,
  found: readonly ReadMemory[],
  signal: AbortSignal | undefined,
): Promise<(a: number, b: number) => Relation | undefined> {
  const session = await opened.session(signal).catch(ours(() => undefined, 'unavailable'));
  const texts = found.map(({ entry }) => entry.text);
  const none = texts.map(() => undefined);
  const { vectors } =
    session === undefined ? { vectors: none } : await embedded(opened, session, texts, signal);
  const unit = vectors.map((vector) => (vector === undefined ? undefined : normalized(vector)));
  const said = found.map(({ entry }) => ({ ...entry, terms: opened.analyser.terms(entry.text) }));
  const known = new Map<string, Relation | undefined>();
  return (a, b) => {
    const [first, second] = [Math.min(a, b), Math.max(a, b)];
    const key = `${first} ${second}`;
    const [one, other] = [said[first], said[second]];
    if (one === undefined || other === undefined) return undefined;
    if (known.has(key)) return known.get(key);
    const [mine, theirs] = [unit[first], unit[second]];
    const cosine = mine === undefined || theirs === undefined ? undefined : dot(mine, theirs);
    const made =
      letters(one.text) === letters(other.text)
        ? 'same text'
        : one.type === other.type && !isSettled(one, other) && isAboutTheSame(one.terms, other.terms, cosine)
          ? 'about the same'
          : undefined;
    known.set(key, made);
    return made;
  };
}
