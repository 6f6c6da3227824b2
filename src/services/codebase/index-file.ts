import { createHash } from 'node:crypto';
import { appendWhole } from '../../base/files/file-shared.ts';
import { writeFailure } from '../../base/files/file-refusals.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { readStateBytes, sizeAndTime, writeAtomic } from '../../base/files/file-state.ts';
import type { Analyser } from '../../meaning/analyse.ts';
import { type CodeIndex, createVocabulary, type IndexedFile, usedWords, WordList } from './words.ts';
import { bytesOfPack, packIn, repacked, type PackSize } from './pieces.ts';

/** Increased when pieces are cut or counted differently: an index of another version is rebuilt. */
const VERSION = 4;
const MAGIC = Buffer.from(`bmad code index ${VERSION}`.padEnd(23).concat('\n'));
const LENGTHS = 8;
const DIGEST = 32;
/** What Node reads at once, and far more than the largest project needs. */
const MOST_BYTES = 2 ** 31 - 1;

export interface IndexIdentity {
  root: string;
  analyser: Analyser;
  /** What made the vectors; they are dropped when it is another one now. */
  embedder: { id: string; dim: number } | undefined;
}

type FileRow = [
  path: string,
  mtimeMs: number,
  size: number,
  hash: string,
  language: string,
  rough: number,
  skipped: string,
  pieces: number,
  vectors: number,
];

interface Head {
  root: string;
  analyser: string;
  embedder: string;
  dim: number;
  /** How many words the parts before have, and this one adds. */
  known: number;
  words: number;
  size: PackSize;
  files: FileRow[];
}

/** What of an index is on disk. */
export interface Written {
  /** Of the file; undefined when it was not written. */
  stamp: string | undefined;
  words: number;
  /** With those of files that have changed since and are there in two versions. */
  pieces: number;
  /** Whether what is new can be put after it. */
  grows: boolean;
}

export const UNWRITTEN: Written = { stamp: undefined, words: 0, pieces: 0, grows: false };

export type Loaded =
  | { state: 'none' | 'damaged' | 'other' }
  | { state: 'ready'; index: CodeIndex; written: Written };

/**
 * A part of the file: two lengths, a JSON head, the words that the parts before do not have, a pack, and a digest of all that. The
 * files that are given back are in the very pack that is written.
 */
function encodePart(
  files: readonly IndexedFile[],
  { list }: CodeIndex['vocabulary'],
  known: number,
  { root, analyser, embedder }: IndexIdentity,
): { bytes: Uint8Array[]; files: IndexedFile[]; pieces: number } {
  const dim = embedder?.dim ?? 0;
  const { bytes: pack, size, files: moved } = repacked(files, dim);
  const head: Head = {
    root,
    analyser: analyser.id,
    embedder: embedder?.id ?? '',
    dim,
    known,
    words: list.size - known,
    size,
    files: files.map((file) => [
      file.path,
      file.mtimeMs,
      file.size,
      file.hash,
      file.language,
      file.rough ? 1 : 0,
      file.skipped ?? '',
      file.count,
      file.vectorsFrom === undefined ? 0 : 1,
    ]),
  };
  const written = Buffer.from(JSON.stringify(head));
  const words = list.from(known);
  // Blanks, so that the numbers begin at a multiple of four and can be used where they are read.
  const blanks = Buffer.alloc((4 - ((written.length + words.length) % 4)) % 4, ' ');
  const lengths = Buffer.alloc(LENGTHS);
  lengths.writeUInt32LE(written.length + blanks.length);
  lengths.writeUInt32LE(words.length, 4);
  const bytes: Uint8Array[] = [lengths, written, blanks, words, pack];
  const digest = createHash('sha256');
  for (const part of bytes) digest.update(part);
  return { bytes: [...bytes, digest.digest()], files: moved, pieces: size.pieces };
}

