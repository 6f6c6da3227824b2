import { mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { BmadError } from '../../src/base/errors.ts';
import { openStore } from '../../src/services/memory/open.ts';
import { memory, storeOptions } from './places.ts';

const host = vi.hoisted(() => ({ hasSqlite: true }));
vi.mock(import('../../src/services/memory/sqlite/driver.ts'), async (original) => {
  const real = await original();
  return {
    ...real,
    sqliteDriver: async () => {
      if (host.hasSqlite) return real.sqliteDriver();
      throw new BmadError('unavailable', 'There is no SQLite.');
    },
  };
});

type Engine = 'auto' | 'sqlite' | 'jsonl';
let folder = '';

beforeEach(async () => {
  host.hasSqlite = true;
  folder = await mkdtemp(join(tmpdir(), 'bmad-open-'));
});

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

describe('a folder that hosts with and without SQLite share', () => {
  it('gets no empty log beside its database', async () => {
    await used('auto');
    host.hasSqlite = false;
    await expect(used('auto')).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringMatching(/@photostructure\/sqlite.*memory_engine to "jsonl"/) as string,
    });
    expect(await readdir(folder)).not.toContain('.bmad-memory.jsonl');
  });

  it('gets no empty database beside its log', async () => {
    host.hasSqlite = false;
    expect((await used('auto')).engine).toBe('jsonl');
    host.hasSqlite = true;
    await expect(used('auto')).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('memory export --format jsonl --all') as string,
    });
    expect(await readdir(folder)).not.toContain('.bmad-memory.db');
  });

  it('has both on purpose only, and says so', async () => {
    expect((await used('auto')).notes).toBe('');
    await used('jsonl');
    for (const engine of ['auto', 'jsonl', 'sqlite'] as const)
      expect((await used(engine)).notes).toContain('There are two stores');
    host.hasSqlite = false;
    await expect(used('auto')).rejects.toThrow(/no SQLite here/);
  });

  it('may have other files', async () => {
    await writeFile(join(folder, '.gitignore'), '*\n');
    expect(await used('auto')).toEqual({ engine: 'sqlite', notes: '' });
  });
});
