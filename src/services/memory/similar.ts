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
  /** From 0 to 1: in meaning, or by the words that both have. */
  nearness: number;
  /** When it was last changed; of an entry without a date, nothing. */
  updatedAt?: string;
  /** The file that contains it, if it is not a memory of the store. */
  source?: string;
}

const LOOKED_AT = 12;
const SHOWN = 3;
const SNIPPET = 160;
/** Below this, two texts are near by chance. */
const LEAST = 0.1;

/** The share of their words that two texts have in common, of all and of the shorter one's. */
function shares(
  mine: ReadonlySet<string>,
  terms: readonly string[],
): { all: number; less: number; both: number } {
  const theirs = new Set(terms);
  const both = [...theirs].filter((term) => mine.has(term)).length;
  return {
    both,
    all: both / Math.max(1, mine.size + theirs.size - both),
    less: both / Math.max(1, Math.min(mine.size, theirs.size)),
  };
}

/** From where on two memories are listed as a pair about the same; docs/decisions/0021 has the figures. */
const PAIR = { words: 0.5, meaning: 0.75 };

export function isAboutTheSame(
  one: readonly string[],
  other: readonly string[],
  cosine: number | undefined,
): boolean {
  const { both, less } = shares(new Set(one), other);
  return (less >= PAIR.words && both >= 2) || (cosine ?? 0) >= PAIR.meaning;
}

/**
 * What is remembered already and is nearest to a new memory of its kind. Whether it says the same, the contrary or something
 * beside it is for the one who remembers to judge: that can be read, and not be told from words.
 */
export async function similarTo(
  opened: OpenMemory,
  { store, embedder }: Session,
  fresh: MemoryKey & { agent: string; text: string; tags: readonly string[] },
  vector: Float32Array | undefined,
): Promise<Similar[]> {
  const own = opened.analyser.terms(fresh.text);
  const words = new Set(own);
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
    const nearness = isTwin ? 1 : Math.max(cosine ?? 0, shares(words, terms).all);
    if (nearness < LEAST || (!isTwin && found.has(text))) continue;
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
