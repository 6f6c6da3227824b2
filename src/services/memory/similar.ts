import { oneLine } from '../../base/text.ts';
import type { MemoryEntry, MemoryKey } from '../../model/memory.ts';
import { kitCandidates, type KitCandidate } from './kit-index.ts';
import { dot } from './rank.ts';
import type { Session, World } from './world.ts';

export interface Similar extends MemoryKey {
  relation: 'near-duplicate' | 'may contradict';
  agent: string;
  text: string;
  /** The file it stands in, where it is no memory of the store. */
  source?: string;
}

const LOOKED_AT = 8;
/** Entries of files may be copies of each other and of memories, so there are more of them. */
const FILES_LOOKED_AT = 24;
const SHOWN = 3;
const SNIPPET = 160;

/** Shares of common words, and nearness in meaning, from which two texts are taken to say the same. */
const SAME_WORDS = 0.8;
const SAME_MEANING = 0.93;
/** From which they are about the same thing, so that a difference in what they say about it matters. */
const SUBJECT_WORDS = 0.5;
const SUBJECT_MEANING = 0.75;

interface Candidate {
  entry: MemoryEntry;
  terms: readonly string[];
  cosine: number | undefined;
  source?: string | undefined;
}

/**
 * What is remembered already and says nearly the same, or something else about the same. A hint, not a judgement: who
 * remembers can read both and supersede one.
 */
export async function similarTo(
  world: World,
  { store, embedder }: Session,
  fresh: MemoryKey & { agent: string; text: string },
  vector: Float32Array | undefined,
): Promise<Similar[]> {
  const terms = world.analyser.terms(fresh.text);
  const hits = await store.search({ terms, vector, filter: {}, limit: LOOKED_AT });
  const kit = await kitCandidates(world, embedder);
  const candidates: Candidate[] = [
    ...hits.map(({ entry, cosine }) => ({ entry, cosine, terms: world.analyser.terms(entry.text) })),
    ...nearest(kit, new Set(terms), vector),
  ];
  const found: Similar[] = [];
  const seen = new Set([normal(fresh.text)]);
  for (const { entry, cosine, source, terms: theirs } of candidates) {
    // The same memory, and its copies in files.
    if (entry.id === fresh.id || seen.has(normal(entry.text))) continue;
    const relation = relationOf(fresh, terms, entry, theirs, cosine);
    if (relation === undefined) continue;
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
 * The entries of files that are nearest by words and those nearest by meaning, in the order of the files. Files can have
 * thousands of entries, and whoever remembers waits: so their words are those of the index, and few are looked at closely.
 */
function nearest(
  kit: readonly KitCandidate[],
  words: ReadonlySet<string>,
  vector: Float32Array | undefined,
): Candidate[] {
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
    .filter(({ cosine }) => (cosine ?? 0) >= SUBJECT_MEANING)
    .sort((a, b) => (b.cosine ?? 0) - (a.cosine ?? 0));
  const best = new Set([...byWords.slice(0, FILES_LOOKED_AT), ...byMeaning.slice(0, FILES_LOOKED_AT)]);
  return [...best].sort((a, b) => a.order - b.order);
}

/** The share of the smaller one's words that both have. */
function overlap(words: ReadonlySet<string>, terms: readonly string[]): number {
  const theirs = new Set(terms);
  let common = 0;
  for (const term of theirs) if (words.has(term)) common++;
  return common / Math.max(1, Math.min(words.size, theirs.size));
}

function normal(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase();
}

function relationOf(
  fresh: { type: string; text: string },
  terms: readonly string[],
  other: MemoryEntry,
  otherTerms: readonly string[],
  cosine: number | undefined,
): Similar['relation'] | undefined {
  const [mine, theirs] = [new Set(terms), new Set(otherTerms)];
  const common = [...mine].filter((term) => theirs.has(term)).length;
  const jaccard = common / Math.max(1, mine.size + theirs.size - common);
  const shared = common / Math.max(1, Math.min(mine.size, theirs.size));
  const subject = (shared >= SUBJECT_WORDS && common >= 2) || (cosine ?? 0) >= SUBJECT_MEANING;
  if (subject && fresh.type === other.type && differs(fresh.text, other.text)) return 'may contradict';
  return jaccard >= SAME_WORDS || (cosine ?? 0) >= SAME_MEANING ? 'near-duplicate' : undefined;
}

/** Words that deny, or say that something is no longer so, in English and French. */
const TURN =
  /\b(?:not|never|no longer|don't|doesn't|isn't|won't|stop|instead of|rather than|replaced?|abandon(?:ed|né|nons)?|remplac\w*|plutôt que|au lieu d|ne\s+(?:\S+\s+)?(?:pas|plus|jamais)|n'\S+\s+(?:pas|plus|jamais)|jamais|interdit\w*|forbidden)(?![\p{L}])/iu;

function differs(a: string, b: string): boolean {
  const [mine, theirs] = [numbersIn(a), numbersIn(b)];
  return TURN.test(a) !== TURN.test(b) || (mine !== '' && theirs !== '' && mine !== theirs);
}

/** Versions, ports and limits: where both name some and these are others, one of the texts is out of date. */
function numbersIn(text: string): string {
  const plain = text.replace(/\d{4}-\d{2}-\d{2}/g, '');
  return (plain.match(/(?<![\p{L}\d.])v?\d+(?:[.,]\d+)*(?![\p{L}\d])/gu) ?? []).sort().join(' ');
}
