import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { refuseTwice } from '../../base/files/file-identity.ts';
import { ensureFolder, readState, stateNames, writeAtomic, writeOnce } from '../../base/files/file-state.ts';
import { modifiedInside } from '../../base/files/files.ts';
import { ours } from '../../base/expected.ts';
import { projectKey } from '../../base/files/project-key.ts';
import { gitOrigin, type GitQuestion } from '../../base/process/project-git.ts';
import { sha256 } from '../../base/sha256.ts';
import { folderAt } from '../../kit/home.ts';
import { strayRefusal, type Kit } from '../../kit/kit.ts';
import { OWN_FOLDER as FOLDER } from '../../kit/kit-lock.ts';

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

/** The other place, where it has a store; one that may not be opened is as good as none. */
export async function otherStore({ also }: MemoryPlace): Promise<string | undefined> {
  return also !== undefined && (await isUsed(also).catch(ours(() => false))) ? also : undefined;
}

/**
 * Creates the folder; in a project, with a note to git to ignore its content. If nothing may be written, existing
 * memories can still be read.
 */
export async function preparePlace({ folder, owner }: MemoryPlace): Promise<void> {
  await refuseLinks(folder);
  try {
    await ensureFolder(folder);
    if (owner === 'project') await writeOnce(join(folder, '.gitignore'), '*\n');
  } catch (error) {
    if (!(await isUsed(folder))) throw error;
  }
}

/** Whether there is something in a place: a file that an engine has made. */
export async function isUsed(folder: string): Promise<boolean> {
  await refuseLinks(folder);
  return (await storeFiles(folder)).length > 0;
}

async function storeFiles(folder: string): Promise<string[]> {
  return (await stateNames(folder)).filter((name) => name.startsWith('.bmad-memory.'));
}

/**
 * The author of the project may have put links there, and the engines follow them: memories would be read from and
 * written to any file of the user. Where the user's own folders point is the user's business.
 */
export async function refuseLinks(folder: string): Promise<void> {
  if (basename(folder) !== FOLDER) return;
  const stray = await strayRefusal(dirname(folder), FOLDER, 'memories are kept only inside the project');
  if (stray !== undefined) throw stray;
  for (const name of await storeFiles(folder)) await refuseTwice(join(folder, name));
  const first = await strayFiles(folder);
  if (first.length === 0) return;
  // A working engine removes its own files between two checks; a link stays.
  const file = (await strayFiles(folder)).find((name) => first.includes(name));
  if (file !== undefined) throw leadsAway(join(folder, file));
}

async function strayFiles(folder: string): Promise<string[]> {
  const names = await storeFiles(folder);
  const times = await Promise.all(names.map((name) => modifiedInside(folder, name)));
  return names.filter((_, index) => times[index] === undefined);
}

function leadsAway(path: string): BmadError {
  return new BmadError('forbidden', `${path} points outside the memory folder and is not used.`, {
    subject: path,
    hint: 'Remove the link, or replace it with its target; memories are kept only inside the project.',
  });
}

/** A memory that can be recalled but not changed, because of its location. */
export function readOnlyFolder(folder: string, cause?: unknown): BmadError {
  return new BmadError('unavailable', `${folder} is read-only: this user cannot write to the folder.`, {
    subject: folder,
    hint: `Give the user that runs this server write access to ${folder}, then try again. Its memories can still be recalled.`,
    cause,
  });
}

export function newerStore(path: string): BmadError {
  return new BmadError('unavailable', `${path} was written by a newer version of this server.`, {
    subject: path,
    hint: 'Update this server, or point it to another memory folder.',
  });
}

const DIGITS = 8;

interface Naming extends GitQuestion {
  /** The user's folder for what has no place in a project. */
  state: string;
  writes: boolean;
}

/**
 * The name of a project's memories on a server that other projects use too. The one that its page gives is what BMAD's own
 * tools call it. One of a folder or of an installer may be that of another project as well, so it goes with the first commit
 * of the repository, which clones and worktrees have in common, or with the place where there is none. Once used it stays,
 * though the project becomes a repository later.
 */
export async function serverName({ isNamed, app, root }: Kit, naming: Naming): Promise<string> {
  if (isNamed) return app;
  const file = join(naming.state, 'projects', projectKey(root), 'server-name');
  const used = (await readState(file).catch(() => undefined))?.trim();
  if (used?.startsWith(`${app}-`) === true) return used;
  const from = (await gitOrigin(root, naming)) ?? `${hostname()} ${root}`;
  const name = `${app}-${sha256(from).slice(0, DIGITS)}`;
  if (naming.writes) await writeAtomic(file, `${name}\n`);
  return name;
}
