import { t } from '../text/message.ts';
import { randomBytes } from 'node:crypto';
import { lutimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { around } from '../async.ts';
import { BmadError, systemCode } from '../errors.ts';
import { jsonObject } from '../parse/json.ts';
import { shortDigest } from '../values.ts';
import { ensureFolder, fileMode, missingFolders, removeEmpty } from './file-modes.ts';
import { stateReadFailure, writeFailure } from './file-refusals.ts';
import {
  hasEnded,
  oldBytes,
  processIn,
  type ProcessName,
  processSpace,
  sweepDrafts,
  thisProcess,
} from './leftovers.ts';
import { infoAt, infoOf, type OpenedFile, removeFile, whileMaking, whileReading } from './open-file.ts';

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
 * How often the holder renews the time of its file. Nobody takes a lock whose time was renewed within three beats, unless
 * it names a process that is known to have ended: one of this start of the machine and this space of numbers. All others
 * are judged by their beats alone, and these are counted by looking, not by the clock, which may jump.
 */
const BEAT_MS = 1_000;
const SILENT_MS = 3 * BEAT_MS;
const POLL_MS = 40;
const REMOVALS = 3;
/** Names and the like take far less. */
const LOCK_BYTES = 4_096;

interface Lock {
  path: string;
  inside: string | undefined;
}

interface Holder extends ProcessName {
  token: string;
  /** Changes with each beat, and with the holder. */
  mark: string;
  /** When it gave its last sign, by the clock. */
  at: number;
}

interface Held extends Lock {
  token: string;
  /** How its file was when it was last seen to be this process's own. */
  own?: string | undefined;
  /** When it was last seen to be this process's own, by both clocks. */
  seen: readonly number[];
  lost: boolean;
  released: boolean;
}

/** The locks that what runs now was started under. */
const locks = /* @__PURE__ */ around<readonly Held[]>('locks that are held');

/**
 * Runs `action` while no other process does so for this file. A process that stood still for three beats, suspended or on
 * a machine that slept, may have lost its lock meanwhile: whatever writes under the lock asks `requireLocks` first, and
 * afterwards it is looked at once more. Who lost it is told so, and has not written over what the next one wrote.
 */
export async function withLock<T>(
  path: string,
  options: LockOptions,
  /** Whether the lock was taken over from a holder that died in the middle of its work. */
  action: (tookOver: boolean) => Promise<T>,
): Promise<T> {
  const made = options.tidy === true ? missingFolders(dirname(path)) : [];
  await ensureFolder(dirname(path), options.inside);
  const token = randomBytes(8).toString('hex');
  const held: Held = { path, inside: options.inside, token, seen: [], lost: false, released: false };
  const tookOver = await acquire(held, token, options);
  held.seen = [performance.now(), Date.now()];
  const beating = setInterval(() => void beat(held), BEAT_MS);
  beating.unref();
  try {
    await sweepDrafts(dirname(path), options.inside, isLeftLock);
    const result = await locks.within([...(locks.now() ?? []), held], () => action(tookOver));
    if (await isLost(held)) throw lost(held);
    return result;
  } finally {
    clearInterval(beating);
    held.released = true;
    if ((await holderOf(held).catch(() => undefined))?.token === token) await removed(held);
    await removeEmpty(made);
  }
}

/** Refuses to go on when this runs under a lock that another process has taken meanwhile. */
export async function requireLocks(): Promise<void> {
  for (const held of locks.now() ?? []) if (!held.released && (await isLost(held))) throw lost(held);
}

/** Changes when a lock is written, taken or given a sign. */
function markAt(path: string): string | undefined {
  const info = infoAt(path);
  return info && `${info.dev} ${info.ino} ${info.size} ${info.mtimeNs} ${info.ctimeNs}`;
}

async function beat(held: Held): Promise<void> {
  if (await isLost(held)) return;
  const now = new Date();
  await lutimes(held.path, now, now).catch(() => undefined);
}

/**
 * Whether another process has taken the lock. One that is gone from its place was not taken by anyone who keeps the rules
 * unless it had been silent for so long: somebody has moved or removed its folder, perhaps what runs under it.
 */
async function isLost(held: Held): Promise<boolean> {
  // A machine that slept knows it by one of the two.
  const now = [performance.now(), Date.now()] as const;
  const mark = markAt(held.path);
  const isSame = mark !== undefined && mark === held.own;
  const holder = isSame ? undefined : await holderOf(held).catch(() => undefined);
  if (holder?.token === held.token) held.own = mark;
  if (isSame || holder?.token === held.token) held.seen = now;
  else if (holder !== undefined || now.some((time, clock) => time - (held.seen[clock] ?? 0) >= SILENT_MS))
    held.lost = true;
  return held.lost;
}

function lost({ path }: Lock): BmadError {
  return new BmadError('conflict', t`The lock ${path} was taken over by another process.`, {
    reason: 'lost',
    hint: t`This process had stood still for some seconds. Look at the current state, then try again.`,
  });
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

/**
 * The word of one who waited for a lock, which is empty; or a lock that its holder never removed, which is taken away
 * here. Other programs have files of such names too: only what names a holder is a lock of ours.
 */
async function isLeftLock(name: string, path: string): Promise<boolean> {
  if (!/\.lock(?:\.wanted|(?:\.[0-9a-f]{16}\.takeover)*)$/.test(name)) return false;
  const bytes = await oldBytes(path);
  if (bytes === undefined || name.endsWith('.wanted')) return bytes === 0;
  const lock = { path, inside: undefined };
  const holder = await holderOf(lock).catch(() => undefined);
  if (holder !== undefined && isDead(holder)) await takeAway(lock, holder, new Watch());
  return false;
}

async function acquire(lock: Lock, token: string, { signal, waitMs, onWait }: LockOptions): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  const watch = new Watch();
  let waited = false;
  let tookOver = false;
  while (!(await create(lock, token))) {
    signal?.throwIfAborted();
    const holder = await holderOf(lock);
    if (holder !== undefined && watch.isGone(lock, holder) && (await takeAway(lock, holder, watch))) {
      tookOver = true;
      continue;
    }
    // Who gives no sign is not waited for in vain: its lock may soon be taken.
    if (performance.now() > deadline && !watch.isSilent(lock, holder)) throw locked(lock, holder);
    if (!waited) onWait?.();
    waited = true;
    await pause(POLL_MS, undefined, { signal });
  }
  return tookOver;
}

/** Whether it is certain that a holder has ended. Where the system does not tell when a process began, its beats decide. */
const isDead = (holder: Holder): boolean => holder.start !== undefined && hasEnded(holder);

/** For how long locks were seen without a beat. */
class Watch {
  readonly #seen = new Map<string, { mark: string; looked: number; silentMs: number; beats: boolean }>();

  /** Looks once more; answers whether the lock may be taken away. */
  isGone({ path }: Lock, holder: Holder): boolean {
    const looked = performance.now();
    const before = this.#seen.get(path);
    const isSame = before?.mark === holder.mark;
    // If this process itself, or the whole machine, has stood still in between, that was no silence of the holder's.
    const silentMs = isSame ? before.silentMs + Math.min(looked - before.looked, BEAT_MS / 2) : 0;
    const beats = before !== undefined && (before.beats || !isSame);
    this.#seen.set(path, { mark: holder.mark, looked, silentMs, beats });
    return silentMs >= SILENT_MS || isDead(holder);
  }

  /** Whether it soon may be, as far as one can tell: by its silence so far, or by the clock, if no beat was seen. */
  isSilent({ path }: Lock, holder: Holder | undefined): boolean {
    const seen = this.#seen.get(path);
    if (holder === undefined || seen === undefined) return false;
    return (
      seen.silentMs >= SILENT_MS - BEAT_MS || (!seen.beats && Math.abs(Date.now() - holder.at) > SILENT_MS)
    );
  }
}

/** Anyone who may write there can have written the file, so it is only quoted. */
function locked({ path }: Lock, holder: Holder | undefined): BmadError {
  const { pid = 0, space } = holder ?? {};
  const isHere = space === processSpace();
  const who =
    pid === 0 ? t`no process` : isHere ? t`process ${pid}` : t`a process of another machine or container`;
  return new BmadError('unavailable', t`${path} is a lock, which names ${who}.`, {
    reason: 'locked',
    hint: t`Wait until that process has finished, then try again. If there is none, the lock is taken over after a while.`,
  });
}

async function create(lock: Lock, token: string): Promise<boolean> {
  const { path, inside } = lock;
  try {
    // Other processes have to read who holds it.
    await whileMaking(path, await fileMode(path), { inside }, async (handle) => {
      await handle.writeFile(JSON.stringify({ ...thisProcess(), token })).catch(async (error: unknown) => {
        // On a full disk the file would remain empty, and the next process would wait for a holder that does not exist.
        await removed(lock);
        throw error;
      });
    });
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
  const read = async ({ handle }: OpenedFile): Promise<Holder> => {
    const { ino, mtimeNs, mtimeMs } = infoOf(handle);
    // A file that was created but not written yet says nothing; its creator may also have died in between.
    const { buffer, bytesRead } = await handle
      .read(Buffer.alloc(LOCK_BYTES), 0, LOCK_BYTES, 0)
      .catch((error: unknown) => {
        throw stateReadFailure(path, error);
      });
    const said = jsonObject(buffer.toString('utf8', 0, bytesRead)) ?? {};
    const token = typeof said['token'] === 'string' ? said['token'] : '';
    return { ...processIn(said), token, mark: `${token} ${ino} ${mtimeNs}`, at: Number(mtimeMs) };
  };
  return whileReading(path, { inside, maxBytes: LOCK_BYTES }, read).catch((error: unknown) => {
    if (error instanceof BmadError) throw error;
    // It may be someone else's, or about to be removed.
    return undefined;
  });
}

/**
 * Removes the lock of a dead holder. Only one process at a time may, and only that very lock: between seeing it and
 * removing it, another may have taken it over. Who may is the one who made a file with the name of the lock and its token;
 * if that process dies in between, its file is taken away in the same manner.
 */
async function takeAway(lock: Lock, dead: Holder, watch: Watch): Promise<boolean> {
  const guard = { ...lock, path: `${lock.path}.${shortDigest(dead.token)}.takeover` };
  if (!(await create(guard, randomBytes(8).toString('hex')))) {
    const other = await holderOf(guard);
    if (other !== undefined && watch.isGone(guard, other)) await takeAway(guard, other, watch);
    return false;
  }
  try {
    // Two files that nobody has signed yet look the same but for their time, and a holder may have woken up.
    if ((await holderOf(lock))?.mark !== dead.mark) return false;
    const refused = await removed(lock);
    if (refused !== undefined) throw refused;
    return true;
  } finally {
    await removed(guard);
  }
}
