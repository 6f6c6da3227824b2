import { t } from '../../base/text/message.ts';
import { BmadError } from '../../base/errors.ts';
import { readInside } from '../../base/files/files.ts';
import { breath } from '../../base/async.ts';
import { type Embedder, smallVector, wholeVector } from '../vectors.ts';
import { fold, splitHumps } from '../words.ts';

/** The file of the model, made by training/pack.py; training/MODEL_CARD.md says what is in it. */
export const MODEL_FILE = 'embedder.bin';

const MAGIC = 'BMADEMB2';
const MOST_BYTES = 32_000_000;
const LONGEST_WORD = 40;
/** Text beyond this says nothing more about its subject, and no one should wait for it. */
const MOST_LETTERS = 200_000;

interface Model {
  id: string;
  dim: number;
  buckets: number;
  words: () => WordRows;
  /** The step of each row: what one of its numbers counts. */
  steps: Float32Array;
  /** Two numbers in a byte, the first in its lower half, each eight more than it is. */
  table: Uint8Array;
  /** What words that were met before stand for: texts of one kind have the same words again and again. */
  met: Map<string, Float64Array>;
}

/** Two megabytes for each thousand. */
const MOST_MET = 2_000;

/** Reads the model from a folder; takes some tens of milliseconds, so call it when the first vector is needed. */
export async function openStaticEmbedder(folder: string): Promise<Embedder> {
  const model = readModel(
    await readInside(folder, MODEL_FILE, MOST_BYTES).catch((error: unknown) => {
      const missing = error instanceof BmadError && error.code === 'not_found';
      throw unusable(missing ? t`is missing` : 'cannot be read', error);
    }),
  );
  return {
    id: model.id,
    dim: model.dim,
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (const text of texts) {
        await breath();
        signal?.throwIfAborted();
        vectors.push(embedOne(text, model));
      }
      return vectors;
    },
  };
}

function embedOne(text: string, model: Model): Float32Array {
  const { dim } = model;
  const sum = new Float64Array(dim);
  for (const word of tokens(text)) {
    const own = wordVector(word, model);
    for (let i = 0; i < dim; i++) sum[i] = (sum[i] as number) + (own[i] as number);
  }
  let square = 0;
  for (let i = 0; i < dim; i++) square += (sum[i] as number) ** 2;
  const length = Math.sqrt(square);
  if (square > 0) for (let i = 0; i < dim; i++) sum[i] = (sum[i] as number) / length;
  return new Float32Array(sum);
}

function tokens(text: string): string[] {
  const words =
    splitHumps(fold(text.slice(0, MOST_LETTERS)))
      .toLowerCase()
      .match(/[a-z0-9]+/g) ?? [];
  return words.filter((word) => word.length > 1).map((word) => word.slice(0, LONGEST_WORD));
}

function wordVector(word: string, { words, buckets, steps, table, dim, met }: Model): Float64Array {
  const known = met.get(word);
  if (known !== undefined) return known;
  const made = new Float64Array(dim);
  const used = features(word, words(), buckets);
  for (const row of used) {
    const step = (steps[row] ?? 0) / Math.sqrt(used.length);
    const start = (row * dim) / 2;
    for (let i = 0; i < dim; i += 2) {
      const both = table[start + i / 2] as number;
      made[i] = (made[i] as number) + ((both & 15) - 8) * step;
      made[i + 1] = (made[i + 1] as number) + ((both >> 4) - 8) * step;
    }
  }
  if (met.size >= MOST_MET) met.clear();
  met.set(word, made);
  return made;
}

/** The rows that stand for a word: its own, if it has one, and those of its hashed parts. */
function features(word: string, words: WordRows, buckets: number): number[] {
  const own = words.rowOf(word);
  const parts: string[] = [];
  if (word.length >= 5) parts.push(`<${word.slice(0, 4)}`);
  if (word.length >= 7) parts.push(`<${word.slice(0, 6)}`);
  if (own === undefined) {
    const marked = `<${word}>`;
    for (let i = 0; i < Math.max(1, marked.length - 3); i++) parts.push(marked.slice(i, i + 4));
  }
  const hashed = parts.map((part) => words.count + (fnv(part) % buckets));
  return own === undefined ? hashed : [own, ...hashed];
}

const FNV_START = 0x811c9dc5;
const fnvStep = (hash: number, code: number): number => Math.imul(hash ^ code, 0x01000193);

function fnv(text: string): number {
  let hash = FNV_START;
  for (let i = 0; i < text.length; i++) hash = fnvStep(hash, text.charCodeAt(i));
  return hash >>> 0;
}

const LINE_END = 10;

/**
 * The row of each word, found by its hash among the bytes of the list. Every process opens the model for its first search
 * or memory and asks for a few words: a string and an entry of a map for each of all the words would take ten times as long.
 */
class WordRows {
  readonly count: number;
  readonly #bytes: Buffer;
  readonly #ends: Int32Array;
  /** One more than the row; 0 is free. More than twice as many as there are words, so that few share a place. */
  readonly #slots: Int32Array;

