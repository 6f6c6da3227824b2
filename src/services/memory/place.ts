import { basename, dirname, join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { folderAt } from '../../kit/home.ts';
import { jailOf, OWN_FOLDER as FOLDER } from '../../kit/kit-lock.ts';
import { strayRefusal, type Kit } from '../../kit/kit.ts';
import { isLineDay } from '../../lines/files.ts';

export interface MemoryPlace {
  folder: string;
  /** Whose it is. */
  owner: 'project' | 'user';
  /** The other folder that may have memories of the project. */
  also?: string | undefined;
}

export function placeOf(kit: Kit): MemoryPlace {
  const { project, user } = kit.places.memories;
  if (kit.memory !== undefined)
    return { folder: join(kit.memory, FOLDER), owner: 'project', also: folderAt(user) };
  return {
    folder: folderAt(user),
    owner: 'user',
    also: kit.astray.has('memories') ? undefined : folderAt(project),
  };
}

/** Whether a project has memories of its own. By itself, because what opens them is large and most projects have none. */
export async function hasStore(kit: Kit): Promise<boolean> {
  const { folder, also } = placeOf(kit);
  return (await isUsed(folder)) || (also !== undefined && (await isUsed(also).catch(ours(() => false))));
}

/** Whether there is something in a place: lines, or the store of a version before them. */
export async function isUsed(folder: string): Promise<boolean> {
  await refuseLinks(folder);
  return (await stateNames(folder, jailOf(folder))).some((name) => isLineDay(name) || OLD.test(name));
}

const OLD = /^\.bmad-memory\.(?:db|jsonl)$/;

/** The author of the project may have put a link there: memories would be read from and written to any place of the user. */
export async function refuseLinks(folder: string): Promise<void> {
  if (basename(folder) !== FOLDER) return;
  const stray = await strayRefusal(dirname(folder), FOLDER, 'memories are kept only inside the project');
  if (stray !== undefined) throw stray;
}

/** A memory that can be recalled but not changed, because of its location. */
export function readOnlyFolder(folder: string, cause?: unknown): BmadError {
  return new BmadError('unavailable', `${folder} is read-only: this user cannot write to the folder.`, {
    subject: folder,
    hint: `Give the user that runs this server write access to ${folder}, then try again. Its memories can still be recalled.`,
    cause,
  });
}
