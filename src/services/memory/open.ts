import { forAll, t } from '../../base/text/message.ts';
import type { Log } from '../../base/log.ts';
import type { Embedder } from '../../meaning/vectors.ts';
import { join } from 'node:path';
import { once } from '../../base/async.ts';
import { BmadError, ours } from '../../base/errors.ts';
import { shortDigest, those } from '../../base/values.ts';
import { projectKey } from '../../base/files/paths.ts';
import {
  linesPlace,
  type StateMove,
  folderAt,
  projectPages,
  refuseLinks,
  jailOf,
  strayRefusal,
} from '../../kit/kit.ts';
import {
  type CopiedState,
  type LogSetup,
  type ProjectLogs,
  linePlaces,
  mirrorOf,
} from '../../kit/project-log.ts';
import { LineFiles } from '../../lines/files.ts';
import { NO_ONE, type Writer } from '../../lines/line.ts';
import { type LinePlace, copyLines, lineFiles } from '../../lines/folders.ts';
import type { KitFiles } from '../../kit/memories/read-all.ts';
import { setImmediate } from 'node:timers/promises';
import { withLock } from '../../base/files/file-lock.ts';
import { setAside } from '../../base/files/file-state.ts';
import { readKitAgents } from '../../kit/agents.ts';
import { writeKitFiles } from '../../kit/memories/write.ts';
import type { MemoryEntry, MemoryType } from '../../model/memory.ts';
import type { StoreOptions } from './engine.ts';
import { FollowedIndex, type SharedPlace } from './followed.ts';
import { IndexInMemory } from './in-memory.ts';
import { asLines, type Known, moveOver, newerIn, type OldStore, oldStores } from './moving-over.ts';
import { completed } from './copies.ts';
import type { OpenMemory, Session } from './opened.ts';
import { ANALYSER } from './rank.ts';
import { sqliteDriver } from './sqlite/database.ts';
import { indexName, SqliteIndex } from './sqlite/index.ts';
import { allEntries, MemoryStore } from './store.ts';

export interface EngineSettings {
  /** `auto` is Qdrant when there is an address, else SQLite, else the memory of the process. */
  engine: 'auto' | 'sqlite' | 'qdrant' | 'memory';
  journal: 'auto' | 'wal' | 'delete';
  qdrantUrl: string | undefined;
  qdrantApiKey: string | undefined;
}

export interface StoreSetup extends LogSetup {
  engine: EngineSettings;
  /** Makes an index of many lines in a thread of its own; without it, they are taken in where they are met. */
  thread?: IndexThread | undefined;
  /** The log that all of the project's state shares. */
  logs: ProjectLogs;
}

/** What a thread needs to make an index: everything in it can be copied. */
export interface IndexData {
  place: LinePlace;
  path: string;
  journal: EngineSettings['journal'];
  project: string;
  writes: boolean;
  /** Where the lines are instead, with its password: a thread is the same process. */
  database?: CopiedState | undefined;
}

export type IndexThread = (
  data: IndexData,
  signal: AbortSignal,
  tell: (taken: string) => void,
) => Promise<unknown>;

export async function makeIndex(
  { place, path, journal, project, writes, database }: IndexData,
  signal: AbortSignal,
  tell: (taken: string) => void,
): Promise<void> {
  const options = { project, analyser: ANALYSER };
  const index = new SqliteIndex(path, await sqliteDriver(), options, journal, true);
  const writer = { machine: () => Promise.resolve(''), by: NO_ONE };
  const opened = database && (await openCopied(database, writer, place.only));
  const log = opened?.log ?? new LineFiles(place, writer);
  const followed = new FollowedIndex(log, index, options, { writes });
  try {
    await followed.takeIn(tell, signal);
  } finally {
    await followed.close();
    await opened?.close();
  }
}

async function openCopied({ address, key, fingerprint }: CopiedState, writer: Writer, only?: string) {
  const { Database, DatabaseLog, openProject } = await import('../../lines/database.ts');
  const database = await Database.at(address);
  const opened = once(() => openProject(database, key, fingerprint));
  return { log: new DatabaseLog(opened, writer, only), close: () => database.close() };
}

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
  const { cache, writes, logs } = setup;
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
  const shared = await sharedPlace(setup, options);
  const path = indexPath(setup, options, shared);
  const usable = setup.engine.engine !== 'memory' && (writes || old.length === 0) ? driver : undefined;
  const { journal } = setup.engine;
  const index =
    usable === undefined ? new IndexInMemory(options) : new SqliteIndex(path, usable, options, journal);
  const place: LinePlace = { ...places.all, only: 'memory' };
  const data = {
    place,
    path,
    journal,
    project: options.project,
    writes,
    database: await logs.shared?.copied(setup),
  };
  const { thread } = setup;
  const store = new MemoryStore(logs.at(place, setup), index, options, {
    shared,
    writes,
    folder: logs.shared === undefined ? places.all.folder : undefined,
    instead: () => new IndexInMemory(options),
    maker: usable === undefined ? undefined : thread && ((hear, signal) => thread(data, signal, hear)),
  });
  const known: Known = (keys) => store.seen(keys);
  for (const each of old) {
    if (each.odd > 0) tell(t`${each.odd} rows of ${each.path} are not memories, and were left there.`);
    if (writes) await moveOver(each, logs.at(each.place, setup), known).catch(ours(({ line }) => tell(line)));
    else {
      const lines = asLines(await newerIn(each.memories, known)).map((line) => ({ line, file: '' }));
      await index.take((await index.mark()).taken, { lines, gone: [], marks: new Map() });
    }
  }
  return store;
}

