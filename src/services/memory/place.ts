import { createHash } from 'node:crypto';
import { basename, join } from 'node:path';
import { ensureFolder, stateNames, writeNew } from '../../base/file-state.ts';
import type { Kit } from './kit-files/kit.ts';

/** Beside the project's own memory files, in a folder that git leaves out. */
const FOLDER = '.bmad-memory';

export interface Place {
  folder: string;
  /** Whose it is: the project's own, or the user's for a project that has no memory folder. */
  owner: 'project' | 'user';
}

export function placeOf(kit: Kit, state: string): Place {
  return kit.memory === undefined
    ? { folder: userPlace(kit.root, state), owner: 'user' }
    : { folder: join(kit.memory, FOLDER), owner: 'project' };
}

/** The folder of a project among those of the user; the path decides, the name is for people. */
export function userPlace(root: string, state: string): string {
  const key = createHash('sha256').update(root).digest('hex').slice(0, 12);
  const name = basename(root)
    .replace(/[^\w.-]+/g, '-')
    .slice(0, 40);
  return join(state, 'memory', `${name}-${key}`);
}

/** Makes the folder; in a project, with a note to git that nothing in it is for others. */
export async function preparePlace({ folder, owner }: Place): Promise<void> {
  await ensureFolder(folder);
  if (owner === 'project') await writeNew(join(folder, '.gitignore'), Buffer.from('*\n'));
}

/** Whether there is something in a place: a file that an engine has made. */
export async function isUsed(folder: string): Promise<boolean> {
  return (await stateNames(folder)).some((name) => name.startsWith('.bmad-memory.'));
}
