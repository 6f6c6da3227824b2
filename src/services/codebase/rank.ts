import { splitIdentifier, type CodeIndex, type IndexedFile } from './words.ts';
import { lengthNorm, rarity, saturated } from '../../meaning/words.ts';
import { isProse } from './chunks.ts';
import type { ExactMatch, Needle } from './exact.ts';
import { nearest } from './vectors.ts';
import { pieceOf, pieceWith, wordsIn } from './pieces.ts';
import { isTestPath } from './searched-files.ts';

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

/** Measured on comments and the functions they were written for; see docs/measurements/code-search.md. */
const K1 = 3;
const B = 0.75;
const COVER_SHARE = 0.1;
/** What a name adds that has the asked words, and one that has no others. */
const NAME_COVER = 0.5;
const NAME_FIT = 0.4;
const UNNAMED = { imports: 0.5, code: 0.6 };
/** Rarer words decide; a long text pasted as a question has enough of them. */
const MOST_WORDS = 48;
const MOST_ASKED = 250;
/** Only the best of each way of finding are compared with those of the others. */
const COMPARED = 400;

interface ByWords {
  file: IndexedFile;
  chunk: number;
  score: number;
  cover: number;
}

/**
 * BM25 over the whole index, in two runs over the numbers: no inverted index has to be kept up to date, and a million
 * numbers take a few milliseconds. A common word is in every piece, so that only the best become objects. The best has the
 * score 1.
 */
function byWords(index: CodeIndex, { words, takes }: CodeQuestion): { best: ByWords[]; total: number } {
  const { files, vocabulary } = index;
  // A byte for each word of the vocabulary stays in the processor's nearest cache; 0 is a word that was not asked for.
  const asked = new Uint8Array(vocabulary.list.size);
  let count = 0;
  for (const word of words) {
    const number = vocabulary.list.numberOf(word);
    if (number !== undefined && count < MOST_ASKED) asked[number] = ++count;
  }
  if (count === 0) return { best: [], total: 0 };
  const { rarities, mass, average, taken, pieces } = weighed([...files.values()], takes, asked, count);
  const scores = roomFor(index, pieces);
  let piece = 0;
  let total = 0;
  for (const file of taken) {
    const { words: numbers, wordEnds, lengths } = file.pack;
    let at = wordsIn(file).from;
    for (let place = file.first; place < file.first + file.count; place++, piece++) {
      let score = 0;
      let covered = 0;
      let norm = 0;
      for (const end = wordEnds[place] as number; at < end; at++) {
        const packed = numbers[at] as number;
        const word = asked[packed >>> 8] as number;
        if (word === 0) continue;
        const weight = rarities[word] as number;
        norm ||= lengthNorm(lengths[place] as number, average, B);
        covered += weight;
        score += weight * saturated(packed & 255, K1, norm);
      }
      scores[piece] = score * (1 - COVER_SHARE + (COVER_SHARE * covered) / mass);
      if (score > 0) total += 1;
    }
  }
  const rarityOf = (word: string): number => rarities[asked[vocabulary.list.numberOf(word) ?? -1] ?? 0] ?? 0;
  const places = placesIn(taken);
  const hits = highest(scores, COMPARED).map((at): ByWords => {
    const { file, chunk } = places(at);
    const score = (scores[at] as number) * nameWorth(file, chunk, vocabulary, rarityOf, mass);
    return { file, chunk, score, cover: massOf(file, chunk, asked, rarities) / mass };
  });
  const top = hits.reduce((most, { score }) => Math.max(most, score), 0);
  for (const hit of hits) hit.score /= top;
  return { best: hits, total };
}

/** The numbers of the last question: a megabyte for each would stay in memory until the next collection of garbage. */
const rooms = new WeakMap<CodeIndex, Float64Array>();

function roomFor(index: CodeIndex, pieces: number): Float64Array {
  const known = rooms.get(index);
  if (known !== undefined && known.length >= pieces) return known.subarray(0, pieces);
  const room = new Float64Array(pieces);
  rooms.set(index, room);
  return room;
}

