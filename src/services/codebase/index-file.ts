import { createHash } from 'node:crypto';
import { withLock } from '../../base/files/file-lock.ts';
import { modifiedAt, readStateBytes, writeAtomic } from '../../base/files/file-state.ts';
import type { Chunk } from './chunks.ts';
import type { Analyser } from '../../meaning/analyser.ts';
import { chunkLengths, createVocabulary, type CodeIndex, type IndexedFile } from './code-index.ts';

/** Increased when pieces are cut or counted differently: an index of another version is rebuilt. */
const VERSION = 2;
const MAGIC = Buffer.from(`bmad code index ${VERSION}\n`);
const DIGEST = 32;
/** What Node reads at once, and far more than the largest project needs. */
const MOST_BYTES = 2 ** 31 - 1;

export interface IndexIdentity {
  root: string;
  analyser: Analyser;
  /** What made the vectors; they are dropped when it is another one now. */
  embedder: { id: string; dim: number } | undefined;
}

type ChunkRow = [start: number, end: number, symbol: string, kind: string];
type FileRow = [
  path: string,
  mtimeMs: number,
  size: number,
  hash: string,
  language: string,
  rough: number,
  skipped: string,
  words: number,
  vectors: number,
  chunks: ChunkRow[],
];

interface Head {
  root: string;
  analyser: string;
  embedder: string;
  dim: number;
  words: number;
  ends: number;
  vectors: number;
  files: FileRow[];
}

export type Loaded =
  | { state: 'none' | 'damaged' | 'other' }
  | { state: 'ready'; index: CodeIndex; stamp: number };

/**
 * One file: a line that says what it is, a digest of the rest, the length of a JSON head, the head, the words, then the
 * numbers. It is read and written as a whole, which is faster than any finer way at the sizes projects have.
 */
function encodeIndex({ files, vocabulary }: CodeIndex, identity: IndexIdentity): Buffer {
  const rows: FileRow[] = [];
  const counts = { words: 0, ends: 0, vectors: 0 };
  for (const file of files.values()) {
    counts.words += file.words.length;
    counts.ends += file.ends.length;
    counts.vectors += file.vectors?.length ?? 0;
    rows.push([
      file.path,
      file.mtimeMs,
      file.size,
      file.hash,
      file.language,
      file.rough ? 1 : 0,
      file.skipped ?? '',
      file.words.length,
      file.vectors?.length ?? 0,
      file.chunks.map(({ start, end, symbol, kind }) => [start, end, symbol, kind]),
    ]);
  }
  // Words that no file has any more are left behind here.
  const numbers = new Uint32Array(vocabulary.list.length);
  const kept: string[] = [];
  for (const { words } of files.values())
    for (const packed of words)
      if (numbers[packed >>> 8] === 0) numbers[packed >>> 8] = kept.push(vocabulary.list[packed >>> 8] ?? '');
  const list = Buffer.from(kept.join('\n'));
  const head: Head = {
    root: identity.root,
    analyser: identity.analyser.id,
    embedder: identity.embedder?.id ?? '',
    dim: identity.embedder?.dim ?? 0,
    ...counts,
    files: rows,
  };
  const written = Buffer.from(JSON.stringify(head));
  const start = MAGIC.length + DIGEST;
  // Blanks, so that the numbers begin at a multiple of four and can be used where they are read.
  const blanks = (4 - ((start + 8 + written.length + list.length) % 4)) % 4;
  const first = start + 8 + written.length + blanks + list.length;
  // Made once, in its full length: a copy of the whole for each step would be most of what the process takes.
  const bytes = Buffer.alloc(first + (counts.words + counts.ends) * 4 + counts.vectors, ' ');
  MAGIC.copy(bytes);
  bytes.writeUInt32LE(written.length + blanks, start);
  bytes.writeUInt32LE(list.length, start + 4);
  written.copy(bytes, start + 8);
  list.copy(bytes, first - list.length);
  let at = first;
  for (const { words } of files.values())
    for (const packed of words)
      at = bytes.writeUInt32LE(((numbers[packed >>> 8] as number) - 1) * 256 + (packed & 255), at);
  for (const { ends } of files.values()) {
    bytesOf(ends).copy(bytes, at);
    at += ends.byteLength;
  }
  for (const { vectors = new Int8Array() } of files.values()) {
    bytesOf(vectors).copy(bytes, at);
    at += vectors.byteLength;
  }
  createHash('sha256').update(bytes.subarray(start)).digest().copy(bytes, MAGIC.length);
  return bytes;
}

