import type { Chunk } from './chunks.ts';

/**
 * The pieces of files in columns, so that there is no object for each of them: a large project has a quarter of a million.
 * What is at one place of a column belongs to the same place of the others.
 */
export interface Pack {
  starts: Uint32Array;
  ends: Uint32Array;
  /** How many words each piece has, each as often as it occurs. */
  lengths: Uint32Array;
  /** Where the words of a piece end, and its text. */
  wordEnds: Uint32Array;
  textEnds: Uint32Array;
  /** Of each piece its words and how often each occurs there: number of the word × 256 + count. */
  words: Uint32Array;
  /** Of those that have one, in their order, each of unit length × 127. */
  vectors: Int8Array;
  /** Kind and symbol of each piece. */
  text: Buffer;
}

export interface PackSize {
  pieces: number;
  words: number;
  /** Both in bytes. */
  vectors: number;
  text: number;
}

/** Where the pieces of a file are. */
export interface Packed {
  pack: Pack;
  first: number;
  count: number;
  /** Where its vectors begin in the pack's; nothing when it has none. */
  vectorsFrom: number | undefined;
}

const COLUMNS = 5;

/** A multiple of four, so that the next pack can be used where it was read. */
export function bytesOfPack({ pieces, words, vectors, text }: PackSize): number {
  return 4 * (COLUMNS * pieces + words + Math.ceil((vectors + text) / 4));
}

/** A pack as it lies in its bytes, which begin at a multiple of four. */
export function packIn({ buffer, byteOffset }: Uint8Array, { pieces, words, vectors, text }: PackSize): Pack {
  let at = byteOffset;
  const numbers = (length: number): Uint32Array => {
    const column = new Uint32Array(buffer, at, length);
    at += column.byteLength;
    return column;
  };
  return {
    starts: numbers(pieces),
    ends: numbers(pieces),
    lengths: numbers(pieces),
    wordEnds: numbers(pieces),
    textEnds: numbers(pieces),
    words: numbers(words),
    vectors: new Int8Array(buffer, at, vectors),
    text: Buffer.from(buffer, at + vectors, text),
  };
}

/** The pieces of one file, with their words one after the other. */
export function packOf(
  chunks: readonly Chunk[],
  words: readonly number[],
  wordEnds: readonly number[],
): Packed {
  const texts = chunks.map(({ kind, symbol }) => Buffer.from(`${kind}\t${symbol}`));
  const text = Buffer.concat(texts);
  const size = { pieces: chunks.length, words: words.length, vectors: 0, text: text.length };
  const pack = packIn(new Uint8Array(bytesOfPack(size)), size);
  pack.words.set(words);
  pack.wordEnds.set(wordEnds);
  pack.text.set(text);
  let [at, textEnd] = [0, 0];
  for (const [place, { start, end }] of chunks.entries()) {
    pack.starts[place] = start;
    pack.ends[place] = end;
    pack.textEnds[place] = textEnd += texts[place]?.length ?? 0;
    let length = 0;
    for (; at < (pack.wordEnds[place] as number); at++) length += (pack.words[at] as number) & 255;
    pack.lengths[place] = length;
  }
  return { pack, first: 0, count: chunks.length, vectorsFrom: undefined };
}

/** Where something of a piece begins: where that of the one before it ends. */
function beginning(ends: Uint32Array, place: number): number {
  return place === 0 ? 0 : (ends[place - 1] as number);
}

/** Where the words of a file are in its pack. */
export function wordsIn({ pack, first, count }: Packed): { from: number; to: number } {
  return { from: beginning(pack.wordEnds, first), to: beginning(pack.wordEnds, first + count) };
}

export function pieceOf({ pack, first }: Packed, at: number): Chunk {
  const place = first + at;
  const text = pack.text.toString('utf8', beginning(pack.textEnds, place), pack.textEnds[place]);
  const tab = text.indexOf('\t');
  return {
    start: pack.starts[place] as number,
    end: pack.ends[place] as number,
    symbol: text.slice(tab + 1),
    kind: text.slice(0, tab),
  };
}

/** The first piece that has a line; -1 where none has. And the next ones, where pieces overlap. */
export function pieceWith({ pack, first, count }: Packed, line: number, from = 0): number {
  for (let at = from; at < count; at++)
    if ((pack.starts[first + at] as number) <= line && line <= (pack.ends[first + at] as number)) return at;
  return -1;
}

/** Copies the pieces of files into one pack; what they were in before can go. */
export function repacked<File extends Packed>(
  files: readonly File[],
  dim: number,
): { bytes: Uint8Array; size: PackSize; files: File[] } {
  const size = { pieces: 0, words: 0, vectors: 0, text: 0 };
  for (const file of files) {
    const { pack, first, count } = file;
    const { from, to } = wordsIn(file);
    size.pieces += count;
    size.words += to - from;
    size.vectors += file.vectorsFrom === undefined ? 0 : count * dim;
    size.text += beginning(pack.textEnds, first + count) - beginning(pack.textEnds, first);
  }
  const bytes = new Uint8Array(bytesOfPack(size));
  const pack = packIn(bytes, size);
  const at = { pieces: 0, words: 0, vectors: 0, text: 0 };
  const moved = files.map((file): File => {
    const { pack: old, first, count, vectorsFrom } = file;
    const { from, to } = wordsIn(file);
    const textFrom = beginning(old.textEnds, first);
    const text = old.text.subarray(textFrom, beginning(old.textEnds, first + count));
    for (const name of ['starts', 'ends', 'lengths'] as const)
      pack[name].set(old[name].subarray(first, first + count), at.pieces);
    for (let piece = 0; piece < count; piece++) {
      pack.wordEnds[at.pieces + piece] = (old.wordEnds[first + piece] as number) - from + at.words;
      pack.textEnds[at.pieces + piece] = (old.textEnds[first + piece] as number) - textFrom + at.text;
    }
    pack.words.set(old.words.subarray(from, to), at.words);
    pack.text.set(text, at.text);
    if (vectorsFrom !== undefined)
      pack.vectors.set(old.vectors.subarray(vectorsFrom, vectorsFrom + count * dim), at.vectors);
    const place = { first: at.pieces, vectorsFrom: vectorsFrom === undefined ? undefined : at.vectors };
    at.pieces += count;
    at.words += to - from;
    at.text += text.length;
    at.vectors += vectorsFrom === undefined ? 0 : count * dim;
    return { ...file, pack, ...place };
  });
  return { bytes, size, files: moved };
}
