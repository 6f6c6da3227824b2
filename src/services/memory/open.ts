import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { readState, writeAtomic, writeOnce } from '../../base/files/file-state.ts';
import { projectKey } from '../../base/files/project-key.ts';
import type { ProgramEnvironment } from '../../base/process/process.ts';
import { folderAt } from '../../kit/home.ts';
import type { Kit } from '../../kit/kit.ts';
import { jailOf } from '../../kit/kit-lock.ts';
import { copyLines, LineFiles, lineFiles, type LinePlace, onlyThere } from '../../lines/files.ts';
import { IndexInMemory } from './lines/in-memory.ts';
import type { MemoryStore, StoreOptions } from './engine.ts';
import type { QdrantStore } from './qdrant/store.ts';
import { ANALYSER } from './rank.ts';
import { LinedStore } from './lines/store.ts';
import { asLines, type Known, moveOver, newerIn, type OldStore, oldStores } from './lines/moving-over.ts';
import { placeOf, refuseLinks } from './place.ts';
import { sqliteDriver } from './sqlite/driver.ts';
import { indexName, SqliteIndex } from './sqlite/index.ts';
import { isThereNow } from '../../base/files/file-identity.ts';
import { headAt } from '../../base/files/repository.ts';
import { gitOrigin } from '../../base/process/project-git.ts';
import { sha256 } from '../../base/sha256.ts';

export interface EngineSettings {
  /** `auto` is Qdrant when there is an address, else SQLite, else the memory of the process. */
  engine: 'auto' | 'sqlite' | 'qdrant' | 'memory';
  /** How a SQLite file is written. */
  journal: 'auto' | 'wal' | 'delete';
  qdrantUrl: string | undefined;
  qdrantApiKey: string | undefined;
}

export interface StoreSetup {
  kit: Kit;
  /** The user's folder for what has no place in a project, and the one for what can be made again. */
  state: string;
  cache: string;
  /** For git, which knows a project by its first commit. */
  env: ProgramEnvironment;
  engine: EngineSettings;
  /** Whether anything may be written. */
  writes: boolean;
  /** Makes an index of many lines in a thread of its own; without it, they are taken in where they are met. */
  thread?: IndexThread | undefined;
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
  const { kit, cache, writes } = setup;
  const writer = { machine: () => machineName(setup), by: { kind: 'local' as const, name: kit.user } };
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
  const store = new LinedStore(new LineFiles(places.all, writer), index, options, {
    shared: await sharedStore(setup, options),
    writes,
    folder: places.all.folder,
    maker: usable === undefined ? undefined : thread && ((hear, signal) => thread(data, signal, hear)),
  });
  const known: Known = (keys) => store.known(keys);
  for (const each of old) {
    if (each.odd > 0) tell(`${each.odd} rows of ${each.path} are not memories, and were left there.`);
    if (writes)
      await moveOver(each, new LineFiles(each.place, writer), known).catch(ours(({ line }) => tell(line)));
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

/** Where the lines of a project are: all of it for one who reads and writes, and each folder by itself. */
async function linePlaces(setup: StoreSetup): Promise<{ all: LinePlace; each: LinePlace[] }> {
  const { kit } = setup;
  const { folder, owner, also } = placeOf(kit);
  const users: LinePlace = { folder: folderAt(kit.places.memories.user), isPrivate: false };
  const projects = owner === 'project' ? folder : also;
  if (projects === undefined) return { all: users, each: [users] };
  const inside = jailOf(projects);
  const mirror = await mirrorOf(setup, projects, inside);
  const own: LinePlace = { folder: projects, inside, mirror, project: kit.root, isPrivate: true };
  if (owner === 'project') {
    const all = { ...own, also: [{ at: users.folder, inside: undefined }] };
    return { all, each: [all, users] };
  }
  const others = [
    { at: projects, inside },
    { at: mirror, inside: undefined },
  ];
  return { all: { ...users, also: others }, each: [users, own] };
}

/** A few letters by chance that this user's lines begin with; where nothing can be kept, others each time. */
async function machineName({ state, writes }: StoreSetup): Promise<string> {
  const file = join(state, 'machine');
  const known = async (): Promise<string | undefined> =>
    /^[a-z0-9]{6}$/.exec((await readState(file).catch(() => undefined))?.trim() ?? '')?.[0];
  const before = await known();
  if (before !== undefined) return before;
  const made = randomBytes(4).readUInt32BE().toString(36).padStart(6, '0').slice(-6);
  if (writes) await writeOnce(file, `${made}\n`).catch(() => undefined);
  return (await known()) ?? made;
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

export const mirrorsIn = (state: string): string => join(state, 'mirror');

const DIGITS = 16;
/** How long git may take to find a first commit. */
const GIT_MS = 15_000;

/**
 * The folder of the user that has this user's lines of a project once more. It goes with what the project is called and with
 * its first commit: another project that comes to stand in the same place has another one. What was written before there was
 * a commit is taken along, if the project has some of it.
 */
export async function mirrorOf(
  setup: Pick<StoreSetup, 'kit' | 'state' | 'cache' | 'env' | 'writes'>,
  lines: string,
  inside: string | undefined,
): Promise<string> {
  const { kit, state, writes } = setup;
  const top = join(mirrorsIn(state), projectKey(kit.root));
  const named = (origin: string): string => join(top, sha256(`${kit.app}\0${origin}`).slice(0, DIGITS));
  const origin = await originOf(setup);
  const [own, before] = [named(origin), named('')];
  if (own === before || !isThereNow(before)) return own;
  const missing = await onlyThere(before, lines, inside);
  const isOfThis = missing.length < (await lineFiles(before)).length;
  if (!isOfThis) return own;
  if (!writes) return isThereNow(own) ? own : before;
  await copyLines(before, { folder: own, isPrivate: false });
  return own;
}

/** The first commit of a project, asked for once for each commit that it is at; empty where there is none. */
async function originOf({ kit, cache, env }: Pick<StoreSetup, 'kit' | 'cache' | 'env'>): Promise<string> {
  const head = await headAt(kit.root);
  if (!/^[0-9a-f]{40,64}$/.test(head)) return '';
  const file = join(cache, 'origins', projectKey(kit.root));
  const [known, ...found] = ((await readState(file).catch(() => undefined)) ?? '').split('\n');
  if (known === head) return found.join('\n');
  const asked = { env, timeoutMs: GIT_MS, signal: AbortSignal.timeout(GIT_MS) };
  const origin = (await gitOrigin(kit.root, asked)) ?? '';
  if (origin !== '') await writeAtomic(file, `${head}\n${origin}`).catch(() => undefined);
  return origin;
}
