import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { LineFiles } from '../../src/lines/files.ts';
import type { StoreOptions } from '../../src/services/memory/engine.ts';
import type { SharedPlace } from '../../src/services/memory/followed.ts';
import { MemoryStore } from '../../src/services/memory/store.ts';
import { IndexInMemory } from '../../src/services/memory/in-memory.ts';
import { sqliteDriver, type Driver } from '../../src/services/memory/sqlite/database.ts';
import { SqliteIndex } from '../../src/services/memory/sqlite/index.ts';
import { childProgram } from '../support/child-program.ts';
import { storeOptions, uuid } from './places.ts';

export type IndexKind = 'sqlite' | 'memory';

export interface Opening {
  options?: StoreOptions;
  driver?: Driver;
  journal?: 'auto' | 'wal' | 'delete';
  machine?: string;
  shared?: SharedPlace;
}

/** Where the parts of a store are in the folder that `openLines` is given. */
export const partsOf = (folder: string) => ({
  lines: join(folder, 'lines'),
  mirror: join(folder, 'mirror'),
  index: join(folder, 'index.db'),
});

/** Lines in a folder, with their mirror and the index that is asked for beside them. */
export async function openLines(
  kind: IndexKind,
  folder: string,
  { options = storeOptions(), driver, journal, machine = 'k7q2', shared }: Opening = {},
): Promise<MemoryStore> {
  const { lines, mirror, index } = partsOf(folder);
  const writer = { machine: () => Promise.resolve(machine), by: { kind: 'local' as const, name: 'ada' } };
  const log = new LineFiles({ folder: lines, mirror, isPrivate: false }, writer);
  const made =
    kind === 'memory'
      ? new IndexInMemory(options)
      : new SqliteIndex(index, driver ?? (await sqliteDriver()), options, journal);
  return new MemoryStore(log, made, options, { shared, instead: () => new IndexInMemory(options) });
}

const WRITER = 'tests/memory/writer.ts';

/** Runs a writer; with `killAfter` it is killed without warning after so many acknowledged writes. */
export async function runWriter(
  kind: IndexKind,
  folder: string,
  name: string,
  count: number,
  killAfter?: number,
  /** What it is started by, where it is not started as it is. */
  by: readonly string[] = [],
): Promise<{ acknowledged: string[]; code: number | null; stderr: string }> {
  const [program, ...args] = [
    ...by,
    process.execPath,
    await childProgram(WRITER),
    kind,
    folder,
    name,
    String(count),
  ];
  const child = spawn(program, args);
  const acknowledged: string[] = [];
  let stderr = '';
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')));
  createInterface({ input: child.stdout }).on('line', (line) => {
    acknowledged.push(line);
    if (killAfter !== undefined && acknowledged.length >= killAfter) child.kill('SIGKILL');
  });
  const code = await new Promise<number | null>((resolve) => void child.once('close', resolve));
  return { acknowledged, code, stderr };
}

/** So many writers at a time, all killed without warning in the middle of it, again and again: nothing acknowledged is lost or twice. */
export async function killTrial(kind: IndexKind, folder: string, writers: number, rounds: number) {
  const own = new Set<string>();
  const all = new Set<string>();
  for (let round = 0; round < rounds; round++)
    for (const { acknowledged } of await Promise.all(
      Array.from({ length: writers }, (_, at) =>
        runWriter(kind, folder, `r${round}w${at}`, 1_000, 3 + ((round * 37 + at * 11) % 30)),
      ),
    ))
      for (const name of acknowledged) {
        all.add(name);
        if (!name.startsWith('shared')) own.add(name);
      }
  const store = await openLines(kind, folder);
  const lost = await lostOf(store, all);
  const found = await store.stored([...own].map((name) => ({ type: 'decisions', id: uuid(name) })));
  const twice = found.filter((each) => (each?.entry.revision ?? 0) > 1).length;
  const { notes } = await store.health();
  const ids = (await store.list({}, { limit: 1_000_000 })).entries.map(({ id }) => id);
  await store.close();
  return {
    acknowledged: all.size,
    lost,
    twice: twice + ids.length - new Set(ids).size,
    // The last line of a writer may have been cut off; nobody was told that it is stored.
    notes: notes.filter((note) => !note.includes('cannot be read')),
  };
}

/** Which of the acknowledged memories are not there. */
export async function lostOf(store: MemoryStore, acknowledged: Iterable<string>): Promise<string[]> {
  const lost: string[] = [];
  for (const name of new Set(acknowledged))
    if ((await store.get({ type: 'decisions', id: uuid(name) })) === undefined) lost.push(name);
  return lost;
}
