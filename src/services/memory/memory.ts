import { plural, t } from '../../base/text/message.ts';
import type { Step } from '../../base/step.ts';
import { type Kit, type LinesPlace, linesPlace } from '../../kit/kit.ts';
import { keptList } from '../../kit/memories/entries.ts';
import { KitFiles } from '../../kit/memories/read-all.ts';
import { linePlaces, linesIn, mirrorsIn } from '../../kit/project-log.ts';
import { type LinedHandoff, linedHandoffs } from '../../kit/session/handoffs.ts';
import { MEMORY_TYPES, type MemoryEntry } from '../../model/memory.ts';
import { BmadError, ours } from '../../base/errors.ts';
import { those } from '../../base/values.ts';
import { leftMirrors } from '../../lines/folders.ts';
import { browse, browseAll, type Browsed } from './browse.ts';
import * as changes from './change.ts';
import type { MemoryPage, MemoryStats, Page } from './engine.ts';
import { isOnQdrant, type MemorySetup, OpenedMemory, type Reembedding } from './open.ts';
import { kitCandidates, type OpenMemory, shownBy } from './opened.ts';
import { hasStore } from './place.ts';
import { filterOf, listed, passes, readyFilter, type Selection } from './rank.ts';
import { recall } from './recall.ts';
import { distinct } from './similar.ts';
import { exported, imported } from './transfer.ts';

export { makeIndex, type MemorySetup, moveMemory, type SharedEmbedder } from './open.ts';
/** Both are asked for outside, for all projects; what they take is in this part, which is loaded late. */
export { chooseEmbedder } from '../../meaning/embedders/choose.ts';
export { serverName } from '../../kit/project-log.ts';

interface Listed extends Selection {
  /** Only what the store has: what is only in files is found by reading the whole store. */
  stored?: boolean | undefined;
}

const NONE: readonly LinedHandoff[] = [];

export type Memory = ReturnType<typeof openMemory>;

/** What a project remembers. Nothing is opened before the first question. */
export function openMemory(setup: MemorySetup) {
  const { kit, logs } = setup;
  const files = new KitFiles(kit, async () => {
    const { all } = await linePlaces(setup);
    return linedHandoffs(logs.view(all, setup)).catch(ours(() => NONE));
  });
  const place = linesPlace(kit);
  /** Whether the store is a server, so that the folder says nothing about it. */
  const elsewhere = isOnQdrant(setup.engine);
  const opened = new OpenedMemory(setup, files);
  const on =
    <A extends unknown[], R>(act: (opened: OpenMemory, ...args: A) => R) =>
    (...args: A): R =>
      act(opened, ...args);
  return {
    place,
    remember: on(changes.remember),
    recall: on(recall),
    /** All of a type, in the store and in files, newest first; of one agent under any of its names. */
    browse: on(browse),
    browseAll: on(browseAll),
    /** What was found, each text once, with marks on those that are about the same. */
    distinct: on(distinct),
    get: on(changes.wholeMemory),
    update: on(changes.updateMemory),
    /** Takes it out of every answer, and its copies out of the project's files. `restore` is the undo. */
    forget: on(changes.forgetMemory),
    restore: on(changes.restoreMemory),
    /** Marks it as replaced: it stays, and is left out of answers that do not ask for it. */
    supersede: on(changes.supersedeMemory),
    keepBoth: on(changes.keepBoth),
    imported: on(imported),

    async exported(format: 'markdown' | 'jsonl', selection: Selection) {
      return exported(opened, format, filterOf(selection));
    },

    async list(selection: Listed, page: Page): Promise<MemoryPage> {
      const { store } = await opened.session();
      const { entries, next } = await store.list(filterOf(selection), page);
      const stored = entries.map(shownBy(opened).entry);
      const merged = listed([...stored, ...(await onlyInFiles(opened, selection))], page);
      return { entries: merged.entries, next: merged.next ?? next };
    },

    async count(selection: Listed): Promise<number> {
      const { store } = await opened.session();
      return (await store.count(filterOf(selection))) + (await onlyInFiles(opened, selection)).length;
    },

    /** Of all that is listed; with `stored` of what the store has alone. */
    async stats(selection: Pick<Listed, 'stored'> = {}): Promise<MemoryStats> {
      const stats = await (await opened.session()).store.stats();
      for (const { type, agent } of await onlyInFiles(opened, selection)) {
        stats.total += 1;
        stats.live += 1;
        stats.byType[type] += 1;
        stats.byAgent[agent] = (stats.byAgent[agent] ?? 0) + 1;
      }
      return stats;
    },

    status: () => statusOf(opened, setup, place),

    faults: () => faultsIn(opened, setup).catch(ours(({ line }) => [line])),

    /** What this user wrote in projects that are no longer where they were. */
    leftMirrors: () => leftMirrors(mirrorsIn(setup.state)),

    /** Throws where the store cannot be reached. */
    async reach(): Promise<void> {
      await (await opened.session()).store.embedding();
    },

    /** Whether nothing can be known: there is no store, and no file of the project has an entry. */
    async isEmpty(): Promise<boolean> {
      return !elsewhere && !(await hasStore(kit)) && (await files.read()).entries.length === 0;
    },

    /** What to know about the answers of this memory that they do not say themselves. */
    notes: (): string[] => those(kit.page.isBroken === true && kit.problems, opened.making()),

    /** Problems with the project's own files: their content may be missing from every answer. */
    async fileProblems(): Promise<readonly string[]> {
      return (await files.read()).problems;
    },

    purge: on(changes.purge),

    /** Makes the vectors that are missing, now, and waits for it. */
    async reindex(tell: (progress: Reembedding) => void, signal: AbortSignal): Promise<Reembedding> {
      const session = await opened.sessionToWrite();
      const progress: Reembedding = { running: false, done: 0, total: 0 };
      await opened.embed(session, signal, progress, tell);
      const { total, embedded: done } = await session.store.embedding();
      return { running: false, done, total };
    },

    /** Does in advance what makes the first recall of this process slow: opens the index, and loads its vectors. */
    async prepare(pause: () => Promise<void>): Promise<void> {
      const { store, embedder } = await opened.session();
      await pause();
      const vector = embedder && new Float32Array(embedder.dim);
      await store.search({ terms: [], vector, filter: {}, limit: 1 });
    },

    /** Gives back what it holds as soon as the calls that use it have ended; it can still be used. */
    close: (): Promise<void> => opened.close(),
  };
}

