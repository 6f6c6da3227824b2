import { say, t } from '../base/text/message.ts';
import { dirname, join, parse, relative, resolve, sep } from 'node:path';
import { fileIdentity } from '../base/files/file-identity.ts';
import { isBelow, upwards } from '../base/files/open-file.ts';
import { repositoryAt } from '../base/files/repository.ts';
import { isSecretFile } from '../base/secrets/names.ts';
import type { Disk } from './disk.ts';

export interface Surroundings {
  /** The real path of the user's home folder. */
  home: string;
  /** The real paths of the folders in which the server keeps its own state, copies and settings. */
  own?: readonly string[];
  platform?: NodeJS.Platform;
  disk: Disk;
}

/** Why a folder cannot be a project, and what to do about it. */
export interface Unfit {
  reason: string;
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
  if (place === parse(place).root) return { reason: t`it is the file system root`, hint: say(NAME_ANOTHER) };
  if (isBelow(place, home))
    return { reason: t`it is the home folder or contains it`, hint: say(NAME_ANOTHER) };
  if (isSecretFile(`${place}${sep}`))
    return { reason: t`programs keep keys, passwords or their own data there`, hint: say(NAME_ANOTHER) };
  if (own.some((folder) => isBelow(folder, place)))
    return { reason: t`the server keeps its own files there`, hint: say(NAME_ANOTHER) };
  // Without a home folder, its place is taken by the root of the disk.
  const isAtHome = isBelow(home, place) && home !== parse(home).root;
  const table = platform === 'win32' ? SYSTEM.windows : SYSTEM.unix;
  if (!isAtHome && table.test(place) && !NOT_SYSTEM.test(`${place}${sep}`))
    return { reason: t`it belongs to the operating system`, hint: say(NAME_ANOTHER) };
  const inHome = isAtHome
    ? relative(home, place)
    : place.slice((HOMES.exec(place)?.[0].length ?? place.length) + 1);
  if (
    (inHome.startsWith('.') || HIDDEN[platform]?.test(`${inHome}${sep}`) === true) &&
    !(mayBeWorktree && (await isWorktree(root, around)))
  )
    return {
      reason: t`it is a hidden folder of the home folder or is inside one`,
      hint: t`If it is a project of yours, start the server with --project and this folder.`,
      onPurpose: true,
    };
  if (await isBare(root, disk))
    return {
      reason: t`it is a repository of git without files`,
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
