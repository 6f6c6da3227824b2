import { analyse } from '../../meaning/analyse.ts';
import { pace } from '../../base/pace.ts';
import { onceWanted } from '../../base/async.ts';
import type { Embedder } from '../../meaning/embedder.ts';
import type { BmadRecord } from '../../model/record.ts';
import { meaningIndex } from './meaning-index.ts';
import { plainly, questionOf, slotsOf } from './question.ts';
import type { Field, RecordText } from './record-text.ts';
import { vocabulary } from './vocabulary.ts';
import { termsOfAll, WordIndex, type WordHit } from './word-index.ts';

export interface SearchHit {
  record: BmadRecord;
  /** From 0 to 1; only scores of one question can be compared. */
  score: number;
  /** Whether it is there by chance more likely than because it was meant. */
  weak: boolean;
  /** Why it is there: `title: stories`, `meaning 0.61`. */
  why(): string;
}

/** Chosen on the tuning half of the labelled sentences; see docs/decisions/0023. */
const MEANING_SHARE = 0.35;
/** Any two texts are alike to this degree. */
const LEAST_LIKENESS = 0.3;
/** Without a word in common, likeness has to be plain, or the hit is weak. */
const LIKENESS_ALONE = 0.4;
/** The same name again, in another module, comes after what differs more. */
const SAME_NAME = 0.8;
/** Hits below this share of the best one are noise: one common word in a long description. */
const WORTH_SHOWING = 0.2;
/**
 * A hit is weak below this share of the question's words, or this likeness, whichever is more. Chosen between the right
 * answers of the tuning half and sentences about something else; see docs/decisions/0023.
 */
const WEAK = { words: 0.14, meaning: 0.18 };
const WORDS_SHOWN = 3;

/** What a question may be about, best first; equal ones in the order of the records. */
export type Shelf = (question: string, signal?: AbortSignal) => Promise<SearchHit[]>;

/** Records that are searched together, by words and by meaning; each index is made when it is first needed. */
export async function createShelf(
  texts: readonly RecordText[],
  embedder: () => Promise<Embedder | undefined>,
  making?: AbortSignal,
): Promise<Shelf> {
  const words = new WordIndex(texts, await termsOfAll(texts, making));
  const meaning = onceWanted(async (signal) => {
    const model = await embedder();
    return model === undefined ? undefined : meaningIndex(texts, model, signal);
  });

  return async (typed, signal) => {
    const question = questionOf(typed);
    const hits = words.find(slotsOf(question, words, vocabulary()));
    await pace();
    const meant = await (await meaning(signal))?.(plainly(question, vocabulary()), signal);
    await pace();
    signal?.throwIfAborted();
    const likeness = meant ?? new Float64Array(texts.length);
    const least = hits.length === 0 ? LIKENESS_ALONE : meant === undefined ? WEAK.words : WEAK.meaning;
    const found = worthShowing(fuse(hits, likeness), ({ at }) => (texts[at] as RecordText).record);
    return found.map(({ at, score, hit }): SearchHit => {
      const { record, fields } = texts[at] as RecordText;
      const weak = Math.max(hit?.covers ?? 0, likeness[at] ?? 0) < least;
      return { record, score, weak, why: () => reason(hit, fields, likeness[at] ?? 0) };
    });
  };
}

/** Either way of finding is measured by its own best hit, so that a share of one weighs as much as of the other. */
function fuse(hits: readonly WordHit[], likeness: Float64Array): Fused[] {
  const bestWords = hits[0]?.score ?? 1;
  let bestLikeness = 0;
  for (const like of likeness) if (like > bestLikeness) bestLikeness = like;
  const spread = Math.max(0.05, bestLikeness - LEAST_LIKENESS);
  const byRecord = new Map(hits.map((hit) => [hit.at, hit]));
  const fused: Fused[] = [];
  // A plain loop: of thousands of records, few are worth an object.
  for (let at = 0; at < likeness.length; at++) {
    const hit = byRecord.get(at);
    const near = Math.max(0, ((likeness[at] ?? 0) - LEAST_LIKENESS) / spread);
    const score = ((hit?.score ?? 0) / bestWords) * (1 - MEANING_SHARE) + near * MEANING_SHARE;
    if (score > 0) fused.push({ at, score, hit });
  }
  return fused;
}

interface Fused {
  at: number;
  score: number;
  hit: WordHit | undefined;
}

function worthShowing(found: Fused[], recordOf: (found: Fused) => BmadRecord): Fused[] {
  found.sort((a, b) => b.score - a.score);
  // What is below this now stays below it: equal names only make a score less.
  const least = (found[0]?.score ?? 0) * WORTH_SHOWING;
  const names = new Set<string>();
  for (const each of found) {
    if (each.score < least) break;
    const { kind, name: called } = recordOf(each);
    const name = `${kind} ${called}`;
    if (names.has(name)) each.score *= SAME_NAME;
    names.add(name);
  }
  return found.filter(({ score }) => score >= least).sort((a, b) => b.score - a.score);
}

/** The words that counted most, by field, and how near it is in meaning. */
function reason(hit: WordHit | undefined, fields: RecordText['fields'], likeness: number): string {
  const byField = new Map<Field, string[]>();
  for (const { field, term } of hit?.matched.slice(0, WORDS_SHOWN) ?? []) {
    const words = byField.get(field) ?? [];
    const word = asWritten(term, fields[field]);
    if (!words.includes(word)) byField.set(field, [...words, word]);
  }
  const reasons = [...byField].map(([field, words]) => `${field}: ${words.join(', ')}`);
  if (likeness >= LEAST_LIKENESS) reasons.push(`meaning ${likeness.toFixed(2)}`);
  return reasons.join('; ');
}

/** Terms are stems; people want to see the word. */
function asWritten(term: string, texts: readonly string[]): string {
  for (const text of texts) {
    const word = text.match(/[\p{L}\p{N}]+/gu)?.find((candidate) => analyse(candidate).includes(term));
    if (word !== undefined) return word.toLowerCase();
  }
  return term;
}
