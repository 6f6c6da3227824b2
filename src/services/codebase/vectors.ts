import { splitIdentifier } from '../../base/text/code-words.ts';
import { type Embedder, emptyBlock, nearScan } from '../../meaning/vectors.ts';
import { type Packed, pieceOf } from './pieces.ts';
import type { IndexedFile } from './words.ts';

/** How much of a chunk is turned into a vector: what it is called and how it begins say what it is about. */
const TEXT_LENGTH = 1_500;
const AT_ONCE = 64;

/** The vectors of all chunks of a file, as they are kept. */
export async function embedFile(
  embedder: Embedder,
  file: IndexedFile,
  lines: readonly string[],
  signal: AbortSignal,
): Promise<Int8Array> {
  const name = fileWords(file.path);
  const texts = Array.from({ length: file.count }, (_, at) => {
    const { start, end, symbol } = pieceOf(file, at);
    const code = lines
      .slice(start, end + 1)
      .join('\n')
      .slice(0, TEXT_LENGTH);
    return `${splitIdentifier(symbol.replaceAll('.', ' ')).join(' ')}\n${name}\n${code}`;
  });
  const packed = new Int8Array(file.count * embedder.dim);
  for (let from = 0; from < texts.length; from += AT_ONCE) {
    const vectors = await embedder.embed(texts.slice(from, from + AT_ONCE), signal);
    for (const [at, vector] of vectors.entries())
      packed.set(
        unit(vector).map((value) => Math.round(value * 127)),
        (from + at) * embedder.dim,
      );
  }
  return packed;
}

/** The vector of a question, of unit length. */
export async function embedQuestion(
  embedder: Embedder,
  text: string,
  signal: AbortSignal,
): Promise<Float32Array | undefined> {
  const [vector] = await embedder.embed([text.slice(0, TEXT_LENGTH)], signal);
  return vector === undefined || vector.length !== embedder.dim ? undefined : unit(vector);
}

/** The words in the name of a file. */
export function fileWords(path: string): string {
  return splitIdentifier(path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '')).join(' ');
}

export function unit(vector: ArrayLike<number>): Float32Array {
  const values = Float32Array.from(vector);
  const length = Math.hypot(...values);
  return length === 0 ? values : values.map((value) => value / length);
}

/** A vector near the wanted one: in which list, at which place there, and how near, 1 at most. */
interface Near {
  of: number;
  at: number;
  score: number;
}

/** Where the vectors of a file are, each of unit length × 127. */
type VectorsOf = Pick<Packed, 'count' | 'vectorsFrom'> & { pack: Pick<Packed['pack'], 'vectors'> };

/** Vectors that are looked at together. */
const AT_A_TIME = 1_024;

/** The vectors that are at least so near: all are compared roughly, and those that may be near enough exactly. */
export function nearest(lists: readonly VectorsOf[], wanted: Float32Array, least: number): Near[] {
  const width = wanted.length;
  const scan = nearScan(width);
  const block = emptyBlock(AT_A_TIME, width);
  block.scales.fill(1 / 127);
  const found: Near[] = [];
  /** Where the vectors of a list begin in the block, and which of its vectors is the first there. */
  let runs: { of: number; from: number; row: number; end: number }[] = [];
  let filled = 0;
  const compare = (): void => {
    scan?.putBlock(block);
    const near = scan?.near(wanted, filled);
    // All have the same scale.
    const enough = least - (scan?.wrong(wanted)(0) ?? 0);
    for (const { of, from, row, end } of runs)
      for (let at = row; at < end; at++) {
        if (near !== undefined && (near[at] as number) < enough) continue;
        const score = product(wanted, block.numbers, at * width) / 127;
        if (score >= least) found.push({ of, at: from + at - row, score });
      }
    [runs, filled] = [[], 0];
  };
  for (const [of, { pack, vectorsFrom = 0, count }] of lists.entries())
    for (let from = 0; from < count;) {
      const some = Math.min(count - from, AT_A_TIME - filled);
      const start = vectorsFrom + from * width;
      block.numbers.set(pack.vectors.subarray(start, start + some * width), filled * width);
      runs.push({ of, from, row: filled, end: filled + some });
      filled += some;
      from += some;
      if (filled === AT_A_TIME) compare();
    }
  compare();
  return found;
}

/** A plain loop: it runs for every number of a vector. */
function product(wanted: Float32Array, vectors: Int8Array, from: number): number {
  let sum = 0;
  for (let at = 0; at < wanted.length; at++) sum += (wanted[at] as number) * (vectors[from + at] as number);
  return sum;
}
