import { oneLine } from '../../base/text/text.ts';
import { lineText } from '../../kit/memories/line-files.ts';
import type { MemoryKey } from '../../model/memory.ts';
import { isSettled } from './both-hold.ts';
import { kitCandidates, type KitCandidate } from './kit-index.ts';
import { dot } from './rank.ts';
import type { Session, OpenMemory } from './opened.ts';

/** What two memories of a kind are to each other. */
export type Relation = 'same text' | 'about the same';

export interface Similar extends MemoryKey {
  relation: Relation;
  agent: string;
  text: string;
  /** From 0 to 1: in meaning, or by the words that both have, of the shorter one's. */
  nearness: number;
  /** When it was last changed; of an entry without a date, nothing. */
  updatedAt?: string;
  /** The file that contains it, if it is not a memory of the store. */
  source?: string;
}

const LOOKED_AT = 12;
const SHOWN = 3;
const SNIPPET = 160;

/** From where on two memories are about the same; below, they are near by chance. docs/decisions/0021 has the figures. */
const PAIR = { words: 0.5, meaning: 0.75 };

/** How near two memories are that are about the same: in meaning, or by the words that both have, of the shorter one's. */
function nearnessOf(one: readonly string[], other: readonly string[], cosine = 0): number | undefined {
  const [mine, theirs] = [new Set(one), new Set(other)];
  const both = [...theirs].filter((term) => mine.has(term)).length;
  const words = both < 2 ? 0 : both / Math.min(mine.size, theirs.size);
  return words >= PAIR.words || cosine >= PAIR.meaning ? Math.max(words, cosine) : undefined;
}

export function isAboutTheSame(
  one: readonly string[],
  other: readonly string[],
  cosine: number | undefined,
): boolean {
  return nearnessOf(one, other, cosine) !== undefined;
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
  const inFiles = (await kitCandidates(opened, embedder)).filter(({ entry }) => entry.type === fresh.type);
  const known = [
    ...hits.map(({ entry, cosine }) => ({ entry, cosine, terms: opened.analyser.terms(entry.text) })),
    ...inFiles.map((each) => ({ ...each, cosine: cosineOf(each, vector) })),
  ];
  const found = new Map<string, Similar>();
  for (const { entry, cosine, terms, ...more } of known) {
    const text = normal(entry.text);
    const isTwin = text === normal(fresh.text);
    const source = 'source' in more ? more.source : undefined;
    // The same memory, and its copies in files. The same text under another id is another memory.
    if (entry.id === fresh.id || (source !== undefined && isTwin) || isSettled(fresh, entry)) continue;
    const nearness = isTwin ? 1 : nearnessOf(own, terms, cosine);
    if (nearness === undefined || (!isTwin && found.has(text))) continue;
    found.set(isTwin ? entry.id : text, {
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

const normal = (text: string): string => lineText(text).replace(/\s+/g, ' ').trim().toLowerCase();
