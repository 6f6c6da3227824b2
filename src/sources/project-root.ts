import { dirname, join, parse, relative, resolve, sep } from 'node:path';
import { BmadError, quoted } from '../base/errors.ts';
import { fileIdentity } from '../base/files/file-tree.ts';
import { listInside, readInside, realFolder } from '../base/files/files.ts';
import { isBelow, upwards } from '../base/files/open-file.ts';
import { repositoryAt } from '../base/files/repository.ts';
import { isSecretFile } from '../base/secrets/names.ts';
import { Kept, type Said, say, t } from '../base/text/message.ts';
import { DISK, type Disk } from './tree.ts';
import {
  BMAD_MARKERS,
  CUSTOM_AGENTS,
  isProjectFile,
  MANIFESTS,
  MARKERS,
  NAMED_MARKERS,
} from './project-marks.ts';

export interface ProjectHints {
  /** Asked for in this very call. */
  call?: string | undefined;
  /** From a flag, BMAD_PROJECT_ROOT or a configuration file; `configuredBy` says which. */
  configured?: string | undefined;
  configuredBy?: Said | undefined;
  /** CLAUDE_PROJECT_DIR, which Claude Code sets for its servers. */
  host?: string | undefined;
  /** Folders the client says it works in. */
  roots?: readonly string[];
  cwd: string;
  home: string;
  /** Folders in which the server keeps its own state, copies and settings. */
  own?: readonly string[];
  platform?: NodeJS.Platform;
  /** What the user has allowed calls to name beside the server's own project, each folder including those in it. */
  allowed?: readonly string[];
  /**
   * Whether calls may name nothing else. They do not where the user has configured a project, or are others than the user:
   * callers learn neither the names of these folders nor whether other folders exist.
   */
  fixed?: boolean;
  /** The disk as it is now, unless somebody wants to know later whether it still is. */
  disk?: Disk;
}

type Hints = ProjectHints & Surroundings;

export interface Project {
  /** Absolute real path; nothing when no folder can be taken for the project. */
  root: string | undefined;
  from: Said;
}

/**
 * The project a call is about. It is the one place that decides what may be a project, for every surface and operation: what
 * the user, the host or the client has chosen, or a folder named in a call that something marks as a project; never a folder
 * that `unfitness` tells of.
 */
export async function findProject(given: ProjectHints): Promise<Project> {
  // Looked up once: the way up from a deep folder asks about it at every step.
  const { disk = DISK } = given;
  const real = async (folder: string): Promise<string> => (await realFolder(folder)) ?? folder;
  const own = await Promise.all((given.own ?? []).map(real));
  const hints = { ...given, disk, own, home: await real(given.home) };
  return hints.call === undefined ? ownProject(hints) : namedProject(hints.call, hints);
}

/** The project of calls that name none. */
async function ownProject(hints: Hints): Promise<Project> {
  const { disk, configured, configuredBy = new Kept(() => t`the configuration`) } = hints;
  if (configured !== undefined) {
    const { root, unfit } = await requiredFolder(configured, hints, configuredBy);
    // The user has named it on purpose, so only the reason against it is said.
    return {
      root,
      from:
        unfit === undefined ? configuredBy : new Kept(() => t`${configuredBy}, although ${say(unfit.why)}`),
    };
  }
  const [offered] = await hostFolders(hints);
  if (offered !== undefined) return offered;
  const cwd = await disk.realFolder(hints.cwd);
  if (cwd === undefined)
    return { root: undefined, from: new Kept(() => t`nowhere: the working directory no longer exists`) };
  return (await walkUp(cwd, hints)) ?? ownFolder(cwd, hints);
}

/** What the host says, then what the client says: first its folders that have BMAD in them. */
async function hostFolders(hints: Hints): Promise<{ root: string; from: Said }[]> {
  const { host, roots = [], cwd, disk } = hints;
  const found: { root: string; from: Said }[] = [];
  const hosts = host === undefined || host === '' ? [] : [resolve(cwd, host)];
  const clients: typeof found = [];
  for (const folder of [...hosts, ...roots]) {
    const root = await disk.realFolder(folder);
    if (root === undefined || (await unfitness(root, hints)) !== undefined) continue;
    if (folder === hosts[0]) found.push({ root, from: 'CLAUDE_PROJECT_DIR' });
    else clients.push({ root, from: new Kept(() => t`the client’s roots`) });
  }
  for (const client of clients)
    if (await isMarked(client.root, BMAD_MARKERS, disk)) return [...found, client, ...clients];
  return [...found, ...clients];
}

