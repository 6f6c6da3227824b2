import { randomBytes } from 'node:crypto';
import { open, readFile, rm, rmdir, stat, utimes } from 'node:fs/promises';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BmadError, systemCode } from '../errors.ts';
import { fileMode } from './file-modes.ts';
import { ensureFolder, writeFailure } from './file-state.ts';

export interface LockOptions {
  signal?: AbortSignal | undefined;
  /** How long to wait for another process. */
  waitMs: number;
  /** Called once if there is a holder to wait for. */
  onWait?: () => void;
  /** Folders created for the lock are removed if they stay empty: a failed call leaves none behind. */
  tidy?: boolean;
}

/**
 * How often the holder signals that it is alive, and after how long without a signal it counts as gone. A process that
 * still exists on this machine may be suspended, or the machine asleep; only much later is it assumed to be a different
 * one with the same pid.
 */
const SIGN_MS = 2_000;
const SILENT_MS = 20_000;
const SILENT_ALIVE_MS = 10 * 60_000;
const POLL_MS = 40;
/** A holder writes its name right after creating the file; one that has not by then was killed in between. */
const NAMELESS_MS = 2_000;

interface Holder {
  pid: number;
  host: string;
  token: string;
}

/**
 * Runs `action` while no other process does so for this file. A holder that died, even by `kill -9`, is detected by its
 * pid and its last sign of life, and its lock is taken over. Protected data must stay consistent even so (write a
 * draft, then rename): a process that sleeps for longer than the silence allowed may wake up without its lock.
 */
export async function withLock<T>(
  path: string,
  options: LockOptions,
  /** Whether the lock was taken over from a holder that died in the middle of its work. */
  action: (tookOver: boolean) => Promise<T>,
): Promise<T> {
  const made = options.tidy === true ? await missingAt(dirname(path)) : undefined;
  await ensureFolder(dirname(path));
  const token = randomBytes(8).toString('hex');
  const tookOver = await acquire(path, token, options);
  const sign = setInterval(() => void utimes(path, new Date(), new Date()).catch(() => undefined), SIGN_MS);
  sign.unref();
  try {
    return await action(tookOver);
  } finally {
    clearInterval(sign);
    if ((await holderOf(path))?.token === token) await rm(path, { force: true });
    if (made !== undefined) await removeEmpty(dirname(path), made);
  }
}

/** The topmost folder that has to be created for this one; undefined if it exists. */
async function missingAt(folder: string): Promise<string | undefined> {
  let missing: string | undefined;
  const isThere = (path: string): Promise<boolean> =>
    stat(path).then(
      () => true,
      () => false,
    );
  for (let next = folder; next !== missing && !(await isThere(next)); next = dirname(next)) missing = next;
  return missing;
}

/** Removes empty folders from one up to the named one; stops at the first that is not empty. */
async function removeEmpty(folder: string, upTo: string): Promise<void> {
  try {
    for (let next = folder; next.length >= upTo.length; next = dirname(next)) await rmdir(next);
  } catch {
    // Another process has put something there in the meantime: it stays.
  }
}

async function acquire(
  path: string,
  token: string,
  { signal, waitMs, onWait }: LockOptions,
): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  let waited = false;
  let tookOver = false;
  while (!(await create(path, token))) {
    signal?.throwIfAborted();
    const holder = await holderOf(path);
    if (holder !== undefined && (await isGone(path, holder)) && (await takeAway(path, holder))) {
      tookOver = true;
      continue;
    }
    if (performance.now() > deadline)
      throw new BmadError('unavailable', `Another process (${holder?.pid ?? 'unknown'}) is using ${path}.`, {
        reason: 'locked',
        hint: 'Wait for it to finish, then try again.',
      });
    if (!waited) onWait?.();
    waited = true;
    await pause(POLL_MS, undefined, { signal });
  }
  return tookOver;
}

async function create(path: string, token: string): Promise<boolean> {
  try {
    // Other processes have to read who holds it.
    const handle = await open(path, 'wx', await fileMode(path));
    const made = performance.now();
    try {
      await handle.writeFile(JSON.stringify({ pid: process.pid, host: hostname(), token } satisfies Holder));
      // A process that was suspended in between returns to a file that may now belong to another.
      if (performance.now() - made > NAMELESS_MS / 2) return (await holderOf(path))?.token === token;
    } catch (error) {
      // On a full disk the file would remain empty, and the next process would wait for a holder that does not exist.
      await rm(path, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    // Windows refuses for a moment while a removed file is still open somewhere.
    if (['EEXIST', 'EPERM', 'EBUSY'].includes(systemCode(error) ?? '')) return false;
    // Its creator has already cleaned up.
    if (systemCode(error) === 'ENOENT') {
      await ensureFolder(dirname(path));
      return false;
    }
    throw writeFailure(path, error);
  }
}

async function holderOf(path: string): Promise<Holder | undefined> {
  try {
    const value = JSON.parse(await readFile(path, 'utf8')) as Partial<Holder>;
    return { pid: value.pid ?? 0, host: value.host ?? '', token: value.token ?? '' };
  } catch (error) {
    // A file that was created but not written yet; its creator may also have died in between.
    return error instanceof SyntaxError ? { pid: 0, host: '', token: '' } : undefined;
  }
}

async function isGone(path: string, { pid, host, token }: Holder): Promise<boolean> {
  const here = pid !== 0 && host === hostname();
  if (here && !isRunning(pid)) return true;
  const limit = token === '' ? NAMELESS_MS : here ? SILENT_ALIVE_MS : SILENT_MS;
  // In a restarted container, the previous process had the same pid.
  const before = here && pid === process.pid ? performance.timeOrigin - SIGN_MS : 0;
  return stat(path).then(
    ({ mtimeMs }) => Date.now() - mtimeMs > limit || mtimeMs < before,
    () => false,
  );
}

/** Whether a process is running on this machine; one of another user counts as running. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/**
 * Removes the lock of a dead holder. Only one process at a time may, and only that very lock: between seeing it and
 * removing it, another may have taken it over.
 */
async function takeAway(path: string, dead: Holder): Promise<boolean> {
  const guard = `${path}.takeover`;
  if (!(await create(guard, 'guard'))) {
    if (await isGone(guard, (await holderOf(guard)) ?? dead)) await rm(guard, { force: true });
    return false;
  }
  try {
    if ((await holderOf(path))?.token !== dead.token) return false;
    await rm(path, { force: true });
    return true;
  } finally {
    await rm(guard, { force: true });
  }
}
