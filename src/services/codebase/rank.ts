import { splitIdentifier } from '../../base/text/code-words.ts';
import { lengthNorm, rarity, saturated } from '../../meaning/bm25.ts';
import type { CodeIndex, IndexedFile } from './code-index.ts';
import type { ExactMatch, Needle } from './exact.ts';
import { isProse } from './languages.ts';
import { nearest } from './nearest.ts';
import { isTestPath } from './wanted-files.ts';

export interface CodeQuestion {
  /** Analysed, once each. */
  words: readonly string[];
  /** Of unit length; nothing when there is no embedder. */
  vector?: Float32Array | undefined;
  needles: readonly Needle[];
  matches: readonly ExactMatch[];
  /** Whether a test is asked for. */
  tests: boolean;
  takes(file: IndexedFile): boolean;
}

/**
 * What a score is made of; what had no part in it is left out. The weight is less than 1 for tests and prose, which come
 * after code that fits as well.
 */
export type ScoreParts = Partial<
  Record<'words' | 'cover' | 'vector' | 'name' | 'exact' | 'symbol' | 'weight', number>
>;

export interface Ranked {
  file: IndexedFile;
  chunk: number;
  score: number;
  parts: ScoreParts;
}

/** Measured on comments and the functions they were written for; see docs/decisions/0018. */
const K1 = 3;
const B = 0.75;
const COVER_SHARE = 0.1;
/** What a name adds that has the asked words, and one that has no others. */
const NAME_COVER = 0.5;
const NAME_FIT = 0.4;
/** Words and vectors disagree often; the words of an identifier are the better witness. */
const VECTOR_SHARE = 0.5;
/** What having all the words of the question adds, whatever they count beside each other. */
const COVER_ADDS = 0.5;
const LEAST_COSINE = 0.3;
const QUOTED_SHARE = 1;
const NAME_SHARE = 0.5;
const SYMBOL_SHARE = 0.6;
const IN_SENTENCE = 0.05;
/** Plans say in the words of the question what the code does; whoever asks where it is done wants the code. */
const WEIGHTS = { test: 0.85, prose: 0.8, plan: 0.4, imports: 0.5, nameless: 0.6 };
const PLAN = /(?:^|\/)(?:_bmad-output|(?:planning|implementation)[-_]artifacts)\//;
/** Rarer words decide; a long text pasted as a question has enough of them. */
const MOST_WORDS = 48;
const MOST_ASKED = 250;
/** Only the best of each way of finding are compared with those of the others. */
const COMPARED = 400;

/** The chunks that have anything to do with the question, best first, and how many there are. */
export function rank(index: CodeIndex, question: CodeQuestion): { best: Ranked[]; total: number } {
  const hits = new Map<IndexedFile, Map<number, Ranked>>();
  const hitOf = (file: IndexedFile, chunk: number): Ranked => {
    let ofFile = hits.get(file);
    if (ofFile === undefined) hits.set(file, (ofFile = new Map()));
    let hit = ofFile.get(chunk);
    if (hit === undefined) ofFile.set(chunk, (hit = { file, chunk, score: 0, parts: {} }));
    return hit;
  };
  const words = byWords(index, question);
  for (const { file, chunk, score, cover } of words.best)
    Object.assign(hitOf(file, chunk).parts, { words: score, cover });
  const near = question.vector === undefined ? [] : byVector(index, question.vector, question);
  for (const { file, chunk, score } of near) hitOf(file, chunk).parts.vector = score;
  addExact(index, question, hitOf);
  const ranked = [...hits.values()].flatMap((ofFile) => [...ofFile.values()]);
  for (const hit of ranked) weigh(hit, question);
  const best = ranked.filter(({ score }) => score > 0).sort(byScore);
  return { best, total: Math.max(best.length, words.total) };
}

/** Equal scores are put in the order of paths, so that the same question has the same answer. */
export function byScore(a: Ranked, b: Ranked): number {
  if (a.score !== b.score) return b.score - a.score;
  return a.file === b.file ? a.chunk - b.chunk : a.file.path < b.file.path ? -1 : 1;
}

type Scored = Omit<Ranked, 'parts'>;
type ByWords = Scored & { cover: number };

/**
 * BM25 over the whole index, in one run over the numbers: no inverted index has to be kept up to date, and a million
 * numbers take a few milliseconds. The best has the score 1.
 */