async function namedProject(call: string, hints: Hints): Promise<Project> {
  const { cwd, disk, configured, allowed = [], fixed = configured !== undefined } = hints;
  const own = await ownProject(hints);
  const realOnes = async (folders: readonly string[]): Promise<string[]> =>
    (await Promise.all(folders.map((folder) => disk.realFolder(resolve(cwd, folder))))).flatMap(
      (one) => one ?? [],
    );
  const meant = await realOnes([configured === undefined ? [] : (own.root ?? []), allowed].flat());
  const found = fixed ? [] : [cwd, ...(await hostFolders(hints)).map(({ root }) => root)];
  const chosen = [...meant, ...(await realOnes([own.root ?? [], found].flat()))];
  if (fixed) await checkAllowed(call, chosen, hints);
  const { root } = await requiredFolder(call, hints, t`the call`, meant);
  // Any other folder would be one more world to read and keep.
  if (
    !chosen.includes(root) &&
    !(await isMarked(root, NAMED_MARKERS, disk)) &&
    !(await hasProjectFile(root, disk))
  )
    throw new BmadError('forbidden', t`The folder ${quoted(call)} is not a project.`, {
      subject: call.slice(0, 200),
      hint: t`Name the top folder of a project: one with a BMAD folder, a git repository or a file such as package.json. For a folder without any of them, start the server in it, or name it with --project or --allow-project.`,
    });
  return { root, from: new Kept(() => t`the call`) };
}

/** A folder that was named, if it may be a project. One that the user has named on purpose may be hidden, and what is in it. */
async function requiredFolder(
  folder: string,
  hints: Hints,
  from: Said,
  onPurpose?: readonly string[],
): Promise<{ root: string; unfit: Unfit | undefined }> {
  const root = await hints.disk.realFolder(resolve(hints.cwd, folder));
  const unfit: Unfit | undefined =
    root === undefined
      ? { why: 'there is no such folder', hint: t`Name an existing folder.` }
      : await unfitness(root, hints);
  if (
    root !== undefined &&
    (unfit === undefined || (unfit.onPurpose && (await isMeant(root, hints, onPurpose))))
  )
    return { root, unfit };
  throw new BmadError(
    'invalid_input',
    t`The project folder ${quoted(folder)} (from ${from}) cannot be used: ${say(unfit?.why ?? '')}.`,
    { subject: folder.slice(0, 200), ...(unfit === undefined ? {} : { hint: unfit.hint }) },
  );
}

async function isMeant(root: string, hints: Hints, onPurpose?: readonly string[]): Promise<boolean> {
  if (onPurpose === undefined) return true;
  for (const folder of onPurpose)
    if (isBelow(folder, root) && (await unfitness(folder, hints))?.onPurpose === true) return true;
  return false;
}

/** Both as it is written and where it really leads: a link inside must not lead out, and one outside tells nothing. */
async function checkAllowed(folder: string, allowed: readonly string[], { cwd, disk }: Hints): Promise<void> {
  const written = resolve(cwd, folder);
  // For a missing path, its nearest existing parent: a link in between reveals nothing about its target either.
  const real = (await disk.realFolder(written)) ?? (await realAbove(written, disk));
  if (real !== undefined && allowed.some((root) => isBelow(root, real))) return;
  throw new BmadError('forbidden', t`This server does not serve the project folder ${quoted(folder)}.`, {
    subject: folder.slice(0, 200),
    hint: t`Omit the project to use the one the server was started for. The server’s operator can allow others with allow_projects, or --allow-project.`,
  });
}

async function realAbove(path: string, disk: Disk): Promise<string | undefined> {
  // A link that leads to no folder, or nowhere, is not told from one that leads out.
  if (await disk.isLink(path)) return undefined;
  const above = dirname(path);
  return (await disk.realFolder(above)) ?? (above === path ? undefined : realAbove(above, disk));
}

/** Whether something at the top of a folder says that it is a project: each opens content, a memory and more for itself. */
async function isMarked(root: string, markers: readonly string[], disk: Disk): Promise<boolean> {
  for (const marker of markers) if (await marks(join(root, marker), marker, disk)) return true;
  return false;
}