function bytesOf({ buffer, byteOffset, byteLength }: Uint32Array | Int8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Nothing when the bytes are not a whole index of this version. */
function decodeIndex(bytes: Buffer, identity: IndexIdentity): CodeIndex | 'damaged' | 'other' {
  if (bytes.subarray(0, 16).compare(MAGIC.subarray(0, 16)) !== 0) return 'damaged';
  if (bytes.subarray(0, MAGIC.length).compare(MAGIC) !== 0) return 'other';
  const body = bytes.subarray(MAGIC.length + DIGEST);
  const digest = createHash('sha256').update(body).digest();
  if (digest.compare(bytes.subarray(MAGIC.length, MAGIC.length + DIGEST)) !== 0) return 'damaged';
  const textEnd = 8 + body.readUInt32LE(0);
  const listEnd = textEnd + body.readUInt32LE(4);
  const head = JSON.parse(body.toString('utf8', 8, textEnd)) as Head;
  if (head.root !== identity.root || head.analyser !== identity.analyser.id) return 'other';
  const list = body.toString('utf8', textEnd, listEnd).split('\n');
  const vocabulary = createVocabulary(identity.analyser, list.length === 1 && list[0] === '' ? [] : list);
  const numbers = body.subarray(listEnd);
  const counts = (head.words + head.ends) * 4;
  // A large project has a hundred megabytes of them: they are copied only where they do not begin at a multiple of four.
  const { buffer, byteOffset } = numbers.byteOffset % 4 === 0 ? numbers : new Uint8Array(numbers);
  const all = new Uint32Array(buffer, byteOffset, counts / 4);
  const vectors = new Int8Array(buffer, byteOffset + counts, head.vectors);
  const sameEmbedder =
    head.embedder === (identity.embedder?.id ?? '') && head.dim === (identity.embedder?.dim ?? 0);
  const files = new Map<string, IndexedFile>();
  const at = { words: 0, ends: head.words, vectors: 0 };
  for (const [path, mtimeMs, size, hash, language, rough, skipped, words, vector, rows] of head.files) {
    const own = all.subarray(at.words, at.words + words);
    const ends = all.subarray(at.ends, at.ends + rows.length);
    files.set(path, {
      path,
      mtimeMs,
      size,
      hash,
      language,
      rough: rough === 1,
      ...(skipped === '' ? {} : { skipped }),
      chunks: rows.map(([start, end, symbol, kind]): Chunk => ({ start, end, symbol, kind })),
      words: own,
      ends,
      lengths: chunkLengths(own, ends),
      vectors: vector === 0 || !sameEmbedder ? undefined : vectors.subarray(at.vectors, at.vectors + vector),
    });
    at.words += words;
    at.ends += rows.length;
    at.vectors += vector;
  }
  return { files, vocabulary };
}

/** The index file of one project. A damaged one is distinguished from a missing one. */
export async function loadIndex(path: string, identity: IndexIdentity): Promise<Loaded> {
  try {
    const bytes = await readStateBytes(path, { maxBytes: MOST_BYTES });
    if (bytes === undefined) return { state: 'none' };
    const stamp = (await modifiedAt(path)) ?? 0;
    const index = decodeIndex(bytes, identity);
    return typeof index === 'string' ? { state: index } : { state: 'ready', index, stamp };
  } catch {
    return { state: 'damaged' };
  }
}

const LOCK_MS = 2_000;

/**
 * Writes the index as a whole. What another process has written since `stamp` and is not known here is taken over
 * first: both may have begun with nothing and done different halves. Answers with the new stamp.
 */
export async function saveIndex(
  path: string,
  index: CodeIndex,
  identity: IndexIdentity,
  stamp: number,
  adopt: (other: CodeIndex) => void,
): Promise<number> {
  return withLock(`${path}.lock`, { waitMs: LOCK_MS }, async () => {
    if (((await modifiedAt(path)) ?? stamp) !== stamp) {
      const other = await loadIndex(path, identity);
      if (other.state === 'ready') adopt(other.index);
    }
    await writeAtomic(path, encodeIndex(index, identity));
    return (await modifiedAt(path)) ?? 0;
  });
}
