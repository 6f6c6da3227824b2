import { execFile } from 'node:child_process';
import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '../../src/services/memory/open.ts';
import { childProgram } from '../support/child-program.ts';
import { memory, storeOptions } from './places.ts';

type Engine = 'auto' | 'sqlite' | 'jsonl';
let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bmad-open-'));
});

/** What a machine with SQLite uses. */
async function used(engine: Engine): Promise<{ engine: string; notes: string }> {
  const store = await openStore({ folder, engine }, storeOptions());
  try {
    await store.upsert([memory('a', `A memory of ${engine}.`)]);
    const health = await store.health();
    return { engine: health.engine, notes: health.notes.join(' ') };
  } finally {
    await store.close();
  }
}

/** What a machine without SQLite uses, or the error it gets. */
async function usedWithoutSqlite(engine: Engine): Promise<unknown> {
  const opener = await childProgram('tests/memory/opener.ts');
  const { stdout } = await promisify(execFile)(process.execPath, [opener, folder, engine]);
  return JSON.parse(stdout);
}

describe('a folder that hosts with and without SQLite share', () => {
  it('gets no empty log beside its database', async () => {
    await used('auto');
    expect(await usedWithoutSqlite('auto')).toMatchObject({
      code: 'unavailable',
      hint: expect.stringMatching(/@photostructure\/sqlite.*memory_engine to "jsonl"/) as string,
    });
    expect(await readdir(folder)).not.toContain('.bmad-memory.jsonl');
  });

  it('gets no empty database beside its log', async () => {
    expect(await usedWithoutSqlite('auto')).toMatchObject({ engine: 'jsonl' });
    await expect(used('auto')).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('export everything with that setting') as string,
      steps: [
        { operation: 'memory_export', args: { format: 'jsonl', all: true } },
        { operation: 'memory_import' },
      ],
    });
    expect(await readdir(folder)).not.toContain('.bmad-memory.db');
  });

  it('has both on purpose only, and says so', async () => {
    expect((await used('auto')).notes).toBe('');
    await used('jsonl');
    for (const engine of ['auto', 'jsonl', 'sqlite'] as const)
      expect((await used(engine)).notes).toContain('There are two stores');
    expect(await usedWithoutSqlite('auto')).toMatchObject({
      message: expect.stringContaining('SQLite is not available to open it') as string,
    });
  });

  it('gets an error where SQLite was asked for by name', async () => {
    expect(await usedWithoutSqlite('sqlite')).toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('SQLite is not available on this machine') as string,
    });
  });

  it('may have other files', async () => {
    await writeFile(join(folder, '.gitignore'), '*\n');
    expect(await used('auto')).toEqual({ engine: 'sqlite', notes: '' });
  });
});
