import { join } from 'node:path';
import { BmadError } from '../base/errors.ts';
import { withLock } from '../base/file-lock.ts';
import { ensureFolder, writeNew } from '../base/file-state.ts';
import { strayPart, type Kit } from './kit.ts';

/** Our own files beside the project's memory files, in a folder that git leaves out. */
export const OWN_FOLDER = '.bmad-memory';

const LOCK_FILE = 'kit-files.lock';
const LOCK_WAIT_MS = 30_000;

/** The calls of this process come one after the other; the lock is for other processes, and asked only now and then. */
const turns = new Map<string, Promise<void>>();

/** Runs `work` while nobody else of ours, in this process or another, changes the files in the memory folder. */
export async function inTurn<T>(locks: string, waitMs: number, work: () => Promise<T>): Promise<T> {
  const path = join(locks, LOCK_FILE);
  const turn = (turns.get(path) ?? Promise.resolve()).then(() => withLock(path, { waitMs }, work));
  const settled = turn.then(
    () => undefined,
    () => undefined,
  );
  turns.set(path, settled);
  void settled.then(() => {
    if (turns.get(path) === settled) turns.delete(path);
  });
  return turn;
}

/** The same lock as the memory's own, for writers that know the project only. */
export async function whileLocked<T>(kit: Kit & { memory: string }, work: () => Promise<T>): Promise<T> {
  const folder = join(kit.memory, OWN_FOLDER);
  if ((await strayPart(kit.memory, OWN_FOLDER)) !== undefined)
    throw new BmadError('forbidden', `${folder} leads outside the memory folder; nothing was written.`, {
      subject: folder,
      hint: 'Remove the link; what is written stays inside the project.',
    });
  await ensureFolder(folder);
  await writeNew(join(folder, '.gitignore'), Buffer.from('*\n'));
  return inTurn(folder, LOCK_WAIT_MS, work);
}