/** What a selection takes of the project's files and the store does not have. */
async function onlyInFiles(opened: OpenMemory, selection: Listed): Promise<MemoryEntry[]> {
  const { agents, since, until, stored = false } = selection;
  if (stored) return [];
  const ready = readyFilter({ ...filterOf(selection), agents: undefined });
  const bounded = since !== undefined || until !== undefined;
  const kit = await kitCandidates(opened, undefined);
  const types = MEMORY_TYPES.filter((type) =>
    kit.some(({ entry }) => entry.type === type && passes(entry, ready)),
  );
  const takes = (each: Browsed): boolean =>
    !each.stored && (each.dated || !bounded) && passes(each.entry, ready);
  const browsed = await Promise.all(types.map((each) => browse(opened, each, agents, { takes })));
  return browsed.flatMap(({ entries }) => entries.map(({ entry }) => entry));
}

/** What determines where a project's memory is; if this text changes, it has to be reopened. */
export function memoryVersion(kit: Kit): string {
  const { app, memory, user, home } = kit;
  return [app, memory ?? '', user, home].join('\n');
}

/** The true state of a project's memory, even if it does not work. */
async function statusOf(opened: OpenedMemory, setup: MemorySetup, { owner, folder }: LinesPlace) {
  const { files } = opened;
  const { app, isNamed } = files.kit;
  // Entries of the project's own files are searched too.
  const { entries, problems } = await files.read();
  const lines = await linesIn(setup).catch(ours(() => ({ files: 0, mirror: undefined })));
  const store = await storeStatus(opened).catch(ours(unusable));
  const { making, ...state } = store;
  const notes = those(
    making,
    state.notes,
    problems,
    await keptList(files.kit, await opened.mirror()),
    isOnQdrant(setup.engine) &&
      !isNamed &&
      t`Earlier versions kept its memories on the server as ${app.replace(/-[^-]*$/, '')}, together with those of every project of that name. To use these again, give the project that name in project-context.yaml.`,
  );
  return { project: app, owner, folder, lines, fileEntries: entries.length, ...state, notes };
}

async function storeStatus(opened: OpenedMemory) {
  const { store, notes: left, embedder, troubles } = await opened.session();
  const health = await store.health();
  const { total, embedded: done } = await store.embedding();
  const making = store.making();
  const { running } = opened.reembedding;
  const waiting = embedder === undefined || running || making !== undefined ? 0 : total - done;
  const steps: Step[] = [{ operation: 'memory_reindex', why: t`Make the missing vectors now` }];
  return {
    store: health,
    embedder: embedder === undefined ? undefined : { id: embedder.id, dim: embedder.dim },
    stats: await store.stats(),
    // Memories with a vector of the embedder, of all that could have one.
    embedding: { done, total, running },
    degraded: health.degraded || left.length + troubles.length > 0,
    making,
    notes: those(
      waiting > 0 && t`${plural(waiting, 'memory waits', 'memories wait')} for a vector.`,
      left,
      troubles,
      health.notes,
    ),
    steps: waiting > 0 ? steps : [],
  };
}

const unusable = ({ line, steps }: BmadError) => ({
  store: undefined,
  embedder: undefined,
  stats: undefined,
  embedding: { done: 0, total: 0, running: false },
  degraded: true,
  making: undefined,
  notes: [line],
  steps: [...steps],
});

/** What is wrong with the memories, in words; what is fine, or not there yet, says nothing. */
async function faultsIn(
  opened: OpenMemory,
  { kit, engine }: Pick<MemorySetup, 'kit' | 'engine'>,
): Promise<string[]> {
  if (!isOnQdrant(engine) && !(await hasStore(kit))) return [];
  const kept = await keptList(kit, await opened.mirror());
  const { store, notes } = await opened.session();
  // An index in the wrong place is slower, not wrong.
  const health = await store.health();
  return those(kept, notes, health.damaged === true && health.notes);
}
