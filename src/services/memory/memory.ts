import { plural, t } from '../../base/text/message.ts';
import type { Step } from '../../base/step.ts';
import { type Kit, type LinesPlace, linesPlace } from '../../kit/kit.ts';
import { keptList } from '../../kit/memories/entries.ts';
import { KitFiles } from '../../kit/memories/read-all.ts';
import { linePlaces, linesIn, mirrorsIn } from '../../kit/project-log.ts';
import { type LinedHandoff, linedHandoffs } from '../../kit/session/handoffs.ts';
import { MEMORY_TYPES, type MemoryEntry, type MemoryFilter, type MemoryType } from '../../model/memory.ts';
import { BmadError, ours } from '../../base/errors.ts';
import { leftMirrors } from '../../lines/folders.ts';
import { browse, browseAll, type Browsed } from './browse.ts';
import * as changes from './change.ts';
import type { MemoryPage, MemoryStats, Page } from './engine.ts';
import { isOnQdrant, type MemorySetup, OpenedMemory, type Reembedding } from './open.ts';
import { kitCandidates, type OpenMemory, shownBy } from './opened.ts';
import { hasStore } from './place.ts';
import { between, listed, passes, readyFilter } from './rank.ts';
import { recall } from './recall.ts';
import { distinct } from './similar.ts';
import { exported, imported } from './transfer.ts';

export { makeIndex, type MemorySetup, moveMemory, type SharedEmbedder } from './open.ts';
/** Both are asked for outside, for all projects; what they take is in this part, which is loaded late. */
export { chooseEmbedder } from '../../meaning/embedders/choose.ts';
export { serverName } from '../../kit/project-log.ts';

export interface Selection {
  type?: MemoryType | undefined;
  agents?: readonly string[] | undefined;
  tags?: readonly string[] | undefined;
  since?: string | undefined;
  until?: string | undefined;
  all?: boolean | undefined;
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

    async list(selection: Selection, page: Page): Promise<MemoryPage> {
      const { store } = await opened.session();
      const { entries, next } = await store.list(filterOf(selection), page);
      const stored = entries.map(shownBy(opened).entry);
      const merged = listed([...stored, ...(await onlyInFiles(opened, selection))], page);
      return { entries: merged.entries, next: merged.next ?? next };
    },

    async count(selection: Selection): Promise<number> {
      const { store } = await opened.session();
      return (await store.count(filterOf(selection))) + (await onlyInFiles(opened, selection)).length;
    },

    /** Of all that is listed; with `stored` of what the store has alone. */
    async stats(selection: Pick<Selection, 'stored'> = {}): Promise<MemoryStats> {
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

    faults: () => faultsIn(opened, setup),

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
    async notes(): Promise<{ notes: string[]; steps: readonly Step[] }> {
      const broken = kit.page.isBroken === true ? kit.problems : [];
      const making = opened.making();
      return { notes: [...broken, ...(making === undefined ? [] : [making])], steps: [] };
    },

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

function filterOf({ type, agents, tags, since, until, all }: Selection): MemoryFilter {
  return {
    types: type === undefined ? undefined : [type],
    agents,
    tagsAll: tags,
    ...between(since, until),
    includeSuperseded: all,
    includeForgotten: all,
  };
}

/** What a selection takes of the project's files and the store does not have. */
async function onlyInFiles(opened: OpenMemory, selection: Selection): Promise<MemoryEntry[]> {
  const { type, agents, since, until, stored = false } = selection;
  if (stored) return [];
  const ready = readyFilter({ ...filterOf(selection), agents: undefined });
  const bounded = since !== undefined || until !== undefined;
  const kit = await kitCandidates(opened, undefined);
  const types = MEMORY_TYPES.filter(
    (each) => (type ?? each) === each && kit.some(({ entry }) => entry.type === each && passes(entry, ready)),
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
  const { files, reembedding } = opened;
  const { entries, problems } = await files.read();
  // Entries of the project's own files are searched too.
  const lines = await linesIn(setup).catch(ours(() => ({ files: 0, mirror: undefined })));
  const shared = {
    project: files.kit.app,
    owner,
    folder,
    lines,
    fileEntries: entries.length,
  };
  const notes = [...problems, ...(await keptList(files.kit, await opened.mirror()))];
  const { app, isNamed } = files.kit;
  if (isOnQdrant(setup.engine) && !isNamed)
    notes.push(
      t`Earlier versions kept its memories on the server as ${app.replace(/-[^-]*$/, '')}, together with those of every project of that name. To use these again, give the project that name in project-context.yaml.`,
    );
  const steps: Step[] = [];
  try {
    const { store, notes: left, embedder, troubles } = await opened.session();
    const health = await store.health();
    const stats = await store.stats();
    const { total, embedded } = await store.embedding();
    const making = store.making();
    if (embedder !== undefined && embedded < total && !reembedding.running && making === undefined) {
      notes.push(t`${plural(total - embedded, 'memory waits', 'memories wait')} for a vector.`);
      steps.push({ operation: 'memory_reindex', why: t`Make the missing vectors now` });
    }
    return {
      ...shared,
      store: health,
      embedder: embedder === undefined ? undefined : { id: embedder.id, dim: embedder.dim },
      stats,
      // Memories with a vector of the embedder, of all that could have one.
      embedding: { done: embedded, total, running: reembedding.running },
      degraded: health.degraded || left.length + troubles.length > 0,
      notes: [...(making === undefined ? [] : [making]), ...notes, ...left, ...troubles, ...health.notes],
      steps,
    };
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    return {
      ...shared,
      store: undefined,
      embedder: undefined,
      stats: undefined,
      embedding: { done: 0, total: 0, running: false },
      degraded: true,
      notes: [error.line, ...notes],
      steps: [...error.steps, ...steps],
    };
  }
}

/** What is wrong with the memories, in words; what is fine, or not there yet, says nothing. */
async function faultsIn(
  opened: OpenMemory,
  { kit, engine }: Pick<MemorySetup, 'kit' | 'engine'>,
): Promise<string[]> {
  try {
    if (!isOnQdrant(engine) && !(await hasStore(kit))) return [];
    const kept = await keptList(kit, await opened.mirror());
    const { store, notes } = await opened.session();
    // An index in the wrong place is slower, not wrong.
    const health = await store.health();
    return [...kept, ...notes, ...(health.damaged === true ? health.notes : [])];
  } catch (error) {
    if (!(error instanceof BmadError)) throw error;
    return [error.line];
  }
}
