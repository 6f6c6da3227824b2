import { basename } from 'node:path';
import { BmadError, quoted } from '../../base/errors.ts';
import { isFileInside, readInside, realFolder } from '../../base/files/files.ts';
import { sha256 } from '../../base/sha256.ts';
import type { Embedder } from '../embedder.ts';
import { BadTensors, readTensors, type Tensor } from './safetensors.ts';
import { BadTokenizer, readTokens, type TableTokens } from './table-tokens.ts';

/** The files of a table; sentence-transformers puts them into a folder of their own. */
const TENSORS = 'model.safetensors';
const TOKENIZER = 'tokenizer.json';
const INNER = '0_StaticEmbedding';
/** The largest tables of many languages have half a gigabyte. */
const MOST_BYTES = 1_073_741_824;
const MOST_TOKENIZER_BYTES = 100_000_000;
/** As Model2Vec does: what comes after says nothing more about the subject. */
const MOST_TOKENS = 512;
const MOST_LETTERS = 8_000;
/** How many texts are done before others get their turn. */
const TEXTS_AT_ONCE = 64;

/** A table of static embeddings that the user has brought. */
export interface TableEmbedder extends Embedder {
  /** The real path of the folder. */
  folder: string;
  rows: number;
  dtype: string;
  /** How its tokenizer cuts words. */
  tokens: string;
  /** Of its file with the numbers, which is held in memory. */
  bytes: number;
}

interface Table {
  rows: number;
  dim: number;
  values: Tensor;
  /** Which row a token has, where several share one. */
  mapping: Tensor | undefined;
  /** How much each token counts. */
  weights: Tensor | undefined;
}

/** Opens a Model2Vec table: `model.safetensors` and `tokenizer.json` in a folder that the user names. */
export async function openTable(folder: string, name?: string): Promise<TableEmbedder> {
  const place = await realFolder(folder);
  if (place === undefined)
    throw new BmadError('not_found', `There is no folder ${quoted(folder)}.`, {
      subject: folder,
      hint: `Name a folder with ${TENSORS} and ${TOKENIZER}.`,
    });
  const inner = !(await isFileInside(place, TENSORS)) && (await isFileInside(place, `${INNER}/${TENSORS}`));
  const at = (file: string): string => (inner ? `${INNER}/${file}` : file);
  const text = await content(place, at(TOKENIZER), MOST_TOKENIZER_BYTES);
  const file = await content(place, at(TENSORS), MOST_BYTES);
  const tokens = checked(place, at(TOKENIZER), () => readTokens(text.toString('utf8')));
  const table = checked(place, at(TENSORS), () => tableIn(file, tokens));
  // Vectors are kept beside this name: another content under the same name has to be another model.
  const id = `table/${name ?? basename(place)}@${sha256(Buffer.from(sha256(file) + sha256(text))).slice(0, 12)}`;
  return {
    id,
    dim: table.dim,
    folder: place,
    rows: table.rows,
    dtype: table.values.dtype,
    tokens: tokens.kind,
    bytes: file.length,
    async embed(texts, signal) {
      const vectors: Float32Array[] = [];
      for (const each of texts) {
        if (vectors.length % TEXTS_AT_ONCE === TEXTS_AT_ONCE - 1) await new Promise(setImmediate);
        signal?.throwIfAborted();
        vectors.push(embedOne(each, tokens, table));
      }
      return vectors;
    },
  };
}

/** The mean of the rows of its tokens, of length one. */
function embedOne(text: string, tokens: TableTokens, { dim, values, mapping, weights }: Table): Float32Array {
  const sum = new Float64Array(dim);
  for (const id of tokens.ids(text.slice(0, MOST_LETTERS)).slice(0, MOST_TOKENS)) {
    const start = (mapping?.at(id) ?? id) * dim;
    const weight = weights?.at(id) ?? 1;
    for (let i = 0; i < dim; i++) sum[i] = (sum[i] as number) + values.at(start + i) * weight;
  }
  const length = Math.sqrt(sum.reduce((square, value) => square + value * value, 0));
  // A row that is not a number would make every comparison with the text one that is not.
  return Number.isFinite(length) && length > 0
    ? new Float32Array(sum.map((value) => value / length))
    : new Float32Array(dim);
}

function tableIn(file: Buffer, tokens: TableTokens): Table {
  const tensors = readTensors(file);
  const values = tensors.get('embeddings') ?? tensors.get('embedding.weight');
  if (values === undefined)
    throw new BadTensors(
      `has no tensor "embeddings": it has ${
        [...tensors.keys()]
          .slice(0, 5)
          .map((name) => quoted(name))
          .join(', ') || 'none'
      }`,
    );
  const [rows = 0, dim = 0] = values.shape;
  if (values.shape.length !== 2 || rows === 0 || dim === 0)
    throw new BadTensors(`has embeddings of the shape [${values.shape.join(', ')}], which is not a table`);
  if (values.dtype.startsWith('I') && values.dtype !== 'I8')
    throw new BadTensors(
      `has embeddings of the kind ${values.dtype}, which is not one of F64, F32, F16, BF16, I8`,
    );
  const mapping = perToken(tensors.get('mapping'), tokens);
  const weights = perToken(tensors.get('weights'), tokens);
  if (mapping === undefined && rows < tokens.size) throw doesNotFit(`${rows} rows`, tokens);
  if (mapping !== undefined)
    for (let id = 0; id < tokens.size; id++) {
      const row = mapping.at(id);
      if (!(Number.isInteger(row) && row >= 0 && row < rows))
        throw new BadTensors(`maps token ${id} to no row`);
    }
  return { rows, dim, values, mapping, weights };
}

function perToken(tensor: Tensor | undefined, tokens: TableTokens): Tensor | undefined {
  if (tensor === undefined) return undefined;
  const length = tensor.shape.reduce((product, size) => product * size, 1);
  if (length < tokens.size) throw doesNotFit(`${length} ${tensor.name}`, tokens);
  return tensor;
}

function doesNotFit(has: string, tokens: TableTokens): BadTensors {
  return new BadTensors(
    `has ${has} for the ${tokens.size} tokens of ${TOKENIZER}: they do not belong together`,
  );
}

async function content(place: string, file: string, maxBytes: number): Promise<Buffer> {
  try {
    return await readInside(place, file, maxBytes);
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    if (error.code === 'not_found')
      throw unusable(
        place,
        file,
        'is missing',
        `A table is a folder with ${TENSORS} and ${TOKENIZER}, as Model2Vec saves it.`,
        error,
      );
    if (error.reason === 'outside')
      throw unusable(
        place,
        file,
        'is a link that leads out of the folder',
        `Copy the folder with its links resolved, as "cp -RL" does, and name the copy.`,
        error,
      );
    throw error;
  }
}

function checked<T>(place: string, file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof BadTensors || error instanceof BadTokenizer)
      throw unusable(
        place,
        file,
        error.message,
        'Fetch the folder again, or save it again with Model2Vec.',
        error,
      );
    throw error;
  }
}

function unusable(place: string, file: string, what: string, hint: string, cause: unknown): BmadError {
  return new BmadError('invalid_input', `The table cannot be used: ${file} ${what}.`, {
    subject: place,
    hint,
    cause,
  });
}
