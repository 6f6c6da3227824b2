import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { writeFiles } from '../../tests/support/folders.ts';
import { agentText, writeTree } from '../../tests/support/generated-tree.ts';
import { Keeper } from '../base/files/keeper.ts';
import { createLog } from '../base/log.ts';
import { createSecrets } from '../base/secrets/rules.ts';
import { readers } from '../readers/index.ts';
import { discoverSources } from '../sources/discover.ts';
import { buildCatalogue, openContent } from './build.ts';
import type { Catalogue } from './catalogue.ts';
import { diskCache, openKeptReadings, type KeptInMemory } from './kept-readings.ts';

const log = createLog({ level: 'silent', write: () => undefined, json: false, secrets: createSecrets() });

interface Opened {
  catalogue: Catalogue;
  /** Whether anything had to be read. */
  read: boolean;
  places: Keeper;
}

/** The content of a project as a process has it that keeps what it reads in `folder`. */
async function opened(
  project: string,
  folder: string,
  { memory = new Map(), builtIn = project }: { memory?: KeptInMemory; builtIn?: string } = {},
): Promise<Opened> {
  const places = new Keeper();
  const maxFileBytes = 1_000_000;
  const found = {
    mode: 'local',
    project,
    paths: [],
    root: undefined,
    git: [],
    home: '',
    maxFileBytes,
  } as const;
  const { sources } = await discoverSources({ ...found, seen: places });
  const parts = {
    places,
    memory,
    files: diskCache(dirname(folder), 'catalogue'),
    writes: true,
    fromPlaces: 0,
    builtIn,
    maxFileBytes,
    log,
  };
  const kept = openKeptReadings(parts);
  let read = false;
  const all = async (): Promise<typeof readers> => {
    read = true;
    return readers;
  };
  const { catalogue } = await openContent(sources, all, [], async () => kept);
  await kept.written();
  return { catalogue, read, places };
}

const contentOf = ({ catalogue }: Opened): unknown => [
  catalogue.records,
  catalogue.modules,
  catalogue.problems,
];

/** A project and a folder where what was read of it is kept. */
async function world(): Promise<{ project: string; folder: string }> {
  const project = await temporaryFolder(afterAll);
  await writeTree(project, 12);
  const folder = join(await temporaryFolder(afterAll), 'catalogue');
  return { project, folder };
}

/** What was written just now is not kept, as it may be written again in the same tick. */
async function keptIn(project: string, folder: string): Promise<void> {
  await expect.poll(async () => (await opened(project, folder)).read).toBe(false);
}

it('takes one look at every folder, however many readers there are', async () => {
  const { project } = await world();
  const found = { mode: 'local', project, paths: [], root: undefined, git: [], home: '' } as const;
  const { sources } = await discoverSources({ ...found, maxFileBytes: 1_000_000 });
  const listed: string[] = [];
  const counted = sources.map((source) => ({
    ...source,
    tree: { ...source.tree, list: (path: string) => (listed.push(path), source.tree.list(path)) },
  }));
  await buildCatalogue(counted, readers);
  expect(listed.length).toBeGreaterThan(12);
  const again = listed.filter((path, at) => path.includes('/workflows/') && listed.indexOf(path) !== at);
  expect(again).toEqual([]);
});

describe('what was read', () => {
  let project = '';
  let folder = '';
  beforeAll(async () => ({ project, folder } = await world()));

  it('is there for the next process, the same in every detail', async () => {
    await keptIn(project, folder);
    const fresh = await opened(project, join(folder, 'nowhere', 'catalogue'));
    const kept = await opened(project, folder);
    expect([fresh.read, kept.read]).toEqual([true, false]);
    expect(contentOf(kept)).toEqual(contentOf(fresh));
    expect(kept.catalogue.winners.every(({ origin }) => origin === kept.catalogue.sources[0]?.origin)).toBe(
      true,
    );
    expect(kept.places.size).toBe(fresh.places.size);
  });

  it('is not taken for more than it was read from: any edit counts', async () => {
    for (const edit of [
      () => writeFiles(project, { '_bmad/bmm/agents/agent-0.md': agentText('agent-0', 'Edited') }),
      () => writeFiles(project, { '_bmad/bmm/agents/newcomer.md': agentText('newcomer', 'New') }),
      () => rm(join(project, '_bmad/bmm/workflows/flow-3'), { recursive: true }),
      () => writeFiles(project, { '_bmad/bmm/config.yaml': 'user_name: Grace\n' }),
    ]) {
      await keptIn(project, folder);
      await edit();
      const [kept, fresh] = [
        await opened(project, folder),
        await opened(project, join(folder, 'nowhere', 'catalogue')),
      ];
      expect(kept.read).toBe(true);
      expect(contentOf(kept)).toEqual(contentOf(fresh));
    }
  });

  it('is left alone and made again when the file is damaged, or of another build', async () => {
    await keptIn(project, folder);
    const [name = ''] = await readdir(folder);
    const whole = await readFile(join(folder, name));
    const flipped = Buffer.from(whole);
    flipped[whole.length - 30] = (flipped[whole.length - 30] ?? 0) ^ 1;
    for (const damaged of [flipped, whole.subarray(0, -9), Buffer.alloc(0), Buffer.from('{}\n{}')]) {
      await writeFile(join(folder, name), damaged);
      expect((await opened(project, folder)).read).toBe(true);
      expect(await readFile(join(folder, name)), 'it is made again').toEqual(whole);
    }
    const other = await temporaryFolder(afterAll);
    await writeFiles(other, { 'catalogue.json': '{}' });
    expect((await opened(project, folder, { builtIn: other })).read).toBe(true);
  });

  it('is shared by processes that write it at the same time', async () => {
    const elsewhere = join(await temporaryFolder(afterAll), 'catalogue');
    const all = await Promise.all(Array.from({ length: 6 }, () => opened(project, elsewhere)));
    for (const each of all) expect(contentOf(each)).toEqual(contentOf(await opened(project, elsewhere)));
    expect((await opened(project, elsewhere)).read).toBe(false);
    expect(await readdir(elsewhere)).toHaveLength(1);
  });

  it('is read again without a word where nothing can be written', async () => {
    const file = join(await temporaryFolder(afterAll), 'file');
    await writeFile(file, '');
    expect((await opened(project, join(file, 'catalogue'))).catalogue.winners.length).toBeGreaterThan(10);
  });

  it('is kept in memory for the next workspace, whose origins its records have', async () => {
    const memory: KeptInMemory = new Map();
    const nowhere = join(folder, 'nowhere', 'catalogue');
    await opened(project, nowhere, { memory });
    await rm(nowhere, { recursive: true, force: true });
    const again = await opened(project, nowhere, { memory });
    expect(again.read).toBe(false);
    expect(again.catalogue.records.every(({ origin }) => origin === again.catalogue.sources[0]?.origin)).toBe(
      true,
    );
  });
});
