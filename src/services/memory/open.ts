import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { projectKey } from '../../base/files/project-key.ts';
import { refuseLinks } from '../../kit/home.ts';
import { linePlaces, type LogSetup, ProjectLogs } from '../../kit/project-log.ts';
import { LineFiles, lineFiles, type LinePlace, onlyThere } from '../../lines/files.ts';
import { IndexInMemory } from './lines/in-memory.ts';
import type { MemoryStore, StoreOptions } from './engine.ts';
import type { QdrantStore } from './qdrant/store.ts';
import { ANALYSER } from './rank.ts';
import { LinedStore } from './lines/store.ts';
import { asLines, type Known, moveOver, newerIn, type OldStore, oldStores } from './lines/moving-over.ts';
import { sqliteDriver } from './sqlite/driver.ts';
import { indexName, SqliteIndex } from './sqlite/index.ts';

export interface EngineSettings {
  /** `auto` is Qdrant when there is an address, else SQLite, else the memory of the process. */
  engine: 'auto' | 'sqlite' | 'qdrant' | 'memory';
  /** How a SQLite file is written. */
  journal: 'auto' | 'wal' | 'delete';
  qdrantUrl: string | undefined;
  qdrantApiKey: string | undefined;
}

export interface StoreSetup extends LogSetup {
  engine: EngineSettings;
  /** Makes an index of many lines in a thread of its own; without it, they are taken in where they are met. */
  thread?: IndexThread | undefined;
  /** The log that all of the project's state shares; one of its own where nothing else is kept. */
  logs?: ProjectLogs | undefined;
}

/** What a thread needs to make an index: everything in it can be copied. */
export interface IndexData {
  place: LinePlace;
  path: string;
  journal: EngineSettings['journal'];
  project: string;
  writes: boolean;
}

export type IndexThread = (
  data: IndexData,
  signal: AbortSignal,
  tell: (taken: string) => void,
) => Promise<unknown>;

/** What such a thread does. */
export async function makeIndex(
  { place, path, journal, project, writes }: IndexData,
  signal: AbortSignal,
  tell: (taken: string) => void,
): Promise<void> {
  const options = { project, analyser: ANALYSER };
  const index = new SqliteIndex(path, await sqliteDriver(), options, journal);
  const writer = { machine: () => Promise.resolve(''), by: NO_ONE };
  const store = new LinedStore(new LineFiles(place, writer), index, options, { writes });
  try {
    await store.takeIn(tell, signal);
  } finally {
    await store.close();
  }
}

/** It writes no line. */
const NO_ONE = { kind: 'local' as const, name: '' };

export function isOnQdrant({ engine, qdrantUrl }: EngineSettings): boolean {
  return engine === 'qdrant' || (engine === 'auto' && qdrantUrl !== undefined);
}

/**
 * The memories of a project: its lines, and the index that the settings ask for. What an earlier version has kept in another
 * way is written as lines first, and only read where nothing may be written.
 */
export async function openStore(
  setup: StoreSetup,
  options: StoreOptions,
  tell: (note: string) => void,
): Promise<MemoryStore> {
  const { cache, writes, logs = new ProjectLogs() } = setup;
  const places = await linePlaces(setup);
  const driver = await sqliteDriver().catch((error: unknown) => {
    if (setup.engine.engine === 'sqlite') throw error;
    return undefined;
  });
  const old: OldStore[] = [];
  for (const place of places.each) {
    await refuseLinks(place.folder);
    const found = oldStores({ place, driver, work: join(cache, 'moving') });
    old.push(...(await found.catch(ours(({ line }): OldStore[] => (tell(line), [])))));
  }
  // What is in no line must not get into the index that others use.
  const path = indexPath(setup, options);
  const usable = setup.engine.engine !== 'memory' && (writes || old.length === 0) ? driver : undefined;
  const { journal } = setup.engine;
  const index =
    usable === undefined ? new IndexInMemory(options) : new SqliteIndex(path, usable, options, journal);
  const data = { place: places.all, path, journal, project: options.project, writes };
  const { thread } = setup;
  const store = new LinedStore(logs.at(places.all, setup), index, options, {
    shared: await sharedStore(setup, options),
    writes,
    folder: places.all.folder,
    maker: usable === undefined ? undefined : thread && ((hear, signal) => thread(data, signal, hear)),
  });
  const known: Known = (keys) => store.known(keys);
  for (const each of old) {
    if (each.odd > 0) tell(`${each.odd} rows of ${each.path} are not memories, and were left there.`);
    if (writes) await moveOver(each, logs.at(each.place, setup), known).catch(ours(({ line }) => tell(line)));
    else {
      const lines = asLines(await newerIn(each.memories, known)).map((line) => ({ line, file: '' }));
      await index.take((await index.mark()).taken, { lines, gone: [], marks: new Map() });
    }
  }
  return store;
}

/** The files of lines of a project as they are: git may have taken those of the project, which the mirror still has. */
export async function linesIn(setup: StoreSetup) {
  const { folder, inside, mirror } = (await linePlaces(setup)).all;
  const files = (await lineFiles(folder, inside)).length;
  if (mirror === undefined) return { files, mirror: undefined };
  const only = (await onlyThere(mirror, folder, inside)).length;
  return { files, mirror: { place: mirror, files: (await lineFiles(mirror)).length, only } };
}

const indexPath = ({ kit, cache }: StoreSetup, options: StoreOptions): string =>
  join(cache, 'memories', indexName(projectKey(kit.root), options));

async function sharedStore(
  { engine: settings }: StoreSetup,
  options: StoreOptions,
): Promise<QdrantStore | undefined> {
  if (!isOnQdrant(settings)) return undefined;
  const { qdrantUrl: url, qdrantApiKey: apiKey } = settings;
  if (url === undefined)
    throw new BmadError('invalid_input', 'The memory engine is qdrant, but no address is set.', {
      hint: 'Set BMAD_QDRANT_URL, for instance to http://localhost:6333.',
    });
  const { QdrantStore: Store } = await import('./qdrant/store.ts');
  return new Store({ ...options, address: { url, apiKey } });
}
