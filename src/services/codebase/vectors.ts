import { splitIdentifier } from '../../base/text/code-words.ts';
import type { Embedder } from '../../meaning/vectors.ts';
import type { IndexedFile } from './code-index.ts';
import { pieceOf } from './pieces.ts';

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
