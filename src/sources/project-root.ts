import { dirname, join, parse, resolve, sep } from 'node:path';
import { BmadError, quoted } from '../base/errors.ts';
import { PROJECT_CONFIG_FILE } from '../config/locations.ts';
import { DISK, type Disk } from './disk.ts';
import { MARKERS } from './project-marks.ts';

export interface ProjectHints {
  /** Asked for in this very call. */
  call?: string | undefined;
  /** From a flag, BMAD_PROJECT_ROOT or a configuration file; `configuredBy` says which. */
  configured?: string | undefined;
  configuredBy?: string | undefined;
  /** CLAUDE_PROJECT_DIR, which Claude Code sets for its servers. */
  host?: string | undefined;
  /** Folders the client says it works in. */
  roots?: readonly string[];
  cwd: string;
  home: string;
  /**
   * The folders that a call may name, each including its subfolders; without it, any. Callers learn neither the names
   * of these folders nor whether other folders exist.
   */
  allowed?: readonly string[];
  /** The disk as it is now, unless somebody wants to know later whether it still is. */
  disk?: Disk;
}

type Hints = ProjectHints & { disk: Disk };

export interface Project {
  /** Absolute real path; nothing when no folder can be taken for the project. */
  root: string | undefined;
  from: string;
}

/** The same for a folder that a caller names: files that say what a project is. */
const MARKING_FILES = ['project-context.yaml', PROJECT_CONFIG_FILE];

/** The project a call is about. The root of the disk and the home folder are never taken for one. */
export async function findProject(given: ProjectHints): Promise<Project> {
  // Looked up once: the way up from a deep folder asks about it at every step.
  const { disk = DISK } = given;
  const hints = { ...given, disk, home: (await disk.realFolder(given.home)) ?? given.home };
  const named: [string | undefined, string][] = [
    [hints.call, 'the call'],
    [hints.configured, hints.configuredBy ?? 'the configuration'],
  ];
  if (hints.call !== undefined && hints.allowed !== undefined) await checkAllowed(hints.call, hints);
  for (const [folder, from] of named) {
    if (folder === undefined) continue;
    const root = await requiredFolder(folder, hints, from);
    if (folder === hints.call && hints.allowed !== undefined) await checkProject(folder, root, hints);
    return { root, from };
  }
  if (hints.host !== undefined && hints.host !== '') {
    const root = await disk.realFolder(resolve(hints.cwd, hints.host));
    if (root !== undefined && !isOffLimits(root, hints.home)) return { root, from: 'CLAUDE_PROJECT_DIR' };
  }
  const offered = await clientRoot(hints);
  if (offered !== undefined) return { root: offered, from: 'the client’s roots' };
  const cwd = await disk.realFolder(hints.cwd);
  if (cwd === undefined) return { root: undefined, from: 'nowhere: the working directory no longer exists' };
  return (await walkUp(cwd, hints)) ?? ownFolder(cwd, hints.home);
}

/** The first folder of the client that has BMAD in it, else the first that can be used at all. */
async function clientRoot({ roots = [], home, disk }: Hints): Promise<string | undefined> {
  const usable: string[] = [];
  for (const folder of roots) {
    const root = await disk.realFolder(folder);
    if (root !== undefined && !isOffLimits(root, home)) usable.push(root);
  }
  for (const root of usable) {
    for (const marker of MARKERS)
      if (marker !== '.git' && (await disk.exists(join(root, marker)))) return root;
  }
  return usable[0];
}

async function requiredFolder(folder: string, hints: Hints, from: string): Promise<string> {
  const root = await hints.disk.realFolder(resolve(hints.cwd, folder));
  const reason =
    root === undefined
      ? 'there is no such folder'
      : isOffLimits(root, hints.home)
        ? 'it is the home folder or the file system root'
        : undefined;
  if (root !== undefined && reason === undefined) return root;
  throw new BmadError(
    'invalid_input',
    `The project folder ${quoted(folder)} (from ${from}) cannot be used: ${reason ?? ''}.`,
    {
      subject: folder.slice(0, 200),
      hint: 'Name an existing folder other than the home folder or the file system root.',
    },
  );
}

/** Both as it is written and where it really leads: a link inside must not lead out, and one outside tells nothing. */
async function checkAllowed(folder: string, { cwd, allowed = [], disk }: Hints): Promise<void> {
  const written = resolve(cwd, folder);
  // For a missing path, its nearest existing parent: a link in between reveals nothing about its target either.
  const real = (await disk.realFolder(written)) ?? (await realAbove(written, disk));
  for (const root of allowed) {
    const realRoot = await disk.realFolder(resolve(cwd, root));
    if (realRoot !== undefined && real !== undefined && isInside(realRoot, real)) return;
  }
  throw new BmadError('forbidden', `This server does not serve the project folder ${quoted(folder)}.`, {
    subject: folder.slice(0, 200),
    hint: 'Omit the project to use the one the server was started for. The server’s operator can allow others with allow_projects, or --allow-project.',
  });
}

/** Any folder below one that is allowed would be one more world to read and keep; the allowed ones themselves may be any. */
async function checkProject(folder: string, root: string, { cwd, allowed = [], disk }: Hints): Promise<void> {
  for (const each of allowed) if ((await disk.realFolder(resolve(cwd, each))) === root) return;
  if (await isProject(root, disk)) return;
  throw new BmadError('forbidden', `The folder ${quoted(folder)} is not a project.`, {
    subject: folder.slice(0, 200),
    hint: 'Name the top folder of a project: one with a BMAD folder, a project-context.yaml or a git repository. The server’s operator can allow any folder with allow_projects, or --allow-project.',
  });
}

/** Whether something at the top of a folder says that it is one: each opens content, a memory and more for itself. */
async function isProject(root: string, disk: Disk): Promise<boolean> {
  for (const marker of MARKERS) if (await marks(join(root, marker), marker, disk)) return true;
  for (const file of MARKING_FILES) if (await disk.exists(join(root, file))) return true;
  return false;
}

async function realAbove(path: string, disk: Disk): Promise<string | undefined> {
  // A link that leads to no folder, or nowhere, is not told from one that leads out.
  if (await disk.isLink(path)) return undefined;
  const above = dirname(path);
  return (await disk.realFolder(above)) ?? (above === path ? undefined : realAbove(above, disk));
}

function isInside(root: string, folder: string): boolean {
  return folder === root || folder.startsWith(root.endsWith(sep) ? root : root + sep);
}

async function walkUp(cwd: string, { home, disk }: Hints): Promise<Project | undefined> {
  for (const marker of MARKERS) {
    for (let folder = cwd; !isOffLimits(folder, home); folder = dirname(folder)) {
      if (await marks(join(folder, marker), marker, disk))
        return { root: folder, from: `the nearest folder with ${marker}` };
    }
  }
  return undefined;
}

/** A worktree has a file `.git`; a file with the name of a BMAD folder says nothing. */
async function marks(place: string, marker: string, disk: Disk): Promise<boolean> {
  return marker === '.git' ? disk.exists(place) : (await disk.realFolder(place)) !== undefined;
}

function ownFolder(cwd: string, home: string): Project {
  if (isOffLimits(cwd, home))
    return { root: undefined, from: 'nowhere: started in the home folder or the file system root' };
  return { root: cwd, from: 'the working directory' };
}

/** `home` is its real path. */
function isOffLimits(folder: string, home: string): boolean {
  return folder === parse(folder).root || folder === home;
}