async function hasProjectFile(root: string, disk: Disk): Promise<boolean> {
  return (await disk.entries(root).catch(() => [])).some(
    ({ name, kind }) => kind === 'file' && isProjectFile(name),
  );
}

async function walkUp(cwd: string, hints: Hints): Promise<Project | undefined> {
  const folders: string[] = [];
  for (const folder of upwards(cwd)) {
    if (isBelow(folder, hints.home)) break;
    if ((await unfitness(folder, hints)) === undefined) folders.push(folder);
  }
  for (const marker of MARKERS)
    for (const folder of folders)
      if (await marks(join(folder, marker), marker, hints.disk))
        return { root: folder, from: new Kept(() => t`the nearest folder with ${marker}`) };
  return undefined;
}

/** A worktree has a file `.git`; a file with the name of a BMAD folder says nothing. */
async function marks(place: string, marker: string, disk: Disk): Promise<boolean> {
  return marker === '.git' ? disk.exists(place) : (await disk.realFolder(place)) !== undefined;
}

async function ownFolder(cwd: string, hints: Hints): Promise<Project> {
  const unfit = await unfitness(cwd, hints);
  return unfit === undefined
    ? { root: cwd, from: new Kept(() => t`the working directory`) }
    : {
        root: undefined,
        from: new Kept(
          () => t`nowhere: the working directory cannot be a project, because ${say(unfit.why)}`,
        ),
      };
}

interface Surroundings {
  /** The real path of the user's home folder. */
  home: string;
  /** The real paths of the folders in which the server keeps its own state, copies and settings. */
  own?: readonly string[];
  platform?: NodeJS.Platform;
  disk: Disk;
}

/** Why a folder cannot be a project, and what to do about it. */
interface Unfit {
  why: string;
  hint: string;
  /** Whether it may be one all the same if the user has named it on purpose. */
  onPurpose?: true;
}

const NAME_ANOTHER = 'Name the top folder of a project that is somewhere else.';

/**
 * Where the system and its services keep their own, below which no one keeps projects: settings and accounts, devices and
 * processes, logs and mail. Temporary folders, servers' folders such as /srv and /var/www, and drives are not among them.
 */
const SYSTEM: Readonly<Record<'unix' | 'windows', RegExp>> = {
  unix: /^\/(?:(?:bin|boot|dev|etc|lib(?:32|64|x32)?|lost\+found|proc|run|sbin|sys|usr|System|Library)(?:\/|$)|(?:private\/)?(?:etc|var\/(?:adm|audit|backups|cache|crash|db|lock|log|mail|run|spool|vm))(?:\/|$)|(?:home|Users|var|private|private\/var)$|mnt\/[a-z]\/(?:Windows|Program Files(?: \(x86\))?|ProgramData)(?:\/|$))/i,
  windows:
    /^(?:[a-z]:\\(?:(?:Windows|Program Files(?: \(x86\))?|ProgramData|\$Recycle\.Bin|System Volume Information|Recovery)(?:\\|$)|Users$)|\\\\[^\\]+\\[a-z]\$(?:\\|$))/i,
};
/** What lies in them and is the users' all the same: memory disks, drives, sources, the homes of some systems. */
const NOT_SYSTEM = /^\/(?:dev\/shm|run\/media|usr\/(?:src|home|local\/(?:src|www|var\/www)))\//;

/** The homes of others: a project may be in one, but not in its hidden folders. */
const HOMES =
  /^(?:\/(?:home|Users|var\/home|usr\/home)\/[^/]+|\/(?:var\/)?root|[a-z]:\\Users\\[^\\]+)(?=[\\/])/i;
/** Folders of a home that are hidden without a dot, but for what users and programs put there for others to see. */
const HIDDEN: Partial<Record<NodeJS.Platform, RegExp>> = {
  darwin: /^Library\/(?!(?:Mobile Documents|CloudStorage)\/)/i,
  win32: /^AppData\\(?!Local\\Temp\\)/i,
};

/**
 * Why nothing in a folder can make it a project; nothing where it may be one. It is judged by its real path, and where that
 * comes by another way to the home folder or one above it, such as a mount of the same folder, by the way everyone knows.
 */
