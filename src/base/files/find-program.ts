import { access, constants, realpath, stat } from 'node:fs/promises';
import { delimiter, dirname, isAbsolute, join, resolve, sep } from 'node:path';
import { isThereNow } from './file-stamps.ts';
import { isBelow, upwards } from './open-file.ts';
import { cannotStart, type FoundProgram, type ProgramEnvironment } from '../process/start-program.ts';

export type { FoundProgram } from '../process/start-program.ts';

/** Where programs are looked for, and where not. */
export interface Lookout {
  env: ProgramEnvironment;
  /** The projects that a program works for: they never provide it. Nor does the one that this process works in. */
  besides: readonly string[];
  /** Folders to look in before those on the PATH, and after them. */
  before?: readonly string[];
  after?: readonly string[];
}

/** The programs on a PATH that no project provides. */
export interface Programs {
  /** The first executable of this name; undefined if there is none. */
  find(name: string): Promise<FoundProgram | undefined>;
  /** The same; one that is not there cannot be started. */
  required(name: string): Promise<FoundProgram>;
  /** The environment without the folders of projects on its PATH, for programs that start others by their names. */
  env: Record<string, string | undefined>;
}

export async function programsBesides({ env, besides, before, after }: Lookout): Promise<Programs> {
  const projects = await wholeProjects([...(await workingFolder(env)), ...besides], env);
  const all = [...(before ?? []), ...foldersOn(env), ...(after ?? [])];
  const own = await Promise.all(all.map((folder) => belongsTo(projects, folder)));
  const folders = all.filter((_, at) => own[at] === false);
  const others = Object.entries(env).filter(([name]) => !isPath(name));
  const find: Programs['find'] = async (name) => {
    for (const place of await executables(name, folders, env))
      // A link in a folder of the user's may lead into a project all the same.
      if (!(await belongsTo(projects, place))) return place as FoundProgram;
    return undefined;
  };
  return {
    find,
    async required(name) {
      const found = await find(name);
      if (found === undefined) throw cannotStart(name, Object.assign(new Error(), { code: 'ENOENT' }));
      return found;
    },
    env: { ...Object.fromEntries(others), PATH: folders.join(delimiter) },
  };
}

export async function findProgram(name: string, lookout: Lookout): Promise<FoundProgram | undefined> {
  return (await programsBesides(lookout)).find(name);
}

/** What a person has named, in the settings of a host for example: by its path, or else found as all others are. */
export async function findNamed(command: string, lookout: Lookout): Promise<FoundProgram> {
  return isAbsolute(command) ? (command as FoundProgram) : (await programsBesides(lookout)).required(command);
}

/** This Node, or a program of our own packages. */
export const ownProgram = (place: string): FoundProgram => place as FoundProgram;

/** A program for the checks of a project, which may be its own: it is started by `allowedByPerson` alone. */
export async function findForProject(name: string, env: ProgramEnvironment): Promise<string | undefined> {
  return (await executables(name, foldersOn(env), env))[0];
}

/** For the checks of a project, after a person has allowed its programs to run. */
export const allowedByPerson = (place: string): FoundProgram => place as FoundProgram;

async function executables(
  name: string,
  folders: readonly string[],
  env: ProgramEnvironment,
): Promise<string[]> {
  const places = folders.flatMap((folder) => fileNames(name, env).map((file) => join(folder, file)));
  const may = await Promise.all(places.map(mayRun));
  return places.filter((_, at) => may[at] === true);
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
 * The real folders of some projects, each with the repository around it: a clone brings all of that along. The home folder and
 * those above it are the user's, even if there is a repository in them.
 */
async function wholeProjects(projects: readonly string[], env: ProgramEnvironment): Promise<string[]> {
  const home = await real(env['HOME'] || env['USERPROFILE'] || sep);
  const found = await Promise.all(
    projects.map(async (project) => {
      const places = upwards(await real(project)).filter((at) => !isBelow(at, home) && dirname(at) !== at);
      return places.findLast((at) => isThereNow(join(at, '.git'))) ?? places[0];
    }),
  );
  return found.filter((whole) => whole !== undefined);
}

/** Where this process works, unless that is a folder of programs itself, such as the one in which Windows starts services. */
async function workingFolder(env: ProgramEnvironment): Promise<string[]> {
  const here = await real('.');
  const named = await Promise.all(foldersOn(env).map(real));
  return named.includes(here) &&
    (await wholeProjects(['.'], env))[0] === here &&
    !isThereNow(join(here, '.git'))
    ? []
    : [here];
}

/** Package managers put their folders first on the PATH, also those of folders above the project. */
async function belongsTo(projects: readonly string[], place: string): Promise<boolean> {
  const places = [place, await real(place)];
  return (
    place.split(sep).includes('node_modules') ||
    places.some((one) => projects.some((root) => isBelow(root, one)))
  );
}

const real = (place: string): Promise<string> => realpath(place).catch(() => resolve(place));

async function mayRun(place: string): Promise<boolean> {
  try {
    if (!(await stat(place)).isFile()) return false;
    await access(place, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