/** What cannot be a whole index of this version is no index. A last part that is not whole was being written when the process ended. */
function decodeIndex(
  read: Buffer,
  { root, analyser, embedder }: IndexIdentity,
): { index: CodeIndex; written: Written } | 'damaged' | 'other' {
  if (read.subarray(0, 16).compare(MAGIC.subarray(0, 16)) !== 0) return 'damaged';
  if (read.subarray(0, MAGIC.length).compare(MAGIC) !== 0) return 'other';
  const bytes = read.byteOffset % 4 === 0 ? read : Buffer.from(new Uint8Array(read).buffer);
  const texts: Buffer[] = [];
  let words = 0;
  const files = new Map<string, IndexedFile>();
  let pieces = 0;
  let at = MAGIC.length;
  while (at + LENGTHS < bytes.length) {
    const textAt = at + LENGTHS + bytes.readUInt32LE(at);
    const packAt = textAt + bytes.readUInt32LE(at + 4);
    if (packAt + DIGEST > bytes.length) break;
    const head = headIn(bytes.toString('utf8', at + LENGTHS, textAt));
    if (head === undefined) return 'damaged';
    const end = packAt + bytesOfPack(head.size);
    if (end + DIGEST > bytes.length) break;
    const digest = createHash('sha256').update(bytes.subarray(at, end)).digest();
    if (digest.compare(bytes.subarray(end, end + DIGEST)) !== 0 || head.known !== words) return 'damaged';
    if (head.root !== root || head.analyser !== analyser.id) return 'other';
    texts.push(bytes.subarray(textAt, packAt));
    words += head.words;
    const pack = packIn(bytes.subarray(packAt), head.size);
    const hasVectors = head.embedder === (embedder?.id ?? '') && head.dim === (embedder?.dim ?? 0);
    let [first, vectorsFrom] = [0, 0];
    for (const [path, mtimeMs, size, hash, language, rough, skipped, count, vectors] of head.files) {
      files.delete(path);
      files.set(path, {
        path,
        mtimeMs,
        size,
        hash,
        language,
        rough: rough === 1,
        ...(skipped === '' ? {} : { skipped }),
        pack,
        first,
        count,
        vectorsFrom: hasVectors && vectors === 1 ? vectorsFrom : undefined,
      });
      first += count;
      vectorsFrom += vectors * count * head.dim;
    }
    pieces += first;
    at = end + DIGEST;
  }
  if (at === MAGIC.length) return 'damaged';
  const isWhole = at === bytes.length;
  const list = new WordList(Buffer.concat(texts));
  const used = usedWords(list, files.values());
  const vocabulary = createVocabulary(analyser, used ?? list);
  return {
    index: { files, vocabulary },
    written: { stamp: undefined, words, pieces, grows: isWhole && used === undefined },
  };
}

function headIn(text: string): Head | undefined {
  try {
    return JSON.parse(text) as Head;
  } catch {
    return undefined;
  }
}

/** Two may write within one tick of the clock, and each makes the file longer. */
async function stampOf(path: string): Promise<string | undefined> {
  const found = await sizeAndTime(path);
  return found === undefined ? undefined : `${found.mtimeMs} ${found.size}`;
}

/** The index file of one project. A damaged one is distinguished from a missing one. */
export async function loadIndex(path: string, identity: IndexIdentity): Promise<Loaded> {
  try {
    // First: what another process adds in the meantime must make the file another one.
    const stamp = await stampOf(path);
    const bytes = await readStateBytes(path, { maxBytes: MOST_BYTES });
    if (bytes === undefined) return { state: 'none' };
    const found = decodeIndex(bytes, identity);
    return typeof found === 'string'
      ? { state: found }
      : { state: 'ready', index: found.index, written: { ...found.written, stamp } };
  } catch {
    return { state: 'damaged' };
  }
}

const LOCK_MS = 2_000;
/** So many files are written at once: enough to be few parts, and few enough that a copy of them is small. */
const IN_PART = 1_000;

/**
 * Writes what has changed after what is there, or all of it anew. What another process has written in the meantime and is not
 * known here is taken over first: both may have begun with nothing and done different halves.
 */
export async function saveIndex(
  path: string,
  index: CodeIndex,
  identity: IndexIdentity,
  { written, changed, anew }: { written: Written; changed: Iterable<string>; anew: boolean },
  adopt: (other: CodeIndex) => void,
): Promise<Written> {
  const { files, vocabulary } = index;
  let { words, pieces } = written;
  function part(paths: readonly string[]): Uint8Array[] {
    const there = paths.flatMap((name) => files.get(name) ?? []);
    const { bytes, files: moved, pieces: more } = encodePart(there, vocabulary, words, identity);
    for (const file of moved) files.set(file.path, file);
    words = vocabulary.list.size;
    pieces += more;
    return bytes;
  }
  function* whole(): Generator<Uint8Array> {
    [words, pieces] = [0, 0];
    yield MAGIC;
    const paths = [...files.keys()];
    for (let from = 0; from === 0 || from < paths.length; from += IN_PART)
      yield* part(paths.slice(from, from + IN_PART));
  }
  return withLock(`${path}.lock`, { waitMs: LOCK_MS }, async () => {
    const now = await stampOf(path);
    const isOurs = now !== undefined && now === written.stamp;
    if (now !== undefined && !isOurs) {
      const other = await loadIndex(path, identity);
      if (other.state === 'ready') adopt(other.index);
    }
    if (isOurs && written.grows && !anew)
      await appendWhole(path, { sync: true }, async () => Buffer.concat(part([...changed]))).catch(
        (error: unknown) => {
          throw writeFailure(path, error);
        },
      );
    else await writeAtomic(path, whole());
    return { stamp: await stampOf(path), words, pieces, grows: true };
  });
}
