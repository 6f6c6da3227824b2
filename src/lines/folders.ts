import { join } from 'node:path';
import { those } from '../base/values.ts';
import { isThereNow } from '../base/files/file-stamps.ts';
import { readState, readStateBytes, stateNames, writeAtomic, writeOnce } from '../base/files/file-state.ts';

/** A folder that has lines, and the one that nothing in it may lead out of. */
export interface Folder {
  at: string;
  inside?: string | undefined;
}

export interface LinePlace {
  /** The state of the project, which may be in git. */
  folder: string;
  inside?: string | undefined;
  /** This user's own lines once more, out of the reach of git; none where there is no home folder. */
  mirror?: string | undefined;
  /** Other folders that have lines of the project, to which none is added. */
  also?: readonly Folder[] | undefined;
  /** The project itself, whose commit decides when a new file is begun. */
  project?: string | undefined;
  /** Git ignores what is new, until a person shares it. */
  isPrivate: boolean;
  /** The one noun that is asked for here: a database leaves out the others. */
  only?: string | undefined;
  /** Stays on this machine, wherever the lines of the project are. */
  stays?: true | undefined;
}

export const DAY = /^\d{4}-\d\d-\d\d$/;
export const FILE = /^[\w-]{1,40}\.jsonl$/;
/** In a mirror: where the project was that it belongs to. */
export const OF_PROJECT = 'project';

export const isLineDay = (name: string): boolean => DAY.test(name);

export async function lineFiles(folder: string, inside?: string): Promise<string[]> {
  const found: string[] = [];
  for (const day of (await stateNames(folder, inside)).filter((name) => DAY.test(name)))
    for (const name of await stateNames(join(folder, day), inside))
      if (FILE.test(name)) found.push(`${day}/${name}`);
  return found;
}

/** Mirrors of projects that are no longer where they were: what is in them is in no other place, as far as this machine knows. */
export async function leftMirrors(mirrors: string): Promise<{ at: string; project: string }[]> {
  const left: { at: string; project: string }[] = [];
  for (const name of await stateNames(mirrors))
    for (const each of await stateNames(join(mirrors, name))) {
      const at = join(mirrors, name, each);
      const project = (await readState(join(at, OF_PROJECT)).catch(() => undefined))?.trim();
      if (project !== undefined && !isThereNow(project)) left.push({ at, project });
    }
  return left;
}

/** Before the first lines come; a person who shares them takes it away. */
export async function keepFromGit(folder: string, inside: string | undefined): Promise<void> {
  if (!(await stateNames(folder, inside)).some(isLineDay))
    await writeOnce(join(folder, '.gitignore'), '*\n', inside);
}

/** Takes the files of one folder into another place, and into its mirror, that are not there yet. */
export async function copyLines(
  from: string,
  { folder, inside, mirror, isPrivate }: LinePlace,
): Promise<void> {
  if (isPrivate) await keepFromGit(folder, inside);
  const targets = those<Folder>({ at: folder, inside }, mirror !== undefined && { at: mirror });
  for (const { at, inside: jail } of targets)
    for (const name of await onlyThere(from, at, jail)) {
      const bytes = await readStateBytes(join(from, name));
      if (bytes !== undefined) await writeAtomic(join(at, name), bytes.toString('utf8'), { inside: jail });
    }
}

export async function onlyThere(there: string, here: string, inside: string | undefined): Promise<string[]> {
  const files = await lineFiles(there);
  const known = new Set(files.length === 0 ? [] : await lineFiles(here, inside));
  return files.filter((name) => !known.has(name));
}
