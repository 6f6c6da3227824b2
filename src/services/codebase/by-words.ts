import { lengthNorm, rarity, saturated } from '../../meaning/words.ts';
import type { CodeIndex, IndexedFile } from './code-index.ts';
import { pieceOf, wordsIn } from './pieces.ts';
import type { CodeQuestion } from './rank.ts';

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
export function byWords(
  index: CodeIndex,
  { words, takes }: CodeQuestion,
): { best: ByWords[]; total: number } {
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
  const hits = best(scores, COMPARED).map((at): ByWords => {
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
function best(scores: Float64Array, most: number): number[] {
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
