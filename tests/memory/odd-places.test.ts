import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { localDay } from '../../src/base/text/text.ts';
import { linePlaces, ProjectLogs } from '../../src/kit/project-log.ts';
import { LineFiles } from '../../src/lines/files.ts';
import { newLineId } from '../../src/lines/line.ts';
import type { Maker } from '../../src/services/memory/followed.ts';
import { ANALYSER } from '../../src/services/memory/rank.ts';
import { sqliteDriver } from '../../src/services/memory/sqlite/database.ts';
import { SqliteIndex } from '../../src/services/memory/sqlite/index.ts';
import { MemoryStore } from '../../src/services/memory/store.ts';
import { temporaryFolder } from '../support/app.ts';
import { childProgram } from '../support/child-program.ts';
import { isDeep } from '../support/how-much.ts';
import { writeFiles } from '../support/kit-project.ts';
import { setupIn } from '../support/tasks.ts';
import { memory, storeOptions, uuid } from './places.ts';
import { openLines, partsOf, type IndexKind } from './processes.ts';

/** Files of lines that come to be where no writer has put them. */

const all = async (store: MemoryStore): Promise<string[]> =>
  (await store.list({}, { limit: 1_000 })).entries.map(({ text }) => text).sort();

async function opened(kind: IndexKind, folder: string, machine?: string): Promise<MemoryStore> {
  const store = await openLines(kind, folder, machine === undefined ? {} : { machine });
  onTestFinished(() => store.close());
  return store;
}

/** The one file of lines in a folder. */
async function fileIn(folder: string): Promise<{ day: string; name: string; path: string }> {
  const day = localDay(new Date());
  const [name = ''] = await readdir(join(folder, day));
  return { day, name, path: join(folder, day, name) };
}

describe.each(['sqlite', 'memory'] as IndexKind[])('with the index %s, a file of lines', (kind) => {
  it('that was renamed says everything once, and is not appended to', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const { lines } = partsOf(folder);
    const store = await opened(kind, folder);
    await store.upsert([memory('a', 'First'), memory('b', 'Second')]);
    const { day, path } = await fileIn(lines);
    const moved = join(lines, day, 'else-000000000000.jsonl');
    await rename(path, moved);
    const before = await readFile(moved, 'utf8');
    await store.upsert([memory('c', 'Third')]);
    expect(await all(store)).toEqual(['First', 'Second', 'Third']);
    expect(await readFile(moved, 'utf8')).toBe(before);
    expect(await all(await opened(kind, folder))).toEqual(['First', 'Second', 'Third']);
  });

  it.each([
    ['with a longer text', 'As a hand has put it'],
    ['with a text of the same length', 'As it was SAID'],
  ])('that a hand has edited %s is one for all readers, and is not appended to', async (_, by) => {
    const folder = await temporaryFolder(onTestFinished);
    const { lines, mirror } = partsOf(folder);
    const store = await opened(kind, folder);
    await store.upsert([memory('a', 'As it was said')]);
    const { path } = await fileIn(lines);
    await rm(mirror, { recursive: true });
    await writeFile(path, (await readFile(path, 'utf8')).replace('As it was said', by));
    const edited = await readFile(path, 'utf8');
    expect(await all(store)).toEqual([by]);
    await store.upsert([memory('b', 'Another')]);
    expect(await readFile(path, 'utf8')).toBe(edited);
    expect(await all(await opened(kind, folder))).toEqual(await all(store));
  });

  it('that was copied to another machine says the same there, and what both do next is joined', async () => {
    const [one, two] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
    const first = await opened(kind, one, 'm1');
    await first.upsert([memory('a', 'From the first')]);
    await cp(partsOf(one).lines, partsOf(two).lines, { recursive: true });
    const second = await opened(kind, two, 'm2');
    expect(await all(second)).toEqual(['From the first']);
    await second.upsert([memory('a', 'From the first'), memory('b', 'From the second')]);
    await first.upsert([memory('c', 'Later on the first')]);
    for (const [from, to] of [
      [one, two],
      [two, one],
    ] as const)
      await cp(partsOf(from).lines, partsOf(to).lines, { recursive: true });
    const both = ['From the first', 'From the second', 'Later on the first'];
    for (const store of [first, second, await opened(kind, one)]) expect(await all(store)).toEqual(both);
  });

  it('of a machine that was restored from an image is continued by neither', async () => {
    const [machine, image] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
    const before = await opened(kind, machine);
    await before.upsert([memory('a', 'Before the image')]);
    await cp(machine, image, { recursive: true });
    await before.upsert([memory('b', 'After the image')]);
    // The restored one has the same name, the same mirror and the same index.
    const restored = await opened(kind, image);
    await restored.upsert([memory('c', 'On the restored one')]);
    const { path, day, name } = await fileIn(partsOf(machine).lines);
    const [grown, kept] = [await readFile(path, 'utf8'), join(partsOf(image).lines, day, name)];
    expect(grown.startsWith(await readFile(kept, 'utf8'))).toBe(true);
    await cp(partsOf(machine).lines, partsOf(image).lines, { recursive: true });
    expect(await all(restored)).toEqual(['After the image', 'Before the image', 'On the restored one']);
  });
});

