import { join } from 'node:path';
import { BmadError } from '../base/errors.ts';
import { ensureFolder, writeNew } from '../base/files/file-state.ts';
import { strayPart, type Kit } from './kit.ts';

/** Our own files beside the project's memory files, in a folder that git leaves out. */
export const OWN_FOLDER = '.bmad-memory';

/** Who has it, is the only one to write the kit's files. */
export const kitLock = (folder: string): string => join(folder, 'kit-files.lock');

/** Runs `work` while no other code of ours, in this process or another, changes the files in the memory folder. */
export async function inTurn<T>(locks: string, work: () => Promise<T>): Promise<T> {
  const { takeTurn } = await import('./kit-turns.ts');
  return takeTurn(kitLock(locks), work);
}

/** The same lock as the memory's own, for writers that know the project only. */
export async function whileLocked<T>(kit: Kit & { memory: string }, work: () => Promise<T>): Promise<T> {
  const folder = join(kit.memory, OWN_FOLDER);
  if ((await strayPart(kit.memory, OWN_FOLDER)) !== undefined)
    throw new BmadError('forbidden', `${folder} points outside the memory folder; nothing was written.`, {
      subject: folder,
      hint: 'Remove the link; files are only written inside the project.',
    });
  await ensureFolder(folder);
  await writeNew(join(folder, '.gitignore'), Buffer.from('*\n'));
  return inTurn(folder, work);
}
