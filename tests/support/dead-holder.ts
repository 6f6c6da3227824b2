import { mkdir, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { startOf, thisProcess } from '../../src/base/files/leftovers.ts';

/** What a lock says of the process that holds it, in the space of this one unless another is named. */
export const holderText = (pid: number, space = thisProcess().space, token = 'x'): string =>
  JSON.stringify({ pid, space, start: startOf(pid) ?? thisProcess().start, token });

/** No process has this number. */
export const NOBODY = 2 ** 30;

/** What the lock of a process says that is no more, for the next one to find. */
export const DEAD_HOLDER = holderText(NOBODY, undefined, 'gone');

/** Leaves a lock whose last sign of life was some time ago: longer than anybody waits for one that has ended. */
export async function leaveLock(path: string, text = DEAD_HOLDER, silentMs = 10_000): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  const then = new Date(Date.now() - silentMs);
  await utimes(path, then, then);
}
