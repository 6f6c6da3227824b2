import { setTimeout as pause } from 'node:timers/promises';
import { withLock } from '../base/files/file-lock.ts';
import { modifiedAt, touch } from '../base/files/file-state.ts';

/** Far longer than all other writers together take, also on a busy machine. */
const LOCK_WAIT_MS = 30_000;

/** A process that writes one entry after another would otherwise hardly let anyone else in. */
const JUST_NOW_MS = 200;
const WANTED_MS = 10_000;
const GIVE_WAY_MS = 60;

/**
 * Calls of this process run one after another; the lock is for other processes, and checked only now and then. All
 * writers must share the same turns, so this file is a separate bundle, loaded by name.
 */
const turns = new Map<string, Promise<void>>();
const released = new Map<string, number>();

/** Runs `work` while no other code of ours, in this process or another, holds the lock at this path. */
export async function takeTurn<T>(path: string, work: () => Promise<T>, inside?: string): Promise<T> {
  const turn = (turns.get(path) ?? Promise.resolve()).then(async () => {
    await giveWay(path);
    try {
      const onWait = (): void => void touch(wantedFile(path));
      return await withLock(path, { waitMs: LOCK_WAIT_MS, onWait, tidy: true, inside }, work);
    } finally {
      released.delete(path);
      released.set(path, performance.now());
      forgetOld();
    }
  });
  const settled = turn.then(
    () => undefined,
    () => undefined,
  );
  turns.set(path, settled);
  try {
    return await turn;
  } finally {
    if (turns.get(path) === settled) turns.delete(path);
  }
}

/** In the order of time; what is older than a moment counts for nothing. */
function forgetOld(): void {
  const since = performance.now() - JUST_NOW_MS;
  for (const [path, at] of released) {
    if (at >= since) return;
    released.delete(path);
  }
}

const wantedFile = (path: string): string => `${path}.wanted`;

/** Who has just had the lock waits a moment when others have asked for it, so that they come in between. */
async function giveWay(path: string): Promise<void> {
  const last = released.get(path);
  if (last === undefined || performance.now() - last > JUST_NOW_MS) return;
  const wanted = await modifiedAt(wantedFile(path));
  if (wanted === undefined || Date.now() - wanted > WANTED_MS) return;
  await pause(GIVE_WAY_MS * (1 + Math.random()));
}
