import { randomBytes } from 'node:crypto';
import { lstat, lutimes, rmdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BmadError, systemCode } from '../errors.ts';
import { jsonObject } from '../parse/json.ts';
import { ensureFolder } from './ensure-folder.ts';
import { oldBytes, sweepDrafts } from './file-drafts.ts';
import { writeFailure } from './file-failure.ts';
import { fileMode } from './file-modes.ts';
import { hasEnded, processSpace } from './is-running.ts';
import { createNew, openToRead, removeFile, upwards } from './open-file.ts';

export interface LockOptions {
  /** The folder that nothing may lead out of; for locks in a project. */
  inside?: string | undefined;
  signal?: AbortSignal | undefined;
  /** How long to wait for another process. */
  waitMs: number;
  /** Called once if there is a holder to wait for. */
  onWait?: () => void;
  /** Folders created for the lock are removed if they stay empty: a failed call leaves none behind. */
  tidy?: boolean;
}

/**
 * How often the holder signals that it is alive. Nobody takes a lock with a fresh signal, whatever its pid says; without
 * one, a holder that has ended is gone, and one that cannot be asked after a while. A process that still exists here may
 * be suspended, or the machine asleep; only much later is it assumed to be a different one with the same pid.
 */
const SIGN_MS = 1_000;
const FRESH_MS = 3 * SIGN_MS;
const SILENT_MS = 20_000;
const SILENT_ALIVE_MS = 10 * 60_000;
const POLL_MS = 40;
const REMOVALS = 3;
/** Names and the like take far less. */
const LOCK_BYTES = 4_096;

interface Lock {
  path: string;
  inside: string | undefined;
}

interface Holder {
  pid: number;
  /** The space of its pid. */
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
  await ensureFolder(dirname(path), options.inside);
  const token = randomBytes(8).toString('hex');
  const lock: Lock = { path, inside: options.inside };
  const tookOver = await acquire(lock, token, options);
  const sign = setInterval(() => void lutimes(path, new Date(), new Date()).catch(() => undefined), SIGN_MS);
  sign.unref();
  try {
    await sweepDrafts(dirname(path), options.inside, isLeftLock);
    return await action(tookOver);
  } finally {
    clearInterval(sign);
    if ((await holderOf(lock).catch(() => undefined))?.token === token) await removed(lock);
    if (made !== undefined) await removeEmpty(dirname(path), made);
  }
}

/**
 * Removes a lock; answers why it could not. Until it is gone it is in everybody's way, so a disk that refuses is asked
 * again; but what was done under it is done, whatever becomes of it.
 */
async function removed({ path, inside }: Lock): Promise<BmadError | undefined> {
  for (let tries = 1; ; tries += 1)
    try {
      await removeFile(path, inside);
      return undefined;
    } catch (error) {
      if (tries === REMOVALS) return writeFailure(path, error);
      await pause(POLL_MS);
    }
}

/** The topmost folder that has to be created for this one; undefined if it exists. */
async function missingAt(folder: string): Promise<string | undefined> {
  let missing: string | undefined;
  for (const next of upwards(folder)) {
    if ((await stat(next).catch(() => undefined)) !== undefined) break;
    missing = next;
  }
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

/**
 * The word of one who waited for a lock, which is empty; or a lock that its holder never removed, which is taken away
 * here. Other programs have files of such names too: only what names a holder is a lock of ours.
 */
async function isLeftLock(name: string, path: string): Promise<boolean> {
  if (!/\.lock(?:\.takeover|\.wanted)?$/.test(name)) return false;
  const bytes = await oldBytes(path);
  if (bytes === undefined || name.endsWith('.wanted')) return bytes === 0;
  const lock = { path, inside: undefined };
  const holder = await holderOf(lock).catch(() => undefined);
  if (holder === undefined || holder.pid === 0 || holder.token === '') return false;
  if ((await standing(lock, holder)) !== 'gone') return false;
  if (name.endsWith('.lock')) await takeAway(lock, holder);
  return name.endsWith('.takeover');
}

async function acquire(lock: Lock, token: string, { signal, waitMs, onWait }: LockOptions): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  let waited = false;
  let tookOver = false;
  while (!(await create(lock, token))) {
    signal?.throwIfAborted();
    const holder = await holderOf(lock);
    const state = holder === undefined ? 'there' : await standing(lock, holder);
    if (holder !== undefined && state === 'gone' && (await takeAway(lock, holder))) {
      tookOver = true;
      continue;
    }
    // Who has ended is not waited for in vain: its last sign is soon old.
    if (state !== 'ended' && performance.now() > deadline) throw locked(lock, holder);
    if (!waited) onWait?.();
    waited = true;
    await pause(POLL_MS, undefined, { signal });
  }
  return tookOver;
}

