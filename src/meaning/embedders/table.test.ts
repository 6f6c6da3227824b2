import { mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import {
  floats,
  ROWS,
  safetensors,
  VOCABULARY,
  wordPieces,
  writeTable,
} from '../../../tests/support/table-folder.ts';
import { openTable } from './table.ts';

/** Of two subjects in equal parts. */
const HALF = Math.round(Math.SQRT1_2 * 1000) / 1000;

let root: string;
let count = 0;
beforeAll(async () => {
  root = await temporaryFolder(afterAll);
});
const fresh = (): string => join(root, `table-${(count += 1)}`);

const plain = { dtype: 'F32', shape: [7, 3], data: floats(ROWS) };

async function vectors(folder: string, ...texts: string[]): Promise<number[][]> {
  const embedder = await openTable(folder);
  return (await embedder.embed(texts)).map((vector) =>
    [...vector].map((value) => Math.round(value * 1000) / 1000),
  );
}

describe('a table of the user', () => {
  it('gives a text the mean of the rows of its tokens, without those it does not know', async () => {
    const folder = await writeTable(fresh());
    expect(await vectors(folder, 'Shipping!', 'ship cake', 'zzz', '', 'deploy, deploy and cat')).toEqual([
      [1, 0, 0],
      [HALF, HALF, 0],
      [0, 0, 0],
      [0, 0, 0],
      [0.894, 0, 0.447],
    ]);
  });

  it('reads every kind of number that tables have, and folders of sentence-transformers', async () => {
    const f16 = Buffer.from(
      Uint16Array.from(ROWS.map((value) => (value === 1 ? 0x3c00 : value === 0 ? 0 : 0x4880))).buffer,
    );
    const bf16 = Buffer.from(
      Uint16Array.from(ROWS.map((value) => (value === 1 ? 0x3f80 : value === 0 ? 0 : 0x4110))).buffer,
    );
    const kinds = {
      F16: f16,
      BF16: bf16,
      I8: Buffer.from(Int8Array.from(ROWS)),
      F64: Buffer.from(Float64Array.from(ROWS).buffer),
    };
    for (const [dtype, data] of Object.entries(kinds)) {
      const folder = await writeTable(fresh(), { embeddings: { dtype, shape: [7, 3], data } });
      expect(await vectors(folder, 'ship cake')).toEqual([[HALF, HALF, 0]]);
    }
    const outer = fresh();
    await writeTable(join(outer, '0_StaticEmbedding'), { 'embedding.weight': plain });
    expect(await vectors(outer, 'cat')).toEqual([[0, 0, 1]]);
  });

  it('takes rows that tokens share, and weights of tokens', async () => {
    const folder = await writeTable(fresh(), {
      embeddings: { dtype: 'F32', shape: [3, 3], data: floats([1, 0, 0, 0, 1, 0, 0, 0, 1]) },
      mapping: {
        dtype: 'I64',
        shape: [7],
        data: Buffer.from(BigInt64Array.from([0n, 0n, 0n, 0n, 1n, 1n, 2n]).buffer),
      },
      weights: { dtype: 'F32', shape: [7], data: floats([1, 3, 0, 1, 4, 1, 1]) },
    });
    expect(await vectors(folder, 'shipping cake')).toEqual([[0.6, 0.8, 0]]);
  });

  it('cuts words by weights where the tokenizer does', async () => {
    const unigram = {
      added_tokens: [],
      normalizer: { type: 'NFKC' },
      pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true },
      post_processor: null,
      decoder: null,
      model: {
        type: 'Unigram',
        unk_id: 0,
        vocab: [
          ['<unk>', 0],
          ['▁ship', -2],
          ['ping', -3],
          ['▁cake', -2],
          ['▁', -4],
          ['s', -5],
          ['h', -5],
        ],
      },
    };
    const folder = await writeTable(fresh(), { embeddings: plain }, unigram);
    expect(await openTable(folder)).toMatchObject({ tokens: 'Unigram', rows: 7, dim: 3, dtype: 'F32' });
    expect(await vectors(folder, 'shipping')).toEqual([[1, 0, 0]]);
  });

  it('is another model as soon as its content is another', async () => {
    const first = await openTable(await writeTable(join(fresh(), 'potion')));
    const same = await openTable(await writeTable(join(fresh(), 'potion')));
    const other = await openTable(
      await writeTable(join(fresh(), 'potion'), {
        embeddings: { ...plain, data: floats(ROWS.toReversed()) },
      }),
    );
    expect(first.id).toMatch(/^table\/potion@[0-9a-f]{12}$/);
    expect(same.id).toBe(first.id);
    expect(other.id).not.toBe(first.id);
  });
});