export async function unfitness(
  root: string,
  around: Surroundings,
  mayBeWorktree = true,
): Promise<Unfit | undefined> {
  const { home, own = [], platform = process.platform, disk } = around;
  const place = await knownPlace(root, home);
  if (place === parse(place).root) return { why: 'it is the file system root', hint: say(NAME_ANOTHER) };
  if (isBelow(place, home)) return { why: 'it is the home folder or contains it', hint: say(NAME_ANOTHER) };
  if (isSecretFile(`${place}${sep}`))
    return { why: 'programs keep keys, passwords or their own data there', hint: say(NAME_ANOTHER) };
  if (own.some((folder) => isBelow(folder, place)))
    return { why: 'the server keeps its own files there', hint: say(NAME_ANOTHER) };
  // Without a home folder, its place is taken by the root of the disk.
  const isAtHome = isBelow(home, place) && home !== parse(home).root;
  const table = platform === 'win32' ? SYSTEM.windows : SYSTEM.unix;
  if (!isAtHome && table.test(place) && !NOT_SYSTEM.test(`${place}${sep}`))
    return { why: 'it belongs to the operating system', hint: say(NAME_ANOTHER) };
  const inHome = isAtHome
    ? relative(home, place)
    : place.slice((HOMES.exec(place)?.[0].length ?? place.length) + 1);
  if (
    (inHome.startsWith('.') || HIDDEN[platform]?.test(`${inHome}${sep}`) === true) &&
    !(mayBeWorktree && (await isWorktree(root, around)))
  )
    return {
      why: 'it is a hidden folder of the home folder or is inside one',
      hint: t`If it is a project of yours, start the server with --project and this folder.`,
      onPurpose: true,
    };
  if (await isBare(root, disk))
    return {
      why: 'it is a repository of git without files',
      hint: t`Name a folder with a working tree.`,
    };
  return undefined;
}

/** The path by which everyone knows a folder: bind mounts and links of the system give home another one. */
async function knownPlace(root: string, home: string): Promise<string> {
  const known = new Map<string, string>();
  for (const folder of upwards(home)) {
    const id = await fileIdentity(folder);
    // Some file systems have no numbers.
    if (id !== undefined && !id.endsWith(' 0')) known.set(id, folder);
  }
  for (const folder of upwards(root)) {
    const same = known.get((await fileIdentity(folder)) ?? '');
    if (same !== undefined) return join(same, relative(folder, root));
  }
  return root;
}

/**
 * Assistants make their worktrees in hidden folders of the home folder, such as ~/.cursor/worktrees. One is a project where
 * the repository that it belongs to is, and knows of it: a file `.git` that somebody has put somewhere is not enough.
 */
async function isWorktree(root: string, around: Surroundings): Promise<boolean> {
  const repository = await repositoryAt(root);
  const { own, shared, knows } = repository ?? {};
  if (own === undefined || shared === undefined || own === shared || knows !== resolve(root, '.git'))
    return false;
  const main = await around.disk.realFolder(dirname(shared));
  return main !== undefined && !isBelow(main, root) && (await unfitness(main, around, false)) === undefined;
}

async function isBare(root: string, disk: Disk): Promise<boolean> {
  for (const part of ['HEAD', 'objects', 'refs']) if (!(await disk.exists(join(root, part)))) return false;
  return true;
}

const ENOUGH = 100_000;

/** Which BMAD is installed in a project, as its installer wrote it down; found without reading any content. */
export async function installedVersion(project: string): Promise<string | undefined> {
  for (const path of MANIFESTS) {
    const bytes = await readInside(project, path, ENOUGH).catch(() => undefined);
    const version = /^ {0,8}version: *["']?v?(\d[\w.-]{0,40})/m.exec(bytes?.toString('utf8') ?? '')?.[1];
    if (version !== undefined) return version;
  }
  return undefined;
}

/** The ids of the agents that a project of the custom kit has, by the names of their files. */
export async function customAgents(project: string): Promise<string[]> {
  for (const folder of CUSTOM_AGENTS) {
    const files = await listInside(project, folder).catch(() => []);
    const own = files.flatMap(({ name, kind }) =>
      kind === 'file' && /^[a-z][\w-]{1,40}\.md$/.test(name) ? [name.slice(0, -3)] : [],
    );
    if (own.length > 0) return own.sort();
  }
  return [];
}
