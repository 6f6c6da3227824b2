import { join } from 'node:path';
import type { Log } from '../../base/log.ts';
import type { Step } from '../../base/step.ts';
import type { StateMove } from '../../kit/home.ts';
import type { Kit } from '../../kit/kit.ts';
import { KitFiles } from '../../kit/memories/read-all.ts';
import { analyse, ANALYSER_VERSION } from '../../meaning/analyse.ts';
import type { Analyser } from '../../meaning/analyser.ts';
import type { Embedder } from '../../meaning/embedder.ts';
import type { EmbedderSettings } from '../../meaning/embedders/choose.ts';
import { MEMORY_TYPES, type MemoryEntry, type MemoryFilter, type MemoryType } from '../../model/memory.ts';
import { browse, type Browsed } from './browse.ts';
import { completed, tidied } from './copies.ts';
import { copiesFolder, copyToday, dailyCopies, removeCopies } from './daily-copies.ts';
import {
  forgetMemory,
  keepBoth,
  restoreMemory,
  supersedeMemory,
  updateMemory,
  wholeMemory,
} from './one-memory.ts';
import { hasTwoStores, isOnQdrant, type EngineSettings } from './open.ts';
import type { MemoryStore } from './engine.ts';
import { kitCandidates } from './kit-index.ts';
import type { OpenMemory, Session } from './opened.ts';
import { hasStore } from './has-store.ts';
import { otherStore, placeOf } from './place.ts';
import { purge, type ToPurge } from './purge.ts';
import { remember } from './remember.ts';
import { recall } from './recall.ts';
import { rehearseRecall } from './rehearsal.ts';
import { embedPending, type Reembedding } from './reembed.ts';
import { between, listed, passes, readyFilter } from './select.ts';
import { Sessions } from './sessions.ts';
import { shownBy } from './shown.ts';
import { faultsIn, statusOf } from './status.ts';
import type { MemoryPage, MemoryStats, Page } from './store.ts';
import { distinct } from './distinct.ts';
import { moveIntoProject } from './transfer/move.ts';
import { copyAll, exported, imported } from './transfer/transfer.ts';

/** One for all projects is chosen outside; what it takes is in this part, which is loaded late. */
export { chooseEmbedder } from '../../meaning/embedders/choose.ts';
export { serverName } from './place.ts';

/** Memories have their tags among their words, which earlier ones had not. */
export const ANALYSER: Analyser = { id: `tagged-${ANALYSER_VERSION}`, terms: analyse };

export interface MemorySetup {
  /** The project, and where its state is. */
  kit: Kit;
  /** The user's folder for what has no place in a project. */
  state: string;
  engine: EngineSettings;
  embedder: EmbedderSettings;
  /** One embedder for all projects, which is read once; without it, one is opened for this project. */
  embedders?: SharedEmbedder | undefined;
  hide(text: string): string;
  log: Log;
  /** Whether memories without a vector get one in the background; a command does only what it was asked for. */
  background: boolean;
  /** Whether anything may be written. */
  writes: boolean;
}

export interface SharedEmbedder {
  get(this: void): Promise<Embedder | undefined>;
  /** The next one who asks gets another. */
  failed(this: void): void;
}

export interface Selection {
  type?: MemoryType | undefined;
  /** Every name of whose memories are meant. */
  agents?: readonly string[] | undefined;
  tags?: readonly string[] | undefined;
  since?: string | undefined;
  until?: string | undefined;
  all?: boolean | undefined;
  /** Only what the store has: what is only in files is found by reading the whole store. */
  stored?: boolean | undefined;
}

export type Memory = ReturnType<typeof openMemory>;

