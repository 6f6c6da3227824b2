import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { ensureFile } from '../../base/files/file-modes.ts';
import { leftDrafts, removeDrafts } from '../../base/files/file-drafts.ts';
import { fileIdentity } from '../../base/files/file-identity.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { draftOf, moveFile } from '../../base/files/file-tree.ts';
import { ensureFolder, removeTree, sizeAndTime, stateNames } from '../../base/files/file-state.ts';
import { projectKey } from '../../base/files/project-key.ts';
import type { Log } from '../../base/log.ts';
import type { MemoryStore } from './engine.ts';

/** Copies of a project's store in the user's state: one a day, checked before it counts, and only so many. */

const KEPT = 7;
const NAME = /^(\d{4}-\d\d-\d\d)\.(db|jsonl)$/;
/** After the first answers: no one waits for a copy. */
const DELAY_MS = 3_000;
const EVERY_MS = 6 * 60 * 60_000;

export interface DailyCopy {
  /** The day, in UTC. */
  day: string;
  path: string;
  engine: 'sqlite' | 'jsonl';
  bytes: number;
}

export function copiesFolder(root: string, state: string): string {
  return join(state, 'memory-copies', projectKey(root));
}

/** Newest first. */
export async function dailyCopies(folder: string): Promise<DailyCopy[]> {
  const copies: DailyCopy[] = [];
  for (const name of (await stateNames(folder)).toReversed()) {
    const [, day, ending] = NAME.exec(name) ?? [];
    if (day === undefined) continue;
    const path = join(folder, name);
    const engine = ending === 'db' ? 'sqlite' : 'jsonl';
    copies.push({ day, path, engine, bytes: (await sizeAndTime(path))?.size ?? 0 });
  }
  return copies;
}

/** Copies the store unless there is a copy of today. Answers with the new one. */
export async function copyToday(store: MemoryStore, folder: string): Promise<string | undefined> {
  const file = store.file();
  // A store that is gone is not made again for a copy.
  if (file === undefined || (await fileIdentity(file)) === undefined) return undefined;
  const ending = file.endsWith('.db') ? 'db' : 'jsonl';
  const path = join(folder, `${new Date().toISOString().slice(0, 10)}.${ending}`);
  if ((await fileIdentity(path)) !== undefined || (await store.isEmpty())) return undefined;
  await ensureFolder(folder);
  try {
    return await withLock(join(folder, '.lock'), { waitMs: 0 }, async () => {
      await removeDrafts(await leftDrafts(folder));
      const draft = draftOf(path);
      try {
        await ensureFile(draft);
        await store.copyTo(draft);
        await moveFile(draft, path);
      } finally {
        for (const rest of ['', '-wal', '-shm', '-journal']) await removeTree(`${draft}${rest}`);
      }
      for (const { path: old } of (await dailyCopies(folder)).slice(KEPT)) await removeTree(old);
      return path;
    });
  } catch (error) {
    // Another process is at it.
    if (error instanceof BmadError && error.reason === 'locked') return undefined;
    throw error;
  }
}

/** What was removed for good is not kept in copies either. */
export async function removeCopies(folder: string): Promise<void> {
  for (const { path } of await dailyCopies(folder)) await removeTree(path);
}

interface Keeping {
  /** For how long; what is open is not held open by it. */
  signal: AbortSignal;
  log: Log;
  /** A program that ends soon copies at once, and ends when that is done. */
  atOnce: boolean;
}

/** Copies the store every day, off the path of every answer. */
export function keepCopying(store: MemoryStore, folder: string, { signal, log, atOnce }: Keeping): void {
  const copy = (): void => {
    copyToday(store, folder).catch((error: unknown) => {
      if (!signal.aborted)
        log.warn('the memories were not copied', { error: error instanceof Error ? error.message : '' });
    });
  };
  if (atOnce) {
    copy();
    return;
  }
  const timers = [setTimeout(copy, DELAY_MS), setInterval(copy, EVERY_MS)];
  for (const timer of timers) timer.unref();
  signal.addEventListener('abort', () => timers.forEach((timer) => clearInterval(timer)), { once: true });
}
