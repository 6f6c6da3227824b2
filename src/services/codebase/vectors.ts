import { splitIdentifier, type IndexedFile } from './words.ts';
import { type Embedder, normalized } from '../../meaning/vectors.ts';
import { type Packed, pieceOf } from './pieces.ts';

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
        normalized(vector).map((value) => Math.round(value * 127)),
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
  return vector === undefined || vector.length !== embedder.dim ? undefined : normalized(vector);
}

/** The words in the name of a file. */
export function fileWords(path: string): string {
  return splitIdentifier(path.slice(path.lastIndexOf('/') + 1).replace(/\.[^.]+$/, '')).join(' ');
}

/** A vector near the wanted one: in which list, at which place there, and how near, 1 at most. */
interface Near {
  of: number;
  at: number;
  score: number;
}

/** Where the vectors of a file are, each of unit length × 127. */
type VectorsOf = Pick<Packed, 'count' | 'vectorsFrom'> & { pack: Pick<Packed['pack'], 'vectors'> };

/** Up to so many, all are compared with the wanted one; of more, those whose signs are most like its own. */
const ALL = 8_000;
const MOST = 4_000;
const BITS = 32;

/** The signs of vectors, 32 to a number. They are derived from the vectors, so they go when those go. */
const signs = new WeakMap<Int8Array, Uint32Array>();

/**
 * The vectors that are at least so near. A quarter of a million of them are too many to multiply for each question; comparing their signs takes a thirtieth of that, and
 * the nearest are among the nearest by signs.
 */
export function nearest(lists: readonly VectorsOf[], wanted: Float32Array, least: number): Near[] {
  const total = lists.reduce((sum, { count }) => sum + count, 0);
  const isLikely = total <= ALL || wanted.length % BITS !== 0 ? () => true : likely(lists, wanted, total);
  const found: Near[] = [];
  let place = 0;
  for (const [of, { pack, vectorsFrom = 0, count }] of lists.entries())
    for (let at = 0; at < count; at++) {
      if (!isLikely(place++)) continue;
      const score = product(wanted, pack.vectors, vectorsFrom + at * wanted.length) / 127;
      if (score >= least) found.push({ of, at, score });
    }
  return found;
}

/** Whether the vector at a place, counted through all lists, is among those most like the wanted one by their signs. */
function likely(
  lists: readonly VectorsOf[],
  wanted: Float32Array,
  total: number,
): (place: number) => boolean {
  const width = wanted.length / BITS;
  const asked = signBits(wanted, wanted.length);
  const differing = new Uint16Array(total);
  const having = new Uint32Array(wanted.length + 1);
  let place = 0;
  for (const { pack, vectorsFrom = 0, count } of lists) {
    const rows = signsOf(pack.vectors, wanted.length);
    const first = vectorsFrom / BITS;
    for (let row = first; row < first + count * width; row += width) {
      let others = 0;
      for (let at = 0; at < width; at++) others += ones((rows[row + at] as number) ^ (asked[at] as number));
      differing[place++] = others;
      having[others] = (having[others] as number) + 1;
    }
  }
  let limit = 0;
  for (let sum = 0; limit < wanted.length; limit++) {
    sum += having[limit] as number;
    if (sum >= MOST) break;
  }
  return (at) => (differing[at] as number) <= limit;
}

function signsOf(vectors: Int8Array, length: number): Uint32Array {
  let known = signs.get(vectors);
  if (known === undefined) signs.set(vectors, (known = signBits(vectors, length)));
  return known;
}

function signBits(values: Int8Array | Float32Array, length: number): Uint32Array {
  const rows = new Uint32Array((values.length / length) * (length / BITS));
  for (let at = 0; at < values.length; at++)
    if ((values[at] as number) > 0) rows[at >>> 5] = (rows[at >>> 5] as number) | (1 << (at & 31));
  return rows;
}

/** How many bits are set. */
function ones(bits: number): number {
  const pairs = bits - ((bits >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** A plain loop: it runs for every number of a vector. */
function product(wanted: Float32Array, vectors: Int8Array, from: number): number {
  let sum = 0;
  for (let at = 0; at < wanted.length; at++) sum += (wanted[at] as number) * (vectors[from + at] as number);
  return sum;
}
