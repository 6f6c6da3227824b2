import { execFile } from 'node:child_process';
import { readdir, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import type { MemoryStore } from '../../src/services/memory/engine.ts';
import { openStore } from '../../src/services/memory/open.ts';
import { memoryStatus } from '../../src/operations/memory/memory-status.ts';
import { rememberStructured } from '../../src/operations/memory/remember-structured.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { memoryList } from '../../src/operations/memory/memory-read.ts';
import { temporaryFolder } from '../support/app.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { sessionIn, type OpenSession } from '../support/operations.ts';
import { keyOf, memory, storeOptions } from './places.ts';
import { embedded } from './words.ts';
import { copyFolder } from '../support/folders.ts';

type Engine = 'sqlite' | 'jsonl';
type Journal = 'wal' | 'delete';

const KINDS: [string, Engine, Journal][] = [
  ['SQLite', 'sqlite', 'wal'],
  ['SQLite without a write-ahead log', 'sqlite', 'delete'],
  ['a log', 'jsonl', 'wal'],
];

describe.each(KINDS)('a store of %s whose file goes away while hosts use it', (_kind, engine, journal) => {
  async function place(): Promise<{ folder: string; open: () => Promise<MemoryStore> }> {
    const folder = join(await temporaryFolder(afterAll), 'memory');
    return { folder, open: () => openStore({ folder, engine, journal }, storeOptions()) };
  }

  const textsIn = async (store: MemoryStore): Promise<string[]> =>
    (await store.list({ includeForgotten: true, includeSuperseded: true }, { limit: 50 })).entries
      .map(({ text }) => text)
      .sort();

  it('is made again with all that was answered for (R-01)', async () => {
    const { folder, open } = await place();
    const [one, two] = [await open(), await open()];
    await one.upsert([memory('a', 'The first wording of a.'), memory('gone', 'Forgotten before.')]);
    await one.update(memory('a', ''), { text: 'The second wording of a.', at: '2026-03-02T10:00:00.000Z' });
    await one.forget([keyOf(memory('gone', ''))], '2026-03-03T10:00:00.000Z');
    expect(await textsIn(two)).toHaveLength(2);
    await rm(folder, { recursive: true });
    await one.upsert([memory('b', 'Written after the file was gone.')]);
    const all = ['Forgotten before.', 'The second wording of a.', 'Written after the file was gone.'];
    // Another host, and one that starts only now.
    for (const store of [one, two, await open()]) {
      expect(await textsIn(store)).toEqual(all);
      expect((await store.revisions(memory('a', ''))).map(({ text }) => text)).toEqual([
        'The first wording of a.',
      ]);
      const query = { terms: ['written'], vector: embedded('written after'), filter: {}, limit: 5 };
      expect((await store.search(query))[0]?.entry.text).toBe('Written after the file was gone.');
      expect((await store.health()).notes.join()).not.toContain('removed');
      await store.close();
    }
  });

  it('meets the one that another host has begun meanwhile (R-01)', async () => {
    const { folder, open } = await place();
    const old = await open();
    await old.upsert([memory('a', 'Only in the old file.'), memory('both', 'In both files, older.')]);
    await rm(folder, { recursive: true });
    const other = await open();
    const newer = { at: '2026-03-05T10:00:00.000Z' };
    await other.upsert([
      memory('b', 'Only in the new file.'),
      memory('both', 'In both files, newer.', newer),
    ]);
    await old.upsert([memory('c', 'Written by the one that had the old file.')]);
    const all = [
      'In both files, newer.',
      'Only in the new file.',
      'Only in the old file.',
      'Written by the one that had the old file.',
    ];
    for (const store of [old, other, await open()]) {
      expect(await textsIn(store)).toEqual(all);
      await store.close();
    }
  });

  it('brings nothing back that was purged since (R-01)', async () => {
    const { folder, open } = await place();
    const [one, two] = [await open(), await open()];
    await one.upsert([memory('a', 'It stays.'), memory('secret', 'It has to go.')]);
    await one.forget([keyOf(memory('secret', ''))], '2026-03-03T10:00:00.000Z');
    expect(await textsIn(two)).toHaveLength(2);
    await rm(folder, { recursive: true });
    await one.upsert([memory('b', 'It is new.')]);
    expect(await one.purge([keyOf(memory('secret', ''))])).toHaveLength(1);
    // This one still has the old file open.
    await two.upsert([memory('c', 'It is newer.')]);
    expect(await textsIn(two)).toEqual(['It is new.', 'It is newer.', 'It stays.']);
    await Promise.all([one.close(), two.close()]);
  });

  it('takes a copy that a person has put back as it is (R-01)', async () => {
    const { folder, open } = await place();
    const before = await open();
    await before.upsert([memory('a', 'In the copy.')]);
    await before.close();
    const copy = `${folder}-copy`;
    copyFolder(folder, copy);
    const store = await open();
    await store.upsert([memory('b', 'After the copy.')]);
    await rm(folder, { recursive: true });
    copyFolder(copy, folder);
    expect(await textsIn(store)).toEqual(['In the copy.']);
    await store.close();
  });

  it('loses nothing when it goes away again and again (R-01)', async () => {
    const { folder, open } = await place();
    const hosts = [await open(), await open()];
    for (let round = 0; round < 6; round++) {
      await hosts[round % 2]?.upsert([memory(`m${round}`, `Memory number ${round}.`)]);
      // Whoever is to hold the last of it has to have seen it.
      for (const host of hosts) expect(await host.count({})).toBe(round + 1);
      await rm(folder, { recursive: true });
    }
    await hosts[0]?.upsert([memory('last', 'The last one.')]);
    const fresh = await open();
    expect(await fresh.count({})).toBe(7);
    await Promise.all([...hosts, fresh].map((store) => store.close()));
  });
});

describe('a store whose file becomes a link while a host uses it', () => {
  it('is not followed to a file of the user (R-01)', async () => {
    const top = await temporaryFolder(afterAll);
    const [folder, elsewhere] = [join(top, 'project/.bmad-memory'), join(top, 'elsewhere')];
    const open = (place: string) => openStore({ folder: place, engine: 'sqlite' }, storeOptions());
    const theirs = await open(elsewhere);
    await theirs.upsert([memory('theirs', 'Of the user, and of no one else.')]);
    await theirs.close();
    const store = await open(folder);
    await store.upsert([memory('a', 'Of the project.')]);
    await rm(join(folder, '.bmad-memory.db'));
    await symlink(join(elsewhere, '.bmad-memory.db'), join(folder, '.bmad-memory.db'));
    await expect(store.list({}, { limit: 5 })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(store.upsert([memory('b', 'Written elsewhere.')])).rejects.toMatchObject({
      code: 'forbidden',
    });
    await store.close();
    const after = await open(elsewhere);
    expect(await after.count({})).toBe(1);
    await after.close();
  });
});

describe('a project whose memory folder is cleared while a host works', () => {
  const remember = (session: OpenSession, text: string) =>
    session.ok(rememberStructured, { type: 'decisions', agent: 'dev', text });

  async function texts(session: OpenSession): Promise<string[]> {
    const { data } = await session.ok(memoryList);
    const own = (data['memories'] as { text: string }[]).map(({ text }) => text);
    return own.filter((text) => text.startsWith('Decided')).sort();
  }

  it('keeps what was remembered through "git clean -fdX" (R-01)', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, KIT_FILES);
    const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: folder });
    await git('init', '-q');
    const outside = { flags: { embedder: 'none' } };
    const [one, two] = [await sessionIn(folder, outside), await sessionIn(folder, outside)];
    await remember(one, 'Decided before the cleaning');
    expect(await texts(two)).toEqual(['Decided before the cleaning']);
    await git('clean', '-fdX');
    expect(await readdir(join(folder, '_bmad/_memory'))).not.toContain('.bmad-memory');
    await remember(one, 'Decided after the cleaning');
    const both = ['Decided after the cleaning', 'Decided before the cleaning'];
    expect(await texts(two)).toEqual(both);
    const { data } = await one.ok(memoryStatus);
    expect(data).toMatchObject({ memories: 2, degraded: false });
    expect(await readdir(join(folder, '_bmad/_memory/.bmad-memory'))).toContain('.gitignore');
    one.close();
    two.close();
    const later = await sessionIn(folder, outside);
    expect(await texts(later)).toEqual(both);
    later.close();
  });

  it('keeps it with the user when the whole BMAD folder is gone (R-01)', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, KIT_FILES);
    const outside = { flags: { embedder: 'none' } };
    const session = await sessionIn(folder, outside);
    await remember(session, 'Decided while there was a folder');
    await rm(join(folder, '_bmad'), { recursive: true });
    const { data } = await session.ok(recallStructured, { query: 'decided folder' });
    expect((data['hits'] as { snippet: string }[])[0]?.snippet).toBe('Decided while there was a folder');
    await remember(session, 'Decided when there was none');
    session.close();
    const later = await sessionIn(folder, outside);
    expect(await texts(later)).toEqual(['Decided when there was none', 'Decided while there was a folder']);
    expect((await later.ok(memoryStatus)).data).toMatchObject({ owner: 'user' });
    later.close();
  });
});
