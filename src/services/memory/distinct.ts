import { ours } from '../../base/expected.ts';
import { localDay } from '../../base/text/local-time.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import type { MemoryEntry } from '../../model/memory.ts';
import { isSettled } from './both-hold.ts';
import { embedded, type OpenMemory } from './opened.ts';
import { dot, normalized } from './rank.ts';
import { isAboutTheSame, type Relation } from './similar.ts';

interface ReadMemory {
  entry: MemoryEntry;
  /** Files of the project that have it. */
  sources: readonly string[];
  stored: boolean;
}

/** A memory that is about the same as another one. */
interface Against {
  id: string;
  /** What the other one is beside this; nothing where the dates do not tell. */
  age?: 'newer' | 'older' | undefined;
}

/** Something to tell, with what else has the same text or is about the same. */
interface Distinct extends ReadMemory {
  /** How many others have the same text. */
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

/** What is left of a text without signs and case. */
const letters = (text: string): string =>
  lineText(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
    .toLowerCase();

/** What any two of them are to each other. */
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