  constructor(bytes: Buffer, count: number) {
    this.count = count;
    this.#bytes = bytes;
    this.#ends = new Int32Array(count);
    this.#slots = new Int32Array(2 ** Math.ceil(Math.log2(count * 2 + 1)));
    let [row, hash] = [0, FNV_START];
    for (let at = 0; at <= bytes.length; at++) {
      const code = at === bytes.length ? LINE_END : (bytes[at] as number);
      if (code !== LINE_END) {
        hash = fnvStep(hash, code);
        continue;
      }
      if (row === count) throw unusable(t`is damaged`, new Error('truncated'));
      this.#ends[row] = at;
      this.#slots[this.#place(hash, (taken) => taken === 0)] = ++row;
      hash = FNV_START;
    }
    if (row !== count) throw unusable(t`is damaged`, new Error('truncated'));
  }

  rowOf(word: string): number | undefined {
    const taken = this.#slots[this.#place(fnv(word), (row) => row === 0 || this.#is(row - 1, word))] ?? 0;
    return taken === 0 ? undefined : taken - 1;
  }

  #place(hash: number, fits: (taken: number) => boolean): number {
    const last = this.#slots.length - 1;
    let place = hash & last;
    while (!fits(this.#slots[place] as number)) place = (place + 1) & last;
    return place;
  }

  #is(row: number, word: string): boolean {
    const start = row === 0 ? 0 : (this.#ends[row - 1] as number) + 1;
    if ((this.#ends[row] as number) - start !== word.length) return false;
    for (let i = 0; i < word.length; i++) if (this.#bytes[start + i] !== word.charCodeAt(i)) return false;
    return true;
  }
}

/** Magic, length of the head, head as JSON, words one a line, one step a row, then the rows with four bits a number. */
function readModel(file: Buffer): Model {
  try {
    if (file.toString('latin1', 0, 8) !== MAGIC) throw new Error(t`another kind of file`);
    const headEnd = 12 + file.readUInt32LE(8);
    const head = checkedHead(JSON.parse(file.toString('utf8', 12, headEnd)));
    const wordsEnd = headEnd + head.wordBytes;
    const count = head.words + head.buckets;
    const stepsEnd = wordsEnd + count * 4;
    if (file.length !== stepsEnd + (count * head.dim) / 2) throw new Error('truncated');
    let rows: WordRows | undefined;
    // To open memories asks for the name of the model only.
    const words = (): WordRows => (rows ??= new WordRows(file.subarray(headEnd, wordsEnd), head.words));
    // Copied, because numbers of four bytes must begin at a multiple of four; all machines of Node are little-endian here.
    const steps = new Float32Array(new Uint8Array(file.subarray(wordsEnd, stepsEnd)).buffer);
    const table = new Uint8Array(file.buffer, file.byteOffset + stepsEnd, (count * head.dim) / 2);
    return { id: head.id, dim: head.dim, buckets: head.buckets, words, steps, table, met: new Map() };
  } catch (cause) {
    throw unusable(t`is damaged`, cause);
  }
}

type Head = Pick<Model, 'id' | 'dim' | 'buckets'> & { words: number; wordBytes: number };

function checkedHead(value: unknown): Head {
  const { id, dim, buckets, words, wordBytes } = value as Head;
  const whole = [dim, buckets, words, wordBytes].every(
    (number) => Number.isSafeInteger(number) && number > 0,
  );
  if (typeof id !== 'string' || id === '' || !whole || dim % 2 !== 0)
    throw new Error(t`an unreadable header`);
  return { id, dim, buckets, words, wordBytes };
}

function unusable(what: string, cause: unknown): BmadError {
  return new BmadError('unavailable', t`The embedding model file ${what}.`, {
    subject: MODEL_FILE,
    hint: t`Reinstall the server to restore it. Until then, search compares words only.`,
    cause,
  });
}

/** Vectors that were made when the server was built, so that the first search need not make them. */
export const PREPARED_FILE = 'search-vectors.json';

interface Prepared {
  /** The id of the embedder that made them. */
  model: string;
  /** By the text: the scale, then the numbers. */
  vectors: Record<string, [number, string]>;
}

/** The file for these texts. */
export async function prepareVectors(texts: readonly string[], embedder: Embedder): Promise<string> {
  const vectors = await embedder.embed(texts);
  const entries = texts.map((text, index): [string, [number, string]] => {
    const { numbers, scale } = smallVector(vectors[index] ?? new Float32Array());
    return [text, [scale, Buffer.from(numbers).toString('base64')]];
  });
  const prepared: Prepared = { model: embedder.id, vectors: Object.fromEntries(entries) };
  return JSON.stringify(prepared);
}

/** The same embedder, which looks up what was prepared; with a file of another model, simply the same. */
export function withPrepared(embedder: Embedder, file: string): Embedder {
  const { model, vectors } = parsed(file);
  if (model !== embedder.id) return embedder;
  const known = new Map(Object.entries(vectors));
  return {
    id: embedder.id,
    dim: embedder.dim,
    async embed(texts, signal) {
      const unknown = texts.filter((text) => !known.has(text));
      const made = (await embedder.embed(unknown, signal)).values();
      return texts.map((text) => {
        const [scale, numbers] = known.get(text) ?? [];
        if (scale === undefined || numbers === undefined) return made.next().value ?? new Float32Array();
        return wholeVector({ scale, numbers: new Int8Array(Buffer.from(numbers, 'base64')) });
      });
    },
  };
}

function parsed(file: string): Prepared {
  try {
    return JSON.parse(file) as Prepared;
  } catch (cause) {
    throw new BmadError('unavailable', t`The file with the prepared vectors is damaged.`, {
      subject: PREPARED_FILE,
      hint: t`Reinstall the server to restore it.`,
      cause,
    });
  }
}