/** What is taken in from a server is in an index of its own. */
const indexPath = (
  { kit, cache, logs }: StoreSetup,
  options: StoreOptions,
  shared: SharedPlace | undefined,
): string => {
  const place = [shared?.at, logs.shared?.at]
    .map((at) => (at === undefined ? '' : `-${shortDigest(at)}`))
    .join('');
  return join(cache, 'memories', indexName(`${projectKey(kit.root)}${place}`, options));
};

async function sharedPlace(
  { engine: settings }: StoreSetup,
  options: StoreOptions,
): Promise<SharedPlace | undefined> {
  if (!isOnQdrant(settings)) return undefined;
  const { qdrantUrl: url, qdrantApiKey: apiKey } = settings;
  if (url === undefined)
    throw new BmadError('invalid_input', t`The memory engine is qdrant, but no address is set.`, {
      hint: t`Set BMAD_QDRANT_URL, for instance to http://localhost:6333.`,
    });
  const { QdrantPlace } = await import('./qdrant/shared.ts');
  return new QdrantPlace({ ...options, address: { url, apiKey } });
}

export interface MemorySetup extends StoreSetup {
  /** One for all projects, which is read once. */
  embedder: SharedEmbedder;
  hide(text: string): string;
  log: Log;
  /** Whether memories without a vector get one in the background; a command does only what it was asked for. */
  background: boolean;
}

export interface SharedEmbedder {
  get(this: void): Promise<Embedder | undefined>;
  /** The next one who asks gets another. */
  failed(this: void): void;
}

const RETRY_MS = 60_000;

/** Keeps one store open with the embedder that works at the moment, and changes over when that changes. */
export class OpenedMemory implements OpenMemory {
  readonly files: KitFiles;
  readonly analyser = ANALYSER;
  readonly folder: string;
  readonly writes: boolean;
  readonly hide: (text: string) => string;
  readonly log: Log;
  readonly reembedding: Reembedding = { running: false, done: 0, total: 0 };
  readonly #setup: MemorySetup;
  readonly #closing = new AbortController();
  #store: MemoryStore | undefined;
  #session: Promise<Session> | undefined;
  #completed: Promise<void> | undefined;
  #retryAt = Number.POSITIVE_INFINITY;
  #isLeft = false;

  constructor(setup: MemorySetup, files: KitFiles) {
    this.files = files;
    this.folder = linesPlace(setup.kit).folder;
    this.writes = setup.writes;
    this.hide = setup.hide;
    this.log = setup.log;
    this.#setup = setup;
  }