/** What a project remembers. Nothing is opened before the first question. */
export function openMemory(setup: MemorySetup) {
  const { kit } = setup;
  const files = new KitFiles(kit);
  const place = placeOf(kit);
  const { folder } = place;
  const copies = copiesFolder(kit.root, setup.state);
  const storeOptions = { project: kit.app, analyser: ANALYSER };
  /** Whether the store is a server, so that the folder says nothing about it. */
  const elsewhere = isOnQdrant(setup.engine);
  const sessions = new Sessions({ ...setup, files, place, copies, analyser: ANALYSER });
  let settled: Promise<void> | undefined;
  const ready = async (session: Session): Promise<Session> => {
    if (setup.writes) await (settled ??= completed(opened, session).then(() => tidied(opened)));
    return session;
  };
  const opened: OpenMemory = {
    writes: setup.writes,
    files,
    analyser: ANALYSER,
    folder,
    hide: setup.hide,
    log: setup.log,
    session: async (signal) => ready(await sessions.get(signal)),
    sessionToWrite: async (signal) => ready(await sessions.toWrite(signal)),
    embedderFailed: (error) => sessions.embedderFailed(error),
  };
  const on =
    <A extends unknown[], R>(act: (opened: OpenMemory, ...args: A) => R) =>
    (...args: A): R =>
      act(opened, ...args);
  return {
    place,
    app: kit.app,
    remember: on(remember),
    recall: on(recall),
    /** All of a type, in the store and in files, newest first; of one agent under any of its names. */
    browse: on(browse),
    /** What was found, each text once, with marks on those that are about the same. */
    distinct: on(distinct),
    get: on(wholeMemory),
    update: on(updateMemory),
    /** Takes it out of every answer, and its copies out of the project's files. `restore` is the undo. */
    forget: on(forgetMemory),
    restore: on(restoreMemory),
    /** Marks it as replaced: it stays, and is left out of answers that do not ask for it. */
    supersede: on(supersedeMemory),
    keepBoth: on(keepBoth),
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

    async stats(): Promise<MemoryStats> {
      return (await opened.session()).store.stats();
    },

    status: () => statusOf(opened, sessions, place, elsewhere),

    /** What is wrong with the stores of this project, the one in use and that of the other place. */
    faults(): Promise<string[]> {
      const folders = [folder, place.also ?? []].flat();
      return faultsIn(elsewhere ? [folder] : folders, setup.engine, storeOptions);
    },

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
      if (elsewhere || !(await hasTwoStores(folder))) return { notes: broken, steps: [] };
      return {
        notes: [...broken, `Only one of two stores was searched: ${folder} has both.`],
        steps: [{ operation: 'memory_status', why: 'See what to do about it' }],
      };
    },

    /** Problems with the project's own files: their content may be missing from every answer. */
    async fileProblems(): Promise<readonly string[]> {
      return (await files.read()).problems;
    },

    /** Removes forgotten memories for good, and the copies that have them. */
    async purge(given: ToPurge) {
      const done = await purge(opened, given);
      if (done.applied && done.memories.length > 0) {
        await removeCopies(copies);
        await copyToday((await opened.session()).store, copies).catch((error: unknown) =>
          setup.log.warn('the memories were not copied', { error: String(error) }),
        );
      }
      return done;
    },

    /** The daily copies, newest first. */
    copies: () => dailyCopies(copies),

    async restoreCopy(day: string, apply: boolean) {
      const { restoreCopy } = await import('./transfer/restore-copy.ts');
      return restoreCopy({ place, copies, analyser: ANALYSER }, day, apply && setup.writes);
    },

    /** Makes the vectors that are missing, now, and waits for it. */
    async reindex(tell: (progress: Reembedding) => void, signal: AbortSignal): Promise<Reembedding> {
      const session = await opened.sessionToWrite(signal);
      const progress: Reembedding = { running: false, done: 0, total: 0 };
      await embedPending(session, { lock: join(folder, 'embedding.lock'), signal, progress, tell });
      const { total, embedded: done } = await session.store.embedding();
      return { running: false, done, total };
    },

    /** Brings here what another memory still holds of a store whose file is gone. Answers how many came. */
    async adopt(former: { held(): Promise<MemoryStore | undefined> }): Promise<number> {
      const held = setup.writes ? await former.held() : undefined;
      return held === undefined ? 0 : copyAll(held, (await opened.sessionToWrite()).store, true);
    },

    /** Does in advance what makes the first recall of this process slow. */
    rehearse: on(rehearseRecall),

    /** The store, if it is open and its file is gone: this process then has the last of it. */
    held: (): Promise<MemoryStore | undefined> => sessions.held(),

    /** Gives back what it holds as soon as the calls that use it have ended; it can still be used. */
    rest: (): void => sessions.rest(),

    close: (): Promise<void> => sessions.close(),
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
  const found = await Promise.all(types.map((each) => browse(opened, each, agents, { takes })));
  return found.flatMap(({ entries }) => entries.map(({ entry }) => entry));
}

/** What moves a project's memories from the user's folder into the project; nothing where there are none. */
export function moveMemory(setup: MemorySetup): Promise<StateMove | undefined> {
  return moveIntoProject({ ...setup, analyser: ANALYSER });
}

/** What determines where a project's memory is; if this text changes, it has to be reopened. */
export async function memoryVersion(kit: Kit): Promise<string> {
  const { app, memory, user } = kit;
  return [app, memory ?? '', user, (await otherStore(placeOf(kit))) ?? ''].join('\n');
}
