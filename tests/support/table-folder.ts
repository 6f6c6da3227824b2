import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

export type Tensors = Record<string, { dtype: string; shape: number[]; data: Buffer }>;

/** The bytes of a safetensors file, as the format has them: length, header, numbers. */
export function safetensors(tensors: Tensors, pad = 0): Buffer {
  let from = 0;
  const described = Object.entries(tensors).map(([name, { dtype, shape, data }]) => {
    const offsets = [from, (from += data.length)];
    return [name, { dtype, shape, data_offsets: offsets }];
  });
  const header = Buffer.from(`${JSON.stringify(Object.fromEntries(described))}${' '.repeat(pad)}`);
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, header, ...Object.values(tensors).map(({ data }) => data)]);
}

export const floats = (values: number[]): Buffer => Buffer.from(new Float32Array(values).buffer);

/** A tokenizer that cuts words as BERT does. */
export function wordPieces(vocabulary: string[]): object {
  return {
    version: '1.0',
    added_tokens: [],
    normalizer: { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true, lowercase: true },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: null,
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      unk_token: '[UNK]',
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
      vocab: Object.fromEntries(vocabulary.map((token, id) => [token, id])),
    },
  };
}

/** Three subjects, each an axis; the rows of the unknown token must never count. */
export const VOCABULARY = ['[UNK]', 'ship', '##ping', 'deploy', 'cake', 'bake', 'cat'];
export const ROWS = [9, 9, 9, 1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1];

export async function writeTable(
  folder: string,
  tensors: Tensors | Buffer = { embeddings: { dtype: 'F32', shape: [7, 3], data: floats(ROWS) } },
  tokenizer: unknown = wordPieces(VOCABULARY),
): Promise<string> {
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, 'model.safetensors'),
    Buffer.isBuffer(tensors) ? tensors : safetensors(tensors),
  );
  const text = typeof tokenizer === 'string' ? tokenizer : JSON.stringify(tokenizer);
  if (tokenizer !== undefined) await writeFile(join(folder, 'tokenizer.json'), text);
  return folder;
}
