import { oneLine } from '../../base/text/text.ts';
import type { MemoryKey } from '../../model/memory.ts';
import { isSettled } from './both-hold.ts';
import { kitCandidates, type KitCandidate } from './kit-index.ts';
import { dot, type Candidate } from './rank.ts';
import { LIMITS, limitsFor, relationOf, type Relation } from './relation.ts';
import type { Session, OpenMemory } from './opened.ts';

export interface Similar extends MemoryKey {
  relation: Relation | 'same text';
  agent: string;
  text: string;
  /** The file that contains it, if it is not a memory of the store. */
  source?: string;
}

const LOOKED_AT = 8;
/** Entries of files may be copies of each other and of memories, so there are more of them. */
const FILES_LOOKED_AT = 24;
const SHOWN = 3;
const SNIPPET = 160;

type Known = Candidate & { source?: string };

/**
 * What is remembered already and says nearly the same, or something else about the same. A hint, not a judgement: who
 * remembers can read both and supersede one.
 */
export async function similarTo(
  opened: OpenMemory,
  { store, embedder }: Session,
  fresh: MemoryKey & { agent: string; text: string; tags: readonly string[] },
  vector: Float32Array | undefined,
): Promise<Similar[]> {
  const terms = opened.analyser.terms(fresh.text);
  const limits = limitsFor(embedder?.id);
  const hits = await store.search({ terms, vector, filter: {}, limit: LOOKED_AT });
  const kit = await kitCandidates(opened, embedder);
  const candidates: Known[] = [
    ...hits.map(({ entry, cosine }) => ({ entry, cosine, terms: opened.analyser.terms(entry.text) })),
    ...nearest(kit, new Set(terms), vector),
  ];
  const found: Similar[] = [];
  const seen = new Set<string>();
  for (const { entry, cosine, source, terms: theirs } of candidates) {
    const twin = normal(entry.text) === normal(fresh.text);
    // The same memory, and its copies in files. The same text under another id, or of another type, is another memory.
    if (
      source === undefined
        ? entry.id === fresh.id && entry.type === fresh.type
        : entry.id === fresh.id || twin
    )
      continue;
    if (!twin && seen.has(normal(entry.text))) continue;
    const relation = twin
      ? 'same text'
      : relationOf({ ...fresh, terms }, { ...entry, terms: theirs }, cosine, limits);
    if (relation === undefined || (relation === 'may contradict' && isSettled(fresh, entry))) continue;
    seen.add(normal(entry.text));
    found.push({
      relation,
      id: entry.id,
      type: entry.type,
      agent: entry.agent,
      text: oneLine(entry.text, SNIPPET),
      ...(source === undefined ? {} : { source }),
    });
  }
  return found.slice(0, SHOWN);
}

/**
 * The entries of files that are nearest by words and those nearest by meaning, in the order of the files. There can be
 * thousands, and the caller is waiting: so their words are those of the index, and few are compared closely.
 */
function nearest(
  kit: readonly KitCandidate[],
  words: ReadonlySet<string>,
  vector: Float32Array | undefined,
): Known[] {
  const weighed = kit.map(({ entry, terms, source, vector: other }, order) => ({
    order,
    entry,
    terms,
    source,
    share: overlap(words, terms),
    cosine: vector === undefined || other === undefined ? undefined : dot(vector, other),
  }));
  const byWords = weighed.filter(({ share }) => share > 0).sort((a, b) => b.share - a.share);
  const byMeaning = weighed
    .filter(({ cosine }) => (cosine ?? 0) >= LIMITS.subjectMeaning)
    .sort((a, b) => (b.cosine ?? 0) - (a.cosine ?? 0));
  const best = new Set([...byWords.slice(0, FILES_LOOKED_AT), ...byMeaning.slice(0, FILES_LOOKED_AT)]);
  return [...best].sort((a, b) => a.order - b.order);
}

/** The share of the smaller one's words that both have. */
function overlap(words: ReadonlySet<string>, terms: readonly string[]): number {
  const theirs = new Set(terms);
  return (
    [...theirs].filter((term) => words.has(term)).length / Math.max(1, Math.min(words.size, theirs.size))
  );
}

function normal(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase();
}