/** How much of what was asked a piece has. */
function massOf(file: IndexedFile, chunk: number, asked: Uint8Array, rarities: Float64Array): number {
  const { words } = file.pack;
  const { from, to } = wordsIn({ ...file, first: file.first + chunk, count: 1 });
  let sum = 0;
  for (let at = from; at < to; at++) sum += rarities[asked[(words[at] as number) >>> 8] as number] as number;
  return sum;
}

/** How rare each asked word is, by its place; 0 for those that are too common to decide. And the files that are asked for. */
function weighed(
  files: readonly IndexedFile[],
  takes: CodeQuestion['takes'],
  asked: Uint8Array,
  count: number,
) {
  const having = new Float64Array(count + 1);
  let chunks = 0;
  let total = 0;
  for (const file of files) {
    const { words, lengths } = file.pack;
    const { from, to } = wordsIn(file);
    for (let at = from; at < to; at++) {
      const place = asked[(words[at] as number) >>> 8] as number;
      if (place !== 0) having[place] = (having[place] as number) + 1;
    }
    for (let at = file.first; at < file.first + file.count; at++) total += lengths[at] as number;
    chunks += file.count;
  }
  const all = having.map((times, place) => (place === 0 ? 0 : rarity(times, chunks)));
  const least = count > MOST_WORDS ? (all.toSorted().at(-MOST_WORDS) ?? 0) : 0;
  const rarities = all.map((value) => (value >= least ? value : 0));
  const taken = files.filter(takes);
  return {
    rarities,
    mass: rarities.reduce((sum, value) => sum + value, 0),
    average: total / chunks,
    taken,
    pieces: taken.reduce((sum, { count: pieces }) => sum + pieces, 0),
  };
}

/** Which piece of which file is at a place, counted through all files. */
function placesIn(files: readonly IndexedFile[]): (at: number) => Pick<ByWords, 'file' | 'chunk'> {
  const firsts: number[] = [];
  let next = 0;
  for (const { count } of files) {
    firsts.push(next);
    next += count;
  }
  return (at) => {
    let [low, high] = [0, files.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((firsts[middle] as number) <= at) low = middle;
      else high = middle - 1;
    }
    return { file: files[low] as IndexedFile, chunk: at - (firsts[low] as number) };
  };
}

/** A function is what its name says; a piece without a name is rarely what was searched for. */
function nameWorth(
  file: IndexedFile,
  chunk: number,
  vocabulary: CodeIndex['vocabulary'],
  rarityOf: (word: string) => number,
  mass: number,
): number {
  const { symbol, kind } = pieceOf(file, chunk);
  if (symbol === '') return kind === 'imports' || kind === 'code' ? UNNAMED[kind] : 1;
  const words = vocabulary.asked(symbol.slice(symbol.lastIndexOf('.') + 1));
  const known = words.map(rarityOf).filter((value) => value > 0);
  const cover = known.reduce((sum, value) => sum + value, 0) / mass;
  return 1 + NAME_COVER * cover + NAME_FIT * (known.length / Math.max(1, words.length));
}

/** The places of the highest numbers above zero, highest first; of equal ones, the earlier first. Without sorting them all. */
function highest(scores: Float64Array, most: number): number[] {
  /** A heap with the worst of the best on top. */
  const heap: number[] = [];
  const isWorse = (a: number, b: number): boolean => {
    const difference = (scores[a] as number) - (scores[b] as number);
    return difference < 0 || (difference === 0 && a > b);
  };
  function settle(from: number): void {
    for (let at = from; ;) {
      let worst = at;
      for (const below of [2 * at + 1, 2 * at + 2])
        if (below < heap.length && isWorse(heap[below] as number, heap[worst] as number)) worst = below;
      if (worst === at) return;
      [heap[at], heap[worst]] = [heap[worst] as number, heap[at] as number];
      at = worst;
    }
  }
  for (let place = 0; place < scores.length; place++) {
    if (!((scores[place] as number) > 0)) continue;
    if (heap.length < most) {
      heap.push(place);
      if (heap.length === most) for (let at = most >>> 1; at >= 0; at--) settle(at);
    } else if (isWorse(heap[0] as number, place)) {
      heap[0] = place;
      settle(0);
    }
  }
  return heap.sort((a, b) => (isWorse(a, b) ? 1 : -1));
}