  readonly mirror = once(async () => (await linePlaces(this.#setup)).all.mirror);

  async session(): Promise<Session> {
    const session = await this.#opened();
    if (this.writes) await (this.#completed ??= completed(this, session));
    return session;
  }

  async sessionToWrite(tell?: (note: string) => void): Promise<Session> {
    const session = await this.session();
    await session.store.whole(tell);
    return session;
  }

  async #opened(): Promise<Session> {
    if (performance.now() > this.#retryAt) this.#session = undefined;
    const opened = (this.#session ??= forAll(() => this.#open()));
    try {
      return await opened;
    } catch (error) {
      // What could not be opened now may open the next time.
      if (this.#session === opened) this.#session = undefined;
      throw error;
    }
  }

  /** No one waits again for an embedder that has just failed: only words are used until it is tried again. */
  embedderFailed(failure: unknown): void {
    const reason = failure instanceof Error ? failure.message : t`it failed.`;
    this.log.warn(t`the embedder failed`, { error: reason });
    this.#retryAt = performance.now() + RETRY_MS;
    this.#setup.embedder.failed();
    const troubles = forAll(() => [t`Words only, without meaning: ${reason}`]);
    this.#session = this.#session?.then((session) => ({ ...session, embedder: undefined, troubles }));
  }

  async #open(): Promise<Session> {
    this.#retryAt = Number.POSITIVE_INFINITY;
    const troubles: string[] = [];
    const embedder = await this.#setup.embedder.get().catch(
      ours(({ message, hint }) => {
        troubles.push(t`Words only, without meaning: ${message} ${hint ?? ''}`.trim());
        this.#retryAt = performance.now() + RETRY_MS;
        return undefined;
      }),
    );
    const space = embedder === undefined ? undefined : { embedder: embedder.id, dim: embedder.dim };
    const options = { project: this.#setup.kit.app, analyser: this.analyser, space };
    const notes: string[] = [];
    const store = await openStore(this.#setup, options, (note) => notes.push(note));
    // Calls may still be using the one before.
    void this.#store?.close().catch(() => undefined);
    this.#store = store;
    const session = { store, notes, embedder, troubles };
    if (this.#isLeft) void store.close().catch(() => undefined);
    else if (this.#setup.background) this.#fillIn(session);
    return session;
  }

  making(): string | undefined {
    return this.#store?.making();
  }

  #fillIn(session: Session): void {
    const { signal } = this.#closing;
    this.embed(session, signal, this.reembedding).catch((error: unknown) => {
      if (!signal.aborted)
        this.log.warn(t`vectors could not be computed`, {
          error: error instanceof Error ? error.message : '',
        });
    });
  }

  /**
   * Gives a vector to every memory that has none of the embedder in use: after the embedder was changed, or where it
   * failed when the memory was made. One process at a time does it; the others find the vectors there.
   */
  async embed(
    { store, embedder }: Session,
    signal: AbortSignal,
    progress: Reembedding,
    tell?: (progress: Reembedding) => void,
  ): Promise<void> {
    if (embedder === undefined) return;
    // Whether any is without is known long before they are counted, and mostly none is.
    if ((await store.pending({ limit: 1 })).entries.length === 0) return;
    const { total, embedded } = await store.embedding();
    const lock = join(this.folder, 'embedding.lock');
    const work = async (): Promise<void> => {
      let after: string | undefined;
      do {
        signal.throwIfAborted();
        const page = await store.pending({ limit: BATCH, after });
        const texts = page.entries.map(({ text }) => text);
        const vectors = await embedder.embed(texts, signal);
        progress.done += await store.setVectors(
          page.entries.map((key, at) => ({ key, text: key.text, vector: vectors[at] as Float32Array })),
        );
        tell?.(progress);
        // The list advances as vectors arrive; the mark skips those that could not be computed.
        after = page.next;
        await setImmediate();
      } while (after !== undefined);
    };
    try {
      await withLock(lock, { waitMs: 0, signal, inside: jailOf(this.folder) }, async () => {
        Object.assign(progress, { running: true, done: embedded, total });
        await work().finally(() => (progress.running = false));
      });
    } catch (error) {
      if (!(error instanceof BmadError) || error.reason !== 'locked') throw error;
    }
  }

  /** Gives back what it holds as soon as the calls that use it have ended; it can still be used. */
  async close(): Promise<void> {
    this.#isLeft = true;
    this.#closing.abort();
    await this.#session?.catch(() => undefined);
    await this.#store?.close().catch(() => undefined);
  }
}

export interface Reembedding {
  running: boolean;
  done: number;
  total: number;
}

const BATCH = 64;

/** Copies the lines of a project that are on this machine only into the project; nothing where there are none. */
export async function moveMemory(setup: MemorySetup): Promise<StateMove | undefined> {
  const { kit } = setup;
  const { project, user } = kit.places.memories;
  const [from, to] = [folderAt(user), folderAt(project)];
  const inside = jailOf(to);
  if (isOnQdrant(setup.engine) || (await lineFiles(from)).length === 0) return undefined;
  const home = projectPages(kit);
  const options = { project: kit.app, analyser: ANALYSER };
  const store = await openStore(setup, options, (note) => setup.log.warn(note));
  return {
    part: 'memories',
    count: await store.count({ includeSuperseded: true }),
    from,
    to: project.path,
    async obstacles() {
      return those((await strayRefusal(kit.root, project.path, t`nothing was moved`))?.line);
    },
    async copy() {
      const mirror = await mirrorOf(setup, to, inside);
      await copyLines(from, { folder: to, inside, mirror, isPrivate: true });
      const all = home.keptWith === undefined ? (await allEntries(store, {})).toReversed() : [];
      const living = (type: MemoryType): Promise<MemoryEntry[]> =>
        Promise.resolve(all.filter((entry) => entry.type === type));
      const agents = await readKitAgents(kit);
      for (const entry of all)
        await writeKitFiles({ kit: home, agents, locks: to, mirror, living }, entry, { mode: 'local' });
      // The same lines in both places are the same memories.
      return () => Promise.resolve();
    },
    setAside: () => setAside(from),
  };
}
