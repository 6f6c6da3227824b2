import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { repository } from '../../../tests/support/app.ts';
import { MODEL_FILE, openStaticEmbedder } from './static.ts';

interface Golden {
  sha256: string;
  bytes: number;
  texts: { text: string; vector: number[] }[];
}

const assets = join(repository, 'assets');
const golden = JSON.parse(await readFile(join(repository, 'training', 'golden.json'), 'utf8')) as Golden;
const embedder = await openStaticEmbedder(assets);

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

async function folderWith(content: Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'embedder-'));
  folders.push(folder);
  await writeFile(join(folder, MODEL_FILE), content);
  return folder;
}

async function likeness(one: string, two: string): Promise<number> {
  const [a = new Float32Array(), b = new Float32Array()] = await embedder.embed([one, two]);
  return a.reduce((sum, value, i) => sum + value * (b[i] ?? 0), 0);
}

describe('static embedder', () => {
  it('is the file that the model card describes', async () => {
    const content = await readFile(join(assets, MODEL_FILE));
    expect(content.length).toBe(golden.bytes);
    expect(content.length).toBeLessThan(6_000_000);
    expect(createHash('sha256').update(content).digest('hex')).toBe(golden.sha256);
    const card = await readFile(join(repository, 'training', 'MODEL_CARD.md'), 'utf8');
    expect(card).toContain(golden.sha256);
  });

  it('gives the vectors that the trainer gave', async () => {
    const vectors = await embedder.embed(golden.texts.map(({ text }) => text));
    for (const [i, { text, vector }] of golden.texts.entries()) {
      expect(vectors[i]?.length, text).toBe(embedder.dim);
      for (const [j, value] of vector.entries()) expect(vectors[i]?.[j], text).toBeCloseTo(value, 3);
    }
  });

  it('gives vectors of length one, and zeros for a text without words', async () => {
    const [words, none] = await embedder.embed(['a release was cancelled', '… !']);
    expect(Math.hypot(...(words ?? []))).toBeCloseTo(1, 5);
    expect(none?.every((value) => value === 0)).toBe(true);
  });

  it('knows a translation from another sentence', async () => {
    const english = 'The database backup failed last night.';
    const french = 'La sauvegarde de la base de données a échoué cette nuit.';
    const other = 'Le thème sombre suit le réglage du système.';
    expect(await likeness(english, french)).toBeGreaterThan((await likeness(english, other)) + 0.2);
  });

  it('sees the words in identifiers, with and without accents', async () => {
    expect(await likeness('getUserName', 'get user name')).toBeCloseTo(1, 5);
    expect(await likeness('get_user_name', 'get-user-name')).toBeCloseTo(1, 5);
    expect(await likeness('déploiement', 'deploiement')).toBeCloseTo(1, 5);
  });

  it('takes hostile texts: broken surrogates, NUL, a megabyte of one letter', async () => {
    const vectors = await embedder.embed(['\ud800 broken \udfff', 'a\0b release', 'x'.repeat(1_000_000)]);
    for (const vector of vectors) expect(vector.every(Number.isFinite)).toBe(true);
  });

  it('stops when the caller goes away', async () => {
    const texts = Array.from({ length: 600 }, () => 'some words to embed');
    await expect(embedder.embed(texts, AbortSignal.abort())).rejects.toThrow(/abort/i);
  });

  it('says so when the file is missing or damaged', async () => {
    const whole = await readFile(join(assets, MODEL_FILE));
    await expect(openStaticEmbedder(tmpdir())).rejects.toThrow(/model file is missing/);
    for (const content of [
      whole.subarray(0, 1_000_000),
      whole.subarray(100),
      Buffer.from('no model'),
      Buffer.alloc(0),
    ]) {
      await expect(openStaticEmbedder(await folderWith(content))).rejects.toMatchObject({
        code: 'unavailable',
        hint: expect.stringContaining('Reinstall the server') as string,
      });
    }
  });
});
