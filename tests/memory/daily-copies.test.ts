import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memoryCopies } from '../../src/operations/memory/memory-copies.ts';
import { memoryForget } from '../../src/operations/memory/memory-change.ts';
import { memoryPurge } from '../../src/operations/memory/memory-purge.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { copyToday } from '../../src/services/memory/daily-copies.ts';
import { openStore } from '../../src/services/memory/open.ts';
import { temporaryFolder } from '../support/app.ts';
import { KIT_FILES } from '../support/kit-project.ts';
import { memorySession } from '../support/memory-session.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';
import { writeFiles } from '../support/folders.ts';
import { sessionIn } from '../support/operations.ts';
import { memory, storeOptions } from './places.ts';

const today = (): string => new Date().toISOString().slice(0, 10);

describe.each(['sqlite', 'jsonl'] as const)('the daily copy of a store of %s', (engine) => {
  const ending = engine === 'sqlite' ? 'db' : 'jsonl';

  async function opened() {
    const top = await temporaryFolder(afterAll);
    const store = await openStore({ folder: join(top, 'memory'), engine }, storeOptions());
    return { store, file: store.file() ?? '', copies: join(top, 'copies') };
  }

  it('is made once a day, is whole, and is one of few', async () => {
    const { store, copies } = await opened();
    expect(await copyToday(store, copies)).toBeUndefined();
    await store.upsert([memory('a', 'Worth a copy.')]);
    await mkdir(copies);
    for (let day = 10; day < 20; day++) await writeFile(join(copies, `2026-01-${day}.${ending}`), '');
    const copy = (await copyToday(store, copies)) ?? '';
    expect(basename(copy)).toBe(`${today()}.${ending}`);
    await store.upsert([memory('b', 'Written later that day.')]);
    expect(await copyToday(store, copies)).toBeUndefined();
    expect(await readdir(copies)).toEqual([
      ...[14, 15, 16, 17, 18, 19].map((day) => `2026-01-${day}.${ending}`),
      `${today()}.${ending}`,
    ]);
    expect(await readFile(copy, 'latin1')).toContain('Worth a copy.');
    expect(await readFile(copy, 'latin1')).not.toContain('Written later that day.');
    await store.close();
  });

  it('is not made of a store that is damaged, and those before stay', async () => {
    const { store, file, copies } = await opened();
    await store.upsert(
      Array.from({ length: 100 }, (_, index) => memory(`m${index}`, `Memory ${index} of many.`)),
    );
    await store.close();
    await mkdir(copies);
    await writeFile(join(copies, `2026-01-10.${ending}`), 'as it was');
    const bytes = await readFile(file);
    if (engine === 'sqlite') bytes.fill(0xa5, 4096 * 3, 4096 * 8);
    else bytes.write('x', bytes.indexOf('\n') + 1);
    await rm(`${file}-wal`, { force: true });
    await writeFile(file, bytes);
    const damaged = await openStore({ folder: join(file, '..'), engine }, storeOptions()).catch(
      () => undefined,
    );
    if (damaged !== undefined) {
      await expect(copyToday(damaged, copies)).rejects.toMatchObject({ code: 'unavailable' });
      await damaged.close();
    }
    expect(await readdir(copies)).toEqual([`2026-01-10.${ending}`]);
    expect(await readFile(join(copies, `2026-01-10.${ending}`), 'utf8')).toBe('as it was');
  });

  it('is not a reason to make a store again that is gone', async () => {
    const { store, file, copies } = await opened();
    await store.upsert([memory('a', 'Worth a copy.')]);
    await rm(join(file, '..'), { recursive: true });
    expect(await copyToday(store, copies)).toBeUndefined();
    await expect(stat(file)).rejects.toThrow('ENOENT');
    await store.close();
  });
});

describe('restoring a daily copy', () => {
  it('is shown first, keeps what it replaces, and reaches hosts that are open', async () => {
    const [cwd, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    await writeFiles(cwd, KIT_FILES);
    const env = bareEnvironment(home);
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await bmad([...args, '--embedder', 'none'], { cwd, env });
      return { code, said: `${stdout.toString('utf8')}${stderr}` };
    };
    await run('memory', 'remember', 'decisions', 'dev', 'Decided before the copy');
    // There is something to copy when it is opened again.
    await run('memory', 'list');
    const listed = await run('memory', 'copies');
    expect(listed.said).toContain(`${today()}  `);
    const copy = /\S+\.db/.exec(listed.said)?.[0] ?? '';
    if (process.platform !== 'win32') expect((await stat(copy)).mode & 0o077).toBe(0);
    const host = await sessionIn(cwd, { flags: { embedder: 'none' }, env: { HOME: home } });
    const texts = async (): Promise<string[]> => {
      const { data } = await host.ok(recallStructured, { query: 'decided copy' });
      const hits = data['hits'] as { snippet: string; stored: boolean }[];
      // The kit's own files are no part of the copy, and keep what they have.
      const own = hits.filter(({ snippet, stored }) => stored && snippet.startsWith('Decided'));
      return own.map(({ snippet }) => snippet).sort();
    };
    await run('memory', 'remember', 'decisions', 'dev', 'Decided after the copy');
    expect(await texts()).toEqual(['Decided after the copy', 'Decided before the copy']);
    const shown = await run('memory', 'copies', '--restore', today());
    expect(shown.said).toMatch(/Would be restored: the copy of \S+ with 1 memory/);
    expect(await texts()).toHaveLength(2);
    const done = await run('memory', 'copies', '--restore', today(), '--apply');
    expect(done).toMatchObject({ code: 0 });
    expect(await texts()).toEqual(['Decided before the copy']);
    const kept = /kept as (\S+)/.exec(done.said)?.[1] ?? '';
    expect(await readFile(kept, 'latin1')).toContain('SQLite format 3');
    expect((await run('memory', 'copies', '--restore', '2020-01-01')).said).toContain('There is no copy of');
    host.close();
  });

  it('brings a damaged store back', async () => {
    const [cwd, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    await writeFiles(cwd, KIT_FILES);
    const env = bareEnvironment(home);
    const run = async (...args: string[]) => (await bmad([...args, '--embedder', 'none'], { cwd, env })).code;
    await run('memory', 'remember', 'decisions', 'dev', 'Decided before the damage');
    await run('memory', 'list');
    await writeFile(join(cwd, '_bmad/_memory/.bmad-memory/.bmad-memory.db'), 'nothing of use '.repeat(1_000));
    expect(await run('memory', 'count')).not.toBe(0);
    expect(await run('memory', 'copies', '--restore', today(), '--apply')).toBe(0);
    const { stdout } = await bmad(['memory', 'list', '--embedder', 'none'], { cwd, env });
    expect(stdout.toString('utf8')).toContain('Decided before the damage');
  });

  it('does not bring back what was purged', async () => {
    const session = await memorySession(afterAll);
    const id = await session.remember('decisions', 'dev', 'A secret of someone');
    await session.remember('decisions', 'dev', 'Nothing special at all');
    await session.ok(memoryForget, { id });
    await session.ok(memoryPurge, { ids: [id], apply: true });
    const store = join(session.folder, '_bmad/_memory/.bmad-memory/.bmad-memory.db');
    expect(await readFile(store, 'latin1')).not.toContain('A secret of someone');
    const { data } = await session.ok(memoryCopies);
    const copies = data['copies'] as { path: string }[];
    expect(copies).toHaveLength(1);
    expect(await readFile(copies[0]?.path ?? '', 'latin1')).not.toContain('A secret of someone');
  });
});
