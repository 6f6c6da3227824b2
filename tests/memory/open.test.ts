import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { openProject, storeIn } from './open-project.ts';
import { memory } from './places.ts';

const words = (name: string, text: string) => memory(name, text, { vector: undefined });

async function project(): Promise<string> {
  const root = await temporaryFolder(onTestFinished);
  await writeFiles(root, KIT_FILES);
  return root;
}

const engineOf = async (options: Parameters<typeof storeIn>[1]): Promise<string> => {
  const store = await storeIn(await project(), options);
  const { engine } = await store.health();
  await store.close();
  return engine;
};

it('opens the best index that there is, or the one that is asked for', async () => {
  expect(await engineOf({})).toBe('sqlite');
  expect(await engineOf({ engine: 'sqlite', qdrantUrl: 'http://127.0.0.1:9' })).toBe('sqlite');
  expect(await engineOf({ engine: 'memory' })).toBe('memory');
  expect(await engineOf({ qdrantUrl: 'http://127.0.0.1:9' })).toBe('qdrant');
});

it('does not go to another engine because the one asked for is away', async () => {
  const root = await project();
  const store = await storeIn(root, { qdrantUrl: 'http://127.0.0.1:9' });
  await expect(store.upsert([words('a', 'Where does this go?')])).rejects.toMatchObject({
    code: 'unavailable',
  });
  await store.close();
  await expect(storeIn(root, { engine: 'qdrant' })).rejects.toMatchObject({ code: 'invalid_input' });
});

describe('a project that hosts with and without SQLite share', () => {
  async function withoutSqlite(root: string, engine: string): Promise<unknown> {
    const opener = await childProgram('tests/memory/opener.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [opener, root, engine]);
    return JSON.parse(stdout);
  }

  it('has the same memories for both', async () => {
    const root = await project();
    const store = await storeIn(root);
    await store.upsert([words('b', 'Written where there is SQLite.')]);
    expect(await withoutSqlite(root, 'auto')).toEqual({ engine: 'memory', count: 2, notes: '' });
    expect(await store.count({})).toBe(2);
    await store.close();
  });

  it('gets an error where SQLite was asked for by name', async () => {
    expect(await withoutSqlite(await project(), 'sqlite')).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('SQLite is not available on this machine') as string,
    });
  });
});

describe('one who may only read', () => {
  it('finds what is there and what comes, and writes no line', async () => {
    const root = await project();
    const writer = await openProject(root);
    await writer.remember({ type: 'decisions', agent: 'dev', text: 'Redis keeps the sessions' });
    const folder = join(root, '_bmad/_memory/.bmad-memory');
    const before = await readdir(folder, { recursive: true });
    const reader = await openProject(root, { writes: false });
    expect((await reader.list({ stored: true }, { limit: 9 })).entries).toHaveLength(1);
    const given = { type: 'decisions', agent: 'dev', text: 'Never written' } as const;
    await expect(reader.remember(given)).rejects.toThrow('only read here');
    expect(await readdir(folder, { recursive: true })).toEqual(before);
    await writer.remember({ ...given, text: 'Redis is emptied at night' });
    expect((await reader.list({ stored: true }, { limit: 9 })).entries).toHaveLength(2);
    await Promise.all([reader.close(), writer.close()]);
  });

  it('makes nothing where there is nothing', async () => {
    const root = await project();
    const reader = await openProject(root, { writes: false });
    expect((await reader.list({ stored: true }, { limit: 9 })).entries).toEqual([]);
    await reader.close();
    expect(await readdir(join(root, '_bmad/_memory'))).not.toContain('.bmad-memory');
    expect(await readdir(root)).not.toContain('no-state');
  });
});

it.each(['a file in its place', 'no right to write'])(
  'finds memories without a cache folder, because of %s, and says so',
  async (why) => {
    if (why === 'no right to write' && process.getuid?.() === 0) return;
    const root = await project();
    const cache = join(await temporaryFolder(onTestFinished), 'cache');
    if (why === 'no right to write') {
      await mkdir(cache);
      await chmod(cache, 0o500);
    } else await writeFile(cache, 'not a folder');
    const store = await storeIn(root, { cache });
    await store.upsert([words('a', 'Redis keeps the sessions')]);
    expect(await store.count({})).toBe(1);
    const health = await store.health();
    expect(health).toMatchObject({ engine: 'memory', degraded: true });
    expect(health.notes.join()).toMatch(/cache.*keeps an index in its memory/);
    await store.close();
  },
);
