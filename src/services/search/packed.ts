import type { ShelfIndex } from './kept-index.ts';
import type { DescribedAgent } from './record-text.ts';

/** What an index was made from. */
interface Mark {
  digest: string;
  /** The files that agents are described in, and how they were. */
  paths: readonly string[];
  stamps: readonly number[];
}

interface Head extends Mark {
  described: DescribedAgent[];
  count: number;
  /** How many numbers a vector has; nothing where there are none. */
  width: number | undefined;
  /** How many bytes each part has. */
  parts: number[];
}

/** Rows of numbers begin at a multiple of their width. */
const ALIGNED = 8;
const HEAD_LENGTH_BYTES = 8;

/** A head as JSON, the terms as text, then rows of numbers as they are in memory: they need no parsing. */
export function packed(mark: Mark, { described, words, meaning }: ShelfIndex): Buffer {
  const { count, terms, starts, at, weights, fields } = words;
  const rows: ArrayBufferView[] = [starts, at, weights, fields];
  if (meaning !== undefined) rows.push(meaning.owners, meaning.vectors.scales, meaning.vectors.numbers);
  const parts = [
    Buffer.from(terms.join('\n')),
    ...rows.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  ];
  const width = meaning?.vectors.width;
  const lengths = parts.map(({ length }) => length);
  const head = Buffer.from(
    JSON.stringify({ ...mark, described, count, width, parts: lengths } satisfies Head),
  );
  const length = Buffer.alloc(HEAD_LENGTH_BYTES);
  length.writeUInt32LE(head.length);
  return Buffer.concat([length, ...[head, ...parts].flatMap((part) => [part, padding(part.length)])]);
}

const padding = (length: number): Buffer => Buffer.alloc((ALIGNED - (length % ALIGNED)) % ALIGNED);

/** What was packed; its digest was right, so only another program could have packed anything else. */
export function unpacked(body: Buffer | undefined): { mark: Mark; index: ShelfIndex } | undefined {
  if (body === undefined) return undefined;
  try {
    // Copied to where rows of numbers may begin.
    const bytes = new Uint8Array(body);
    const view = Buffer.from(bytes.buffer);
    let from = HEAD_LENGTH_BYTES;
    const part = (length: number): { at: number; length: number } => {
      const at = from;
      from += length + padding(length).length;
      return { at, length };
    };
    const text = ({ at, length }: { at: number; length: number }): string =>
      view.toString('utf8', at, at + length);
    const head = JSON.parse(text(part(view.readUInt32LE(0)))) as Head;
    const [terms, starts, at, weights, fields, owners, scales, numbers] = head.parts.map(part);
    if (!terms || !starts || !at || !weights || !fields) return undefined;
    const { buffer } = bytes;
    const words = {
      count: head.count,
      terms: terms.length === 0 ? [] : text(terms).split('\n'),
      starts: new Uint32Array(buffer, starts.at, starts.length / 4),
      at: new Uint32Array(buffer, at.at, at.length / 4),
      weights: new Float64Array(buffer, weights.at, weights.length / 8),
      fields: new Uint8Array(buffer, fields.at, fields.length),
    };
    const meaning =
      head.width === undefined || !owners || !scales || !numbers
        ? undefined
        : {
            owners: new Uint32Array(buffer, owners.at, owners.length / 4),
            vectors: {
              width: head.width,
              scales: new Float32Array(buffer, scales.at, scales.length / 4),
              numbers: new Int8Array(buffer, numbers.at, numbers.length),
            },
          };
    return { mark: head, index: { described: head.described, words, meaning } };
  } catch {
    return undefined;
  }
}
