import { t } from '../base/text/message.ts';
import { basename, dirname, join } from 'node:path';
import { writeOnce } from '../base/files/file-state.ts';
import { strayRefusal, type Kit } from './kit.ts';

/** Our own files beside the project's memory files, in a folder that git leaves out. */
export const OWN_FOLDER = '.bmad-memory';

/** Who has it, is the only one to write the kit's files. */
export const kitLock = (folder: string): string => join(folder, 'kit-files.lock');

/** Runs `work` while no other code of ours, in this process or another, changes the files in the memory folder. */
export async function inTurn<T>(locks: string, work: () => Promise<T>): Promise<T> {
  const { takeTurn } = await import('./kit-turns.ts');
  return takeTurn(kitLock(locks), work, jailOf(locks));
}

/** What the folder of our own files may not lead out of; where folders of the user lead is the user's business. */
export function jailOf(folder: string): string | undefined {
  return basename(folder) === OWN_FOLDER ? dirname(folder) : undefined;
}

/** The same lock as the memory's own, for writers that know the project only. */
export async function whileLocked<T>(kit: Kit & { memory: string }, work: () => Promise<T>): Promise<T> {
  const folder = join(kit.memory, OWN_FOLDER);
  const stray = await strayRefusal(kit.memory, OWN_FOLDER, t`nothing was written`);
  if (stray !== undefined) throw stray;
  await writeOnce(join(folder, '.gitignore'), '*\n', kit.memory);
  return inTurn(folder, work);
}
