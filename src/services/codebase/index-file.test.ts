import { stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { analyser } from '../../../tests/memory/words.ts';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { type CodeIndex, createVocabulary } from './words.ts';
import { loadIndex, saveIndex, UNWRITTEN, type Written } from './index-file.ts';
import { packOf } from './pieces.ts';

const identity = { root: '/project', analyser, embedder: undefined };
type Held = { index: CodeIndex; written: Written };

const pathOfNew = async (): Promise<string> => join(await temporaryFolder(afterAll), 'project.index');

async function loaded(path: string): Promise<Held> {
  const found = await loadIndex(path, identity);
  return found.state === 'ready' ? found : expect.unreachable(found.state);
}

/** Adds a file with a word of its own. */
async function add(path: string, { index, written }: Held, name: string): Promise<Held> {
  index.vocabulary.counted([[name, 1]]);
  const file = { path: name, mtimeMs: 1, size: 1, hash: name, language: 'ts', rough: false };
  index.files.set(name, { ...file, ...packOf([], [], []) });
  const now = await saveIndex(path, index, identity, { written, changed: [name], anew: false }, (other) => {
    for (const [each, theirs] of other.files) if (!index.files.has(each)) index.files.set(each, theirs);
  });
  return { index, written: now };
}

const first = (path: string): Promise<Held> =>
  add(
    path,
    { index: { files: new Map(), vocabulary: createVocabulary(analyser) }, written: UNWRITTEN },
    'first',
  );

const namesIn = async (path: string): Promise<string[]> =>
  [...(await loaded(path)).index.files.keys()].sort();

describe('the file of an index', () => {
  it('keeps what another process has added within one tick of the clock', async () => {
    const path = await pathOfNew();
    const other = await first(path);
    const held = await loaded(path);
    const { atime, mtime } = await stat(path);
    await utimes(path, atime, mtime);
    held.written = (await loaded(path)).written;
    await add(path, { ...other, written: held.written }, 'theirs');
    await utimes(path, atime, mtime);
    await add(path, held, 'ours');
    expect(await namesIn(path)).toEqual(['first', 'ours', 'theirs']);
  });
});