describe('many files of lines', () => {
  it('of a hundred containers that keep nothing else are all read, each under its own name', async () => {
    const root = await temporaryFolder(onTestFinished);
    await writeFiles(root, { '_bmad-output/prd.md': '# PRD\n' });
    const homes = await Promise.all(Array.from({ length: 100 }, () => temporaryFolder(onTestFinished)));
    const wrote = await Promise.all(
      homes.map(async (home, at) => {
        const setup = await setupIn(root, home);
        const { all: place } = await linePlaces(setup);
        const done = await new ProjectLogs()
          .at(place, setup)
          .append([{ of: `note/${at}`, after: [], do: 'note', data: {} }]);
        await rm(home, { recursive: true });
        return 'line' in done ? done.line.machine : '';
      }),
    );
    expect(new Set(wrote).size).toBe(100);
    const setup = await setupIn(root, await temporaryFolder(onTestFinished));
    const found = new Set<string>();
    for await (const { lines } of new ProjectLogs().at((await linePlaces(setup)).all, setup).read(new Map()))
      for (const { line } of lines) found.add(line.events[0]?.of ?? '');
    expect(found.size).toBe(100);
  });

  it(`of ${isDeep ? 'a million lines' : 'a few thousand lines'} are taken in once, with little memory, and answer meanwhile`, async () => {
    const [files, each] = isDeep ? [10_000, 100] : [200, 10];
    const folder = await temporaryFolder(onTestFinished);
    const day = join(partsOf(folder).lines, '2026-03-01');
    await mkdir(day, { recursive: true });
    const at = '2026-03-01T10:00:00.000Z';
    const text = (file: number, line: number): string =>
      JSON.stringify({
        v: 1,
        id: newLineId(Date.parse(at) + file),
        at,
        machine: 'many',
        by: { kind: 'local', name: 'bob' },
        // A memory is said again by every tenth file, so that a million lines are a hundred thousand memories.
        events: [
          {
            of: `memory/decisions/${uuid(`${file % (files / 10)} ${line}`)}`,
            after: [],
            do: 'remember',
            data: {
              text: `Decision ${line} of ${file % (files / 10)}`,
              agent: 'dev',
              tags: [],
              createdAt: at,
            },
          },
        ],
      });
    for (let file = 0; file < files; file += 1) {
      const lines = Array.from({ length: each }, (_, line) => `${text(file, line)}\n`).join('');
      await writeFile(join(day, `many-${String(file).padStart(12, '0')}.jsonl`), lines);
    }
    const memories = (files * each) / 10;
    const program = await childProgram('tests/memory/index-maker.ts');
    /** What is found, and what is said about it, when a part of the lines is in. */
    let meanwhile: { making: string | undefined; found: Promise<unknown[]> } | undefined;
    // With so little room, a process that kept all lines, or all of a page's files, would end.
    const maker: Maker = async (tell, signal) => {
      const child = spawn(process.execPath, ['--max-old-space-size=64', program, folder], {
        stdio: ['ignore', 'pipe', 'inherit'],
        signal,
      });
      createInterface({ input: child.stdout }).on('line', (taken) => {
        tell(taken);
        if (meanwhile === undefined)
          meanwhile = {
            making: store.making(),
            found: store.search({ terms: options.analyser.terms('Decision 1'), filter: {}, limit: 5 }),
          };
      });
      const [code] = (await once(child, 'close')) as [number | null];
      if (code !== 0) throw new Error(`It ended with ${code}.`);
    };
    const options = { ...storeOptions({ space: null }), analyser: ANALYSER };
    const writer = { machine: () => Promise.resolve('b'), by: { kind: 'local' as const, name: 'b' } };
    const log = new LineFiles({ folder: partsOf(folder).lines, isPrivate: false }, writer);
    const index = new SqliteIndex(partsOf(folder).index, await sqliteDriver(), options);
    const store = new MemoryStore(log, index, options, { maker });
    const told: string[] = [];
    await store.count({});
    await store.whole((note) => told.push(note));
    expect(await store.count({})).toBe(memories);
    expect(told.at(-1)).toContain(`${files * each} so far`);
    // Files that are small come in together.
    expect(told.length).toBeLessThanOrEqual((files * each) / 250);
    expect(meanwhile?.making).toMatch(/being made from the lines, \d+ so far/);
    expect(await meanwhile?.found).not.toEqual([]);
    const stamp = await store.stamp();
    await store.close();
    const next = new SqliteIndex(partsOf(folder).index, await sqliteDriver(), options);
    const again = new MemoryStore(log, next, options);
    expect(await again.stamp()).toBe(stamp);
    await again.close();
  }, 3_600_000);
});
