import { splitIdentifier } from '../../base/text/code-words.ts';
import { byWords } from './by-words.ts';
import type { CodeIndex, IndexedFile } from './code-index.ts';
import type { ExactMatch, Needle } from './exact.ts';
import { isProse } from './languages.ts';
import { nearest } from './nearest.ts';
import { pieceOf, pieceWith } from './pieces.ts';
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

/** Words and vectors disagree often; the words of an identifier are the better witness. */
const VECTOR_SHARE = 0.5;
/** What having all the words of the question adds, whatever they count beside each other. */
const COVER_ADDS = 0.5;
const LEAST_COSINE = 0.3;
/** Where nothing has a word of the question and nothing is that near, so many of the nearest are shown, and the reader judges. */
const NEAREST = 3;
const QUOTED_SHARE = 1;
const NAME_SHARE = 0.5;
const SYMBOL_SHARE = 0.6;
const IN_SENTENCE = 0.05;
/** Plans say in the words of the question what the code does; whoever asks where it is done wants the code. */
const WEIGHTS = { test: 0.85, prose: 0.8, plan: 0.4 };
const PLAN = /(?:^|\/)(?:_bmad-output|(?:planning|implementation)[-_]artifacts)\//;

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
  addExact(index, question, hitOf);
  for (const { file, chunk, score } of byVector(index, question, LEAST_COSINE))
    hitOf(file, chunk).parts.vector = score;
  if (hits.size === 0) return nearestOf(index, question);
  const ranked = [...hits.values()].flatMap((ofFile) => [...ofFile.values()]);
  for (const hit of ranked) weigh(hit, question);
  const best = ranked.filter(({ score }) => score > 0).sort(byScore);
  return { best, total: Math.max(best.length, words.total) };
}

function nearestOf(index: CodeIndex, question: CodeQuestion): { best: Ranked[]; total: number } {
  const near = byVector(index, question, -1).sort(byScore).slice(0, NEAREST);
  return { best: near.map((hit) => ({ ...hit, parts: { vector: hit.score } })), total: near.length };
}

/** Equal scores are put in the order of paths, so that the same question has the same answer. */
export function byScore(a: Scored, b: Scored): number {
  if (a.score !== b.score) return b.score - a.score;
  return a.file === b.file ? a.chunk - b.chunk : a.file.path < b.file.path ? -1 : 1;
}

type Scored = Omit<Ranked, 'parts'>;

function byVector({ files }: CodeIndex, { vector, takes }: CodeQuestion, least: number): Scored[] {
  if (vector === undefined) return [];
  const taken = [...files.values()].filter((file) => file.vectorsFrom !== undefined && takes(file));
  return nearest(taken, vector, least).flatMap(({ of, at, score }) => {
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
    for (let chunk = pieceWith(file, line); chunk !== -1; chunk = pieceWith(file, line, chunk + 1)) {
      const hit = hitOf(file, chunk);
      having.set(hit, (having.get(hit) ?? new Set()).add(needle));
    }
  }
  for (const [hit, found] of having) {
    const share = [...found].map((needle) => (needles[needle]?.quoted === true ? QUOTED_SHARE : named));
    hit.parts.exact = share.reduce((sum, value) => sum + value, 0) / needles.length;
    const symbol = pieceOf(hit.file, hit.chunk).symbol.toLowerCase();
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