function byWords(
  { files, vocabulary }: CodeIndex,
  { words, takes }: CodeQuestion,
): { best: ByWords[]; total: number } {
  // A byte for each word of the vocabulary stays in the processor's nearest cache; 0 is a word that was not asked for.
  const asked = new Uint8Array(vocabulary.list.length);
  let count = 0;
  for (const word of words) {
    const number = vocabulary.numberOf(word);
    if (number !== undefined && count < MOST_ASKED) asked[number] = ++count;
  }
  if (count === 0) return { best: [], total: 0 };
  const found: { file: IndexedFile; chunk: number; counts: number[] }[] = [];
  const inChunks = new Float64Array(count);
  let chunks = 0;
  let total = 0;
  for (const file of files.values()) {
    const taken = takes(file);
    const { words: numbers, ends, lengths } = file;
    let at = 0;
    for (let chunk = 0; chunk < ends.length; chunk++) {
      const end = ends[chunk] as number;
      let counts: number[] | undefined;
      for (; at < end; at++) {
        const packed = numbers[at] as number;
        const place = asked[packed >>> 8] as number;
        if (place === 0) continue;
        inChunks[place - 1] = (inChunks[place - 1] ?? 0) + 1;
        (counts ??= []).push(place - 1, packed & 255);
      }
      chunks += 1;
      total += lengths[chunk] ?? 0;
      if (taken && counts !== undefined) found.push({ file, chunk, counts });
    }
  }
  const rarities = inChunks.map((having) => rarity(having, chunks));
  const least = count > MOST_WORDS ? (rarities.toSorted().at(-MOST_WORDS) ?? 0) : 0;
  const mass = rarities.reduce((sum, value) => sum + (value >= least ? value : 0), 0);
  const average = total / chunks;
  const scored = found.map(({ file, chunk, counts }) => {
    const norm = lengthNorm(file.lengths[chunk] ?? 0, average, B);
    let score = 0;
    let covered = 0;
    for (let at = 0; at < counts.length; at += 2) {
      const weight = rarities[counts[at] ?? 0] ?? 0;
      const times = counts[at + 1] ?? 0;
      if (weight < least) continue;
      covered += weight;
      score += weight * saturated(times, K1, norm);
    }
    const cover = covered / mass;
    return { file, chunk, cover, score: score * (1 - COVER_SHARE + COVER_SHARE * cover) };
  });
  const best = scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, COMPARED);
  const rarityOf = (word: string): number => {
    const place = asked[vocabulary.numberOf(word) ?? -1] ?? 0;
    return place === 0 ? 0 : (rarities[place - 1] ?? 0);
  };
  for (const hit of best) hit.score *= nameWorth(hit, vocabulary, rarityOf, mass);
  const top = best.reduce((most, { score }) => Math.max(most, score), 0);
  return { best: best.map((hit) => ({ ...hit, score: hit.score / top })), total: scored.length };
}

/** A function is what its name says; a piece without a name is rarely what was searched for. */
function nameWorth(
  { file, chunk }: Scored,
  vocabulary: CodeIndex['vocabulary'],
  rarityOf: (word: string) => number,
  mass: number,
): number {
  const { symbol = '', kind = '' } = file.chunks[chunk] ?? {};
  if (symbol === '') return kind === 'imports' ? WEIGHTS.imports : kind === 'code' ? WEIGHTS.nameless : 1;
  const words = vocabulary.asked(symbol.slice(symbol.lastIndexOf('.') + 1));
  const known = words.map(rarityOf).filter((value) => value > 0);
  const cover = known.reduce((sum, value) => sum + value, 0) / mass;
  return 1 + NAME_COVER * cover + NAME_FIT * (known.length / Math.max(1, words.length));
}

function byVector({ files }: CodeIndex, vector: Float32Array, { takes }: CodeQuestion): Scored[] {
  const taken = [...files.values()].filter((file) => file.vectors !== undefined && takes(file));
  return nearest(
    taken.map(({ vectors = new Int8Array() }) => vectors),
    vector,
    LEAST_COSINE,
  ).flatMap(({ of, at, score }) => {
    const file = taken[of];
    return file === undefined ? [] : [{ file, chunk: at, score }];
  });
}

function addExact(
  { files }: CodeIndex,
  { words, needles, matches, takes }: CodeQuestion,
  hitOf: (file: IndexedFile, chunk: number) => Ranked,
): void {
  // Alone, a name is the question. In a sentence it is one word among others: its mere users would outrank the answer.
  const inNames = needles.reduce((sum, { text }) => sum + splitIdentifier(text).length, 0);
  const named = (inNames + 1) / Math.max(1, words.length) >= 0.5 ? NAME_SHARE : NAME_SHARE * IN_SENTENCE;
  const having = new Map<Ranked, Set<number>>();
  for (const { path, line, needle } of matches) {
    const file = files.get(path);
    if (file === undefined || !takes(file)) continue;
    for (const [chunk, { start, end }] of file.chunks.entries()) {
      if (line < start || line > end) continue;
      const hit = hitOf(file, chunk);
      having.set(hit, (having.get(hit) ?? new Set()).add(needle));
    }
  }
  for (const [hit, found] of having) {
    const share = [...found].map((needle) => (needles[needle]?.quoted === true ? QUOTED_SHARE : named));
    hit.parts.exact = share.reduce((sum, value) => sum + value, 0) / needles.length;
    const symbol = hit.file.chunks[hit.chunk]?.symbol.toLowerCase() ?? '';
    const isNamed = needles.some(({ text }) => {
      const name = text.toLowerCase();
      return symbol === name || symbol.endsWith(`.${name.slice(name.lastIndexOf('.') + 1)}`);
    });
    if (symbol !== '' && isNamed) hit.parts.symbol = SYMBOL_SHARE * (named / NAME_SHARE);
  }
}

function weightOf({ language, path }: IndexedFile, tests: boolean): number {
  if (isProse(language)) return PLAN.test(path) ? WEIGHTS.plan : WEIGHTS.prose;
  return !tests && isTestPath(path) ? WEIGHTS.test : 1;
}

function weigh(hit: Ranked, { tests }: CodeQuestion): void {
  const { parts, file } = hit;
  const weight = weightOf(file, tests);
  const sum =
    (parts.words ?? 0) +
    COVER_ADDS * (parts.cover ?? 0) +
    VECTOR_SHARE * (parts.vector ?? 0) +
    (parts.exact ?? 0) +
    (parts.symbol ?? 0);
  hit.score = sum * weight;
  if (weight < 1) parts.weight = weight;
}