/** Anyone who may write there can have written the file, so it is only quoted. */
function locked({ path }: Lock, holder: Holder | undefined): BmadError {
  const { pid = 0, host } = holder ?? {};
  const isHere = host === processSpace();
  const who =
    pid === 0 ? 'no process' : isHere ? `process ${pid}` : 'a process of another machine or container';
  return new BmadError('unavailable', `${path} is a lock, which names ${who}.`, {
    reason: 'locked',
    hint: 'Wait until that process has finished, then try again. If there is none, the lock is taken over after a while.',
  });
}

async function create(lock: Lock, token: string): Promise<boolean> {
  const { path, inside } = lock;
  try {
    // Other processes have to read who holds it.
    const handle = await createNew(path, await fileMode(path), { inside });
    const made = performance.now();
    try {
      await handle.writeFile(
        JSON.stringify({ pid: process.pid, host: processSpace(), token } satisfies Holder),
      );
      // A process that was suspended in between returns to a file that may now belong to another.
      if (performance.now() - made > SIGN_MS) return (await holderOf(lock))?.token === token;
    } catch (error) {
      // On a full disk the file would remain empty, and the next process would wait for a holder that does not exist.
      await removed(lock);
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
      await ensureFolder(dirname(path), inside);
      return false;
    }
    throw writeFailure(path, error);
  }
}

/**
 * Who holds a lock; undefined if it is gone. Anything but a small regular file was not made by a holder, and no one will
 * ever remove it: that is said at once.
 */
async function holderOf({ path, inside }: Lock): Promise<Holder | undefined> {
  const found = await openToRead(path, { inside, maxBytes: LOCK_BYTES }).catch((error: unknown) => {
    if (error instanceof BmadError) throw error;
    // It may be someone else's, or about to be removed.
    return undefined;
  });
  if (found === undefined) return undefined;
  try {
    // A file that was created but not written yet says nothing; its creator may also have died in between.
    const { pid, host, token } = jsonObject(await found.handle.readFile('utf8')) ?? {};
    return {
      pid: Number.isSafeInteger(pid) && Number(pid) > 0 ? Number(pid) : 0,
      host: typeof host === 'string' ? host : '',
      token: typeof token === 'string' ? token : '',
    };
  } finally {
    await found.handle.close();
  }
}

/** Whether a holder is there, has ended a moment ago, or is gone, so that its lock may be taken away. */
async function standing({ path }: Lock, { pid, host, token }: Holder): Promise<'there' | 'ended' | 'gone'> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined) return 'there';
  const here = pid !== 0 && host === processSpace();
  // In a restarted container, the previous process had the same pid.
  const isOlder = here && pid === process.pid && info.mtimeMs < performance.timeOrigin - SIGN_MS;
  const ended = isOlder || hasEnded(pid, host);
  const silence = Date.now() - info.mtimeMs;
  if (Math.abs(silence) < FRESH_MS) return ended ? 'ended' : 'there';
  // A holder writes its name right after creating the file; one that has not by then was killed in between.
  const limit = token === '' ? FRESH_MS : here ? SILENT_ALIVE_MS : SILENT_MS;
  // A clock that was ahead has left a sign of life that no one can have given yet.
  return ended || silence > limit || silence < -SILENT_ALIVE_MS ? 'gone' : 'there';
}

/**
 * Removes the lock of a dead holder. Only one process at a time may, and only that very lock: between seeing it and
 * removing it, another may have taken it over.
 */
async function takeAway(lock: Lock, dead: Holder): Promise<boolean> {
  const guard = { ...lock, path: `${lock.path}.takeover` };
  if (!(await create(guard, 'guard'))) {
    if ((await standing(guard, (await holderOf(guard)) ?? dead)) === 'gone')
      await removeFile(guard.path, guard.inside);
    return false;
  }
  try {
    if ((await holderOf(lock))?.token !== dead.token) return false;
    // Two files that nobody has signed yet look the same, and a holder may have woken up.
    if ((await standing(lock, dead)) !== 'gone') return false;
    const refused = await removed(lock);
    if (refused !== undefined) throw refused;
    return true;
  } finally {
    await removed(guard);
  }
}
