import { analyse } from '../../meaning/analyse.ts';
import type { BmadRecord } from '../../model/record.ts';
import type { MeaningIndex } from './meaning-index.ts';
import { plainly, questionOf, slotsOf, methodVocabulary } from './question.ts';
import type { Field, RecordText, TextAt } from './record-text.ts';
import type { WordHits, WordIndex } from './word-index.ts';

export interface SearchHit {
  record: BmadRecord;
  /** From 0 to 1; only scores of one question can be compared. */
  score: number;
  /** Whether it is there by chance more likely than because it was meant. */
  weak: boolean;
  /** Why it is there: `title: stories`, `meaning 0.61`. */
  why(): string;
}

/**
 * How much meaning counts where words cover enough of the question, and how much more where they cover none of it. Chosen on the
 * tuning half of the labelled sentences; see docs/measurements/search.md.
 */
const MEANING_SHARE = 0.35;
const MEANING_WITHOUT_WORDS = 0.3;
const ENOUGH_WORDS = 0.4;
/** Any two texts are alike to this degree. */
const LEAST_LIKENESS = 0.3;
/** Without a word in common, likeness has to be plain, or the hit is weak. */
const LIKENESS_ALONE = 0.53;
/** The same name again, in another module, comes after what differs more. */
const SAME_NAME = 0.8;
/** Hits below this share of the best one are noise: one common word in a long description. */
const WORTH_SHOWING = 0.2;
/**
 * A hit is weak below this share of the question's words; where meaning is compared too, below that share and this likeness.
 * Chosen between the right answers of the tuning half and sentences about something else; see docs/measurements/search.md.
 */
const WEAK = { words: 0.14, wordsToo: 0.2, meaning: 0.25 };
const WORDS_SHOWN = 3;

/** What a question may be about, best first; equal ones in the order of the records. */
interface RankedHits {
  all: SearchHit[];
  /** The same as if those that are left out were not there. */
  own: SearchHit[];
}

export type Shelf = (
  question: string,
  signal?: AbortSignal,
  leftOut?: (record: BmadRecord) => boolean,
) => Promise<RankedHits>;

export interface ShelfParts {
  records: readonly BmadRecord[];
  textAt: TextAt;
  words: WordIndex;
  /** Nothing where meaning is switched off. */
  meaning(signal?: AbortSignal): Promise<MeaningIndex | undefined>;
}

/** Records that are searched together, by words and by meaning. */
export function createShelf({ records, textAt, words, meaning }: ShelfParts): Shelf {
  const names = nameNumbers(records);
  return async (typed, signal, leftOut) => {
    const question = questionOf(typed);
    const hits = words.find(slotsOf(question, words, methodVocabulary()));
    const meant = await (await meaning(signal))?.(plainly(question, methodVocabulary()), signal);
    signal?.throwIfAborted();
    const likeness = meant ?? new Float64Array(records.length);
    const isWeak = (covered: number, like: number): boolean => {
      if (meant === undefined) return covered < WEAK.words;
      return covered === 0 ? like < LIKENESS_ALONE : covered < WEAK.wordsToo && like < WEAK.meaning;
    };
    const hitAt = ({ at, score }: Fused): SearchHit => {
      const like = likeness[at] ?? 0;
      const weak = isWeak(hits.covers(at), like);
      const why = (): string => reason(hits.matched(at), textAt(at).fields, like);
      return { record: records[at] as BmadRecord, score, weak, why };
    };
    const all = worthShowing(fused(hits, likeness), names).map(hitAt);
    if (leftOut === undefined) return { all, own: all };
    const kept = Uint8Array.from(records, (record) => (leftOut(record) ? 0 : 1));
    const scores = hits.scores.map((score, at) => score * (kept[at] as number));
    const best = scores.reduce((most, score) => Math.max(most, score), 0);
    const near = likeness.map((like, at) => like * (kept[at] as number));
    return { all, own: worthShowing(fused({ ...hits, scores, best }, near), names).map(hitAt) };
  };
}

/** A number for each record, the same for those of one kind and name. */
function nameNumbers(records: readonly BmadRecord[]): Uint32Array {
  const numbers = new Map<string, number>();
  return Uint32Array.from(records, ({ kind, name }) => {
    const key = `${kind} ${name}`;
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
}

interface Fused {
  at: number;
  score: number;
}

/** Either way of finding is measured by its own best hit, so that a share of one weighs as much as of the other. */
function fused({ scores: byWords, best, covers }: WordHits, likeness: Float64Array): Float64Array {
  const bestWords = best === 0 ? 1 : best;
  let bestLikeness = 0;
  for (const like of likeness) if (like > bestLikeness) bestLikeness = like;
  const covered = covers(byWords.indexOf(best));
  const share = MEANING_SHARE + MEANING_WITHOUT_WORDS * Math.max(0, 1 - covered / ENOUGH_WORDS);
  const spread = Math.max(0.05, bestLikeness - LEAST_LIKENESS);
  const scores = new Float64Array(likeness.length);
  for (let at = 0; at < scores.length; at++) {
    const near = Math.max(0, ((likeness[at] as number) - LEAST_LIKENESS) / spread);
    scores[at] = ((byWords[at] as number) / bestWords) * (1 - share) + near * share;
  }
  return scores;
}

function worthShowing(scores: Float64Array, names: Uint32Array): Fused[] {
  let best = 0;
  for (const score of scores) if (score > best) best = score;
  // What is below this stays below it: equal names only make a score less. Of thousands, few are worth an object.
  const least = best * WORTH_SHOWING;
  const found: Fused[] = [];
  for (let at = 0; at < scores.length; at++) {
    const score = scores[at] as number;
    if (score > 0 && score >= least) found.push({ at, score });
  }
  found.sort((a, b) => b.score - a.score);
  const seen = new Uint8Array(names.length);
  let again = false;
  for (const each of found) {
    const name = names[each.at] as number;
    if (seen[name] === 1) {
      each.score *= SAME_NAME;
      again = true;
    }
    seen[name] = 1;
  }
  return again ? found.filter(({ score }) => score >= least).sort((a, b) => b.score - a.score) : found;
}

/** The words that counted most, by field, and how near it is in meaning. */
function reason(
  matched: ReturnType<WordHits['matched']>,
  fields: RecordText['fields'],
  likeness: number,
): string {
  const byField = new Map<Field, string[]>();
  for (const { field, term } of matched.slice(0, WORDS_SHOWN)) {
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