describe('a folder that is no table', () => {
  const whole = safetensors({ embeddings: plain });
  const huge = Buffer.alloc(64);
  huge.writeBigUInt64LE(2n ** 60n);
  const overflowing = { embeddings: { dtype: 'F32', shape: [7, 3], data: floats(ROWS.slice(1)) } };
  it.each([
    ['empty', Buffer.alloc(0), undefined, 'model.safetensors is truncated: it ends before its header.'],
    [
      'cut in its header',
      whole.subarray(0, 40),
      undefined,
      'model.safetensors is truncated: it ends within its header.',
    ],
    [
      'cut in its numbers',
      whole.subarray(0, -5),
      undefined,
      'model.safetensors is truncated: 79 of 84 bytes of numbers are there.',
    ],
    ['with a huge header', huge, undefined, /has a header of \d+ bytes, and at most 1000000 are read/],
    [
      'with a header that is no JSON',
      Buffer.concat([whole.subarray(0, 8), Buffer.alloc(whole.length)]),
      undefined,
      'has a header that is not JSON',
    ],
    [
      'of whole numbers',
      { embeddings: { dtype: 'I32', shape: [7, 3], data: floats(ROWS) } },
      undefined,
      'embeddings of the kind I32',
    ],
    [
      'of unknown numbers',
      { embeddings: { dtype: 'F8_E4M3', shape: [7, 3], data: Buffer.alloc(21) } },
      undefined,
      /of the kind "F8_E4M3", which is not one of F64/,
    ],
    ['whose shape lies', overflowing, undefined, 'whose shape and size disagree'],
    [
      'that is one row',
      { embeddings: { dtype: 'F32', shape: [21], data: floats(ROWS) } },
      undefined,
      'of the shape [21], which is not a table',
    ],
    ['of another model', { weight: plain }, undefined, 'has no tensor "embeddings": it has "weight"'],
    [
      'with a mapping to nowhere',
      {
        embeddings: plain,
        mapping: { dtype: 'I32', shape: [7], data: Buffer.from(new Int32Array(7).fill(9).buffer) },
      },
      undefined,
      'maps token 0 to no row',
    ],
    [
      'with too few rows',
      { embeddings: { dtype: 'F32', shape: [2, 3], data: floats(ROWS.slice(0, 6)) } },
      undefined,
      'has 2 rows for the 7 tokens of tokenizer.json: they do not belong together',
    ],
    ['with a tokenizer that is no JSON', whole, '{', 'tokenizer.json is not JSON.'],
    ['with a tokenizer of nothing', whole, {}, 'tokenizer.json describes no model.'],
    [
      'with an unknown tokenizer',
      whole,
      { model: { type: 'Magic' } },
      'has a model of the type "Magic", which is not one of WordPiece',
    ],
    [
      'with a vocabulary of texts',
      whole,
      { model: { type: 'WordPiece', vocab: { a: 'b' } } },
      'has no usable vocabulary',
    ],
    [
      'with an unknown part',
      whole,
      { ...wordPieces(VOCABULARY), normalizer: { type: 'Nothing' } },
      'tokenizer.json cannot be used: a part of it is missing',
    ],
  ])('is refused: %s', async (_what, tensors, tokenizer, message) => {
    const folder = await writeTable(fresh(), tensors, tokenizer ?? wordPieces(VOCABULARY));
    await expect(openTable(folder)).rejects.toMatchObject({
      code: 'invalid_input',
      message:
        typeof message === 'string'
          ? (expect.stringContaining(message) as string)
          : (expect.stringMatching(message) as string),
    });
  });

  it('is refused without its files, and with links that lead out of it', async () => {
    const folder = await writeTable(fresh());
    await expect(openTable(join(root, 'nowhere'))).rejects.toMatchObject({ code: 'not_found' });
    await rename(join(folder, 'tokenizer.json'), join(root, 'outside.json'));
    await expect(openTable(folder)).rejects.toThrow('tokenizer.json is missing');
    await symlink(join(root, 'outside.json'), join(folder, 'tokenizer.json'));
    await expect(openTable(folder)).rejects.toMatchObject({
      message: expect.stringContaining('is a link that leads out of the folder') as string,
      hint: expect.stringContaining('cp -RL') as string,
    });
    await rm(join(folder, 'tokenizer.json'));
    await mkdir(join(folder, 'tokenizer.json'));
    await expect(openTable(folder)).rejects.toMatchObject({ code: 'forbidden' });
    await writeFile(join(root, 'file'), '');
    await expect(openTable(join(root, 'file'))).rejects.toMatchObject({ code: 'not_found' });
  });
});
