import { wordsStart, type CodeIndex, type IndexedFile } from './code-index.ts';
import type { ExactMatch, Needle } from './exact.ts';
import { isProse } from './languages.ts';
import { isTestPath } from './wanted-files.ts';

export interface Question {
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
export type ScoreParts = Partial<Record<'words' | 'vector' | 'exact' | 'symbol' | 'weight', number>>;

export interface Ranked {
  file: IndexedFile;
  chunk: number;
  score: number;
  parts: ScoreParts;
}

const K1 = 1.2;
const B = 0.5;
/** Words and vectors disagree often; the words of an identifier are the better witness. */
const VECTOR_SHARE = 0.5;
const LEAST_COSINE = 0.3;
const QUOTED_SHARE = 1;
const NAME_SHARE = 0.5;
const SYMBOL_SHARE = 0.6;
const WEIGHTS = { test: 0.85, prose: 0.8 };
/** Rarer words decide; a long text pasted as a question has enough of them. */
const MOST_WORDS = 48;

interface Hit extends Ranked {
  key: string;
}

/** Every chunk that has anything to do with the question, best first. */
export function rank(index: CodeIndex, question: Question): Ranked[] {
  const hits = new Map<string, Hit>();
  const hitOf = (file: IndexedFile, chunk: number): Hit => {
    const key = `${chunk}:${file.path}`;
    let hit = hits.get(key);
    if (hit === undefined) hits.set(key, (hit = { key, file, chunk, score: 0, parts: {} }));
    return hit;
  };
  for (const { file, chunk, score } of byWords(index, question)) hitOf(file, chunk).parts.words = score;
  if (question.vector !== undefined)
    for (const { file, chunk, score } of byVector(index, question.vector, question))
      hitOf(file, chunk).parts.vector = score;
  addExact(index, question, hitOf);
  const ranked = [...hits.values()];
  for (const hit of ranked) weigh(hit, question);
  return ranked
    .filter(({ score }) => score > 0)
    .sort(
      (a, b) =>
        b.score - a.score ||
        (a.file.path < b.file.path ? -1 : a.file.path > b.file.path ? 1 : a.chunk - b.chunk),
    );
}

interface Scored {
  file: IndexedFile;
  chunk: number;
  score: number;
}

/**
 * BM25 over the whole index, in one run over the numbers: no inverted index has to be kept up to date, and a million
 * numbers take a few milliseconds. The best has the score 1, less what share of the question it does not have.
 */
function byWords({ files, vocabulary }: CodeIndex, { words, takes }: Question): Scored[] {
  const asked = new Int32Array(vocabulary.list.length).fill(-1);
  let count = 0;
  for (const word of words) {
    const number = vocabulary.numberOf(word);
    if (number !== undefined) asked[number] = count++;
  }
  if (count === 0) return [];
  const found: { file: IndexedFile; chunk: number; length: number; counts: [number, number][] }[] = [];
  const inChunks = new Float64Array(count);
  let chunks = 0;
  let total = 0;
  for (const file of files.values()) {
    const taken = takes(file);
    for (let chunk = 0; chunk < file.ends.length; chunk++) {
      const end = file.ends[chunk] ?? 0;
      let length = 0;
      let counts: [number, number][] | undefined;
      for (let at = wordsStart(file, chunk); at < end; at++) {
        const packed = file.words[at] ?? 0;
        length += packed & 255;
        const place = asked[packed >>> 8] ?? -1;
        if (place === -1) continue;
        inChunks[place] = (inChunks[place] ?? 0) + 1;
        (counts ??= []).push([place, packed & 255]);
      }
      chunks += 1;
      total += length;
      if (taken && counts !== undefined) found.push({ file, chunk, length, counts });
    }
  }
  const rarity = inChunks.map((having) => Math.log(1 + (chunks - having + 0.5) / (having + 0.5)));
  const least = count > MOST_WORDS ? (rarity.toSorted().at(-MOST_WORDS) ?? 0) : 0;
  const mass = rarity.reduce((sum, value) => sum + (value >= least ? value : 0), 0);
  const average = total / chunks;
  let best = 0;
  const scored = found.map(({ file, chunk, length, counts }) => {
    let score = 0;
    let covered = 0;
    for (const [place, times] of counts) {
      const weight = rarity[place] ?? 0;
      if (weight < least) continue;
      covered += weight;
      score += (weight * times * (K1 + 1)) / (times + K1 * (1 - B + (B * length) / average));
    }
    best = Math.max(best, score);
    return { file, chunk, score, cover: covered / mass };
  });
  return scored
    .filter(({ score }) => score > 0)
    .map(({ file, chunk, score, cover }) => ({ file, chunk, score: (score / best) * (0.75 + 0.25 * cover) }));
}

function byVector({ files }: CodeIndex, vector: Float32Array, { takes }: Question): Scored[] {
  const found: Scored[] = [];
  for (const file of files.values()) {
    const { vectors } = file;
    if (vectors === undefined || !takes(file)) continue;
    for (let chunk = 0; chunk < file.chunks.length; chunk++) {
      const from = chunk * vector.length;
      let dot = 0;
      for (let at = 0; at < vector.length; at++) dot += (vector[at] ?? 0) * (vectors[from + at] ?? 0);
      const score = dot / 127;
      if (score >= LEAST_COSINE) found.push({ file, chunk, score });
    }
  }
  return found;
}

function addExact(
  { files }: CodeIndex,
  { needles, matches, takes }: Question,
  hitOf: (file: IndexedFile, chunk: number) => Hit,
): void {
  const having = new Map<Hit, Set<number>>();
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
    const share = [...found].map((needle) => (needles[needle]?.quoted === true ? QUOTED_SHARE : NAME_SHARE));
    hit.parts.exact = share.reduce((sum, value) => sum + value, 0) / needles.length;
    const symbol = hit.file.chunks[hit.chunk]?.symbol.toLowerCase() ?? '';
    const isNamed = needles.some(({ text }) => {
      const name = text.toLowerCase();
      return symbol === name || symbol.endsWith(`.${name.slice(name.lastIndexOf('.') + 1)}`);
    });
    if (symbol !== '' && isNamed) hit.parts.symbol = SYMBOL_SHARE;
  }
}

function weigh(hit: Hit, { tests }: Question): void {
  const { parts, file } = hit;
  const weight = isProse(file.language) ? WEIGHTS.prose : !tests && isTestPath(file.path) ? WEIGHTS.test : 1;
  const sum =
    (parts.words ?? 0) + VECTOR_SHARE * (parts.vector ?? 0) + (parts.exact ?? 0) + (parts.symbol ?? 0);
  hit.score = sum * weight;
  if (weight < 1) parts.weight = weight;
}
