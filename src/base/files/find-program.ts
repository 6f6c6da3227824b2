import { access, constants, lstat, realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, sep } from 'node:path';
import { isBelow } from './open-file.ts';
import type { ProgramEnvironment } from '../process/process.ts';

/** Where programs are looked for, and where not. */
export interface Lookout {
  env: ProgramEnvironment;
  /** The projects that a program works for or is started in: they never provide it. */
  besides: readonly string[];
}

/** The programs on a PATH that no project provides. */
export interface Programs {
  /** The first executable of this name; undefined if there is none. */
  find(name: string): Promise<string | undefined>;
  /** The environment without the folders of projects on its PATH, for programs that start others by their names. */
  env: Record<string, string | undefined>;
}

export async function programsBesides({ env, besides }: Lookout): Promise<Programs> {
  const projects = await Promise.all(besides.map((project) => wholeProject(project, env)));
  const all = foldersOn(env);
  const own = await Promise.all(all.map((folder) => belongsTo(projects, folder)));
  const folders = all.filter((_, at) => own[at] === false);
  const others = Object.entries(env).filter(([name]) => !isPath(name));
  return {
    // A link in a folder of the user's may lead into a project all the same.
    find: (name) =>
      firstIn(folders, fileNames(name, env), async (place) => !(await belongsTo(projects, place))),
    env: { ...Object.fromEntries(others), PATH: folders.join(delimiter) },
  };
}

export async function findProgram(name: string, lookout: Lookout): Promise<string | undefined> {
  return (await programsBesides(lookout)).find(name);
}

/** For the checks of a project whose programs a person has allowed to run: here its own count too. */
export function findAllowedProgram(name: string, env: ProgramEnvironment): Promise<string | undefined> {
  return firstIn(foldersOn(env), fileNames(name, env), async () => true);
}

async function firstIn(
  folders: readonly string[],
  names: readonly string[],
  counts: (place: string) => Promise<boolean>,
): Promise<string | undefined> {
  for (const folder of folders)
    for (const name of names) {
      const place = join(folder, name);
      if ((await mayRun(place)) && (await counts(place))) return place;
    }
  return undefined;
}

/** Windows has one PATH, however its name is written. */
const isPath = (name: string): boolean =>
  process.platform === 'win32' ? name.toUpperCase() === 'PATH' : name === 'PATH';

/** A relative folder, and an empty one, is a place in whatever project the server runs in. */
function foldersOn(env: ProgramEnvironment): string[] {
  const path = Object.entries(env).find(([name]) => isPath(name))?.[1] ?? '';
  return path.split(delimiter).filter((folder) => isAbsolute(folder));
}

/** Windows scripts (.cmd) need a shell, and no shell may see arguments. */
function fileNames(name: string, env: ProgramEnvironment): string[] {
  if (process.platform !== 'win32' || /\.(?:exe|com)$/i.test(name)) return [name];
  const ends = (env['PATHEXT'] ?? '.COM;.EXE').split(';');
  return ends.filter((end) => /^\.(?:exe|com)$/i.test(end)).map((end) => name + end.toLowerCase());
}

/**
 * The real folder of a project, with the repository around it: a clone brings all of that along. The home folder and those
 * above it are the user's, even if there is a repository in them.
 */
async function wholeProject(project: string, env: ProgramEnvironment): Promise<string> {
  const [root, home] = await Promise.all([project, env['HOME'] ?? env['USERPROFILE'] ?? sep].map(real));
  let whole = root ?? project;
  for (let at = whole; !isBelow(at, home ?? sep) && dirname(at) !== at; at = dirname(at))
    if ((await lstat(join(at, '.git')).catch(() => undefined)) !== undefined) whole = at;
  return whole;
}

/** Package managers put their folders first on the PATH, also those of folders above the project. */
async function belongsTo(projects: readonly string[], place: string): Promise<boolean> {
  return [place, await real(place)].some(
    (one) => projects.some((root) => isBelow(root, one)) || one.split(sep).includes('node_modules'),
  );
}

const real = (place: string): Promise<string> => realpath(place).catch(() => place);

export async function mayRun(place: string): Promise<boolean> {
  try {
    if (!(await stat(place)).isFile()) return false;
    await access(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
