import { join } from 'node:path';
import type { Step } from '../../base/step.ts';
import { momentOf } from '../../base/text/local-time.ts';
import { sameAgent } from '../../kit/agents.ts';
import type { MemoryFilter, MemoryType } from '../../model/memory.ts';
import { browse } from './browse.ts';
import {
  exactId,
  forgetMemory,
  restoreMemory,
  supersedeMemory,
  updateMemory,
  wholeMemory,
} from './one-memory.ts';
import { hasTwoStores } from './open.ts';
import type { OpenMemory } from './opened.ts';
import { isUsed, type MemoryPlace } from './place.ts';
import { purge, type Purged, type ToPurge } from './purge.ts';
import { recall } from './recall.ts';
import { embedPending, type Reembedding } from './reembed.ts';
import { remember } from './remember.ts';
import type { Sessions } from './sessions.ts';
import { shownBy } from './shown.ts';
import { statusOf } from './status.ts';
import type { MemoryPage, MemoryStats, Page } from './store.ts';
import { exported, imported } from './transfer/transfer.ts';

export interface MemoryParts {
  opened: OpenMemory;
  sessions: Sessions;
  place: MemoryPlace;
  /** The user's folder for this project, which is used unless the project has its own. */
  userFolder: string;
  /** Whether the store is a server, so that the folder says nothing about it. */
  elsewhere: boolean;
}

export interface Selection {
  type?: MemoryType | undefined;
  agent?: string | undefined;
  tags?: readonly string[] | undefined;
  since?: string | undefined;
  until?: string | undefined;
  all?: boolean | undefined;
}

export type Memory = ReturnType<typeof createMemory>;

/** What a project remembers. */
export function createMemory(parts: MemoryParts) {
  const { opened, sessions, place, elsewhere } = parts;
  const { files, folder } = opened;
  const on =
    <A extends unknown[], R>(act: (opened: OpenMemory, ...args: A) => R) =>
    (...args: A): R =>
      act(opened, ...args);
  return {
    place,
    app: files.kit.app,
    remember: on(remember),
    recall: on(recall),
    /** All of a type, in the store and in files, newest first; of one agent under any of its names. */
    browse: on(browse),
    get: on(wholeMemory),
    update: on(updateMemory),
    /** Takes it out of every answer, and its copies out of the project's files. `restore` is the undo. */
    forget: on(forgetMemory),
    restore: on(restoreMemory),
    /** Marks it as replaced: it stays, and is left out of answers that do not ask for it. */
    supersede: on(supersedeMemory),
    imported: on(imported),

    async exported(format: 'markdown' | 'jsonl', selection: Selection) {
      return exported(opened, format, await filterOf(opened, selection));
    },

    async list(selection: Selection, page: Page): Promise<MemoryPage> {
      const { store } = await opened.session();
      const { entries, next } = await store.list(await filterOf(opened, selection), page);
      return { entries: entries.map(shownBy(opened).entry), next };
    },

    async count(selection: Selection): Promise<number> {
      return (await opened.session()).store.count(await filterOf(opened, selection));
    },

    async stats(): Promise<MemoryStats> {
      return (await opened.session()).store.stats();
    },

    status: () => statusOf(parts),

    /** Throws where the store cannot be reached. */
    async reach(): Promise<void> {
      await (await opened.session()).store.embedding();
    },

    /** Whether nothing can be known: there is no store, and no file of the project has an entry. */
    async isEmpty(): Promise<boolean> {
      return !elsewhere && !(await isUsed(folder)) && (await files.read()).entries.length === 0;
    },

    /** What to know about the answers of this memory that they do not say themselves. */
    async notes(): Promise<{ notes: string[]; steps: readonly Step[] }> {
      if (elsewhere || !(await hasTwoStores(folder))) return { notes: [], steps: [] };
      return {
        notes: [`Only one of two stores was searched: ${folder} has both.`],
        steps: [{ operation: 'memory_status', why: 'See what to do about it' }],
      };
    },

    /** Problems with the project's own files: their content may be missing from every answer. */
    async fileProblems(): Promise<readonly string[]> {
      return (await files.read()).problems;
    },

    /** Removes forgotten memories for good. */
    purge: (given: ToPurge): Promise<Purged> => purge(opened, { ...given, ids: given.ids?.map(exactId) }),

    /** Makes the vectors that are missing, now, and waits for it. */
    async reindex(tell: (progress: Reembedding) => void, signal: AbortSignal): Promise<Reembedding> {
      const session = await opened.sessionToWrite(signal);
      const progress: Reembedding = { running: false, done: 0, total: 0 };
      await embedPending(session, { lock: join(folder, 'embedding.lock'), signal, progress, tell });
      const { total, embedded: done } = await session.store.embedding();
      return { running: false, done, total };
    },

    close: (): Promise<void> => sessions.close(),
  };
}

async function filterOf(
  { files }: OpenMemory,
  { type, agent, tags, since, until, all }: Selection,
): Promise<MemoryFilter> {
  return {
    types: type === undefined ? undefined : [type],
    agents: agent === undefined ? undefined : sameAgent(await files.agents(), agent),
    tagsAll: tags,
    since: since === undefined ? undefined : momentOf(since, 'first'),
    until: until === undefined ? undefined : momentOf(until, 'last'),
    includeSuperseded: all,
    includeForgotten: all,
  };
}
