import { join } from 'node:path';
import { filesThere } from '../../base/files/file-stamps.ts';
import type { FoundProgram } from '../../base/files/find-program.ts';
import { IGNORE_FILES } from '../../base/files/listed-files.ts';
import { decidingFiles } from '../../base/files/repository.ts';
import { foldersOf, isHidden, isIgnored, rulesOf, walkFiles } from '../../base/process/project-files.ts';
import { gitFiles } from '../../base/process/project-git.ts';
import { filesByRipgrep } from './ripgrep.ts';
import { isWanted } from './wanted-files.ts';

export interface FileList {
  /** Relative to the root, with slashes, sorted. */
  paths: string[];
  /** Who made the list. */
  by: 'git' | 'ripgrep' | 'walk';
  /** How many more there were than are looked at. */
  left: number;
  /** Files that the list depends on, by their whole paths. */
  from: string[];
}

/** A project with more files than this is searched in part, with a note. */
const MOST_FILES = 30_000;
const LIST_MS = 15_000;

/** Without git and ripgrep. */
const WALK = {
  ignoring: IGNORE_FILES,
  skips: (path: string): boolean => path.endsWith('/') && !isWanted(path),
  links: false,
  most: MOST_FILES * 2,
};

/** What a list was made from and what has come of it: most of the time the next one is the same. */
interface Listed {
  by: FileList['by'];
  all: readonly string[];
  /** Sorted. */
  wanted: string[];
  /** Where ignore files may be that git does not know. */
  places: string[];
}

/**
 * Lists the files of a project that are looked into: what git or the ignore files leave in, without links. As long as nothing
 * comes or goes, the paths are the very same array.
 */
export function createFileLister(root: string, ripgrep: FoundProgram | undefined, env: Environment) {
  let last: Listed | undefined;

  function listedBy(by: 'git' | 'ripgrep', all: readonly string[] | undefined): Listed | undefined {
    if (all === undefined) return undefined;
    if (last?.by === by && last.all.length === all.length && last.all.every((path, at) => path === all[at]))
      return last;
    return {
      by,
      all,
      wanted: (by === 'git' ? all : seen(all)).filter(isWanted).sort(),
      places:
        by === 'git' ? foldersOf(all).flatMap((folder) => [`${folder}.ignore`, `${folder}.rgignore`]) : [],
    };
  }

  return async (signal: AbortSignal): Promise<FileList> => {
    const listed =
      listedBy('git', await gitFiles(root, { env, timeoutMs: LIST_MS, signal })) ??
      (ripgrep === undefined ? undefined : listedBy('ripgrep', await filesByRipgrep(ripgrep, root, signal)));
    last = listed;
    const { by, wanted, places } = listed ?? {
      by: 'walk',
      wanted: seen((await walkFiles(root, { ...WALK, signal })).paths)
        .filter(isWanted)
        .sort(),
      places: [],
    };
    const { paths, files } = await withoutIgnored(root, wanted, places, signal);
    const left = Math.max(0, paths.length - MOST_FILES);
    const ignoring = wanted.filter((path) => IGNORE_FILES.includes(path.slice(path.lastIndexOf('/') + 1)));
    return {
      paths: left === 0 ? paths : paths.slice(0, MOST_FILES),
      by,
      left,
      from: [
        ...[...ignoring, ...files].map((path) => join(root, path)),
        ...(by === 'git' ? await decidingFiles(root, env) : []),
      ],
    };
  };
}

/** Without git, what is hidden is not for others to see, but for what BMAD keeps there. */
function seen(paths: readonly string[]): string[] {
  const isOwn = ownFiles(paths);
  return paths.filter((path) => !isHidden(path) || isOwn(path));
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** git does not know the other ignore files, and may be configured to ignore them: they are read from disk. */
async function withoutIgnored(
  root: string,
  paths: string[],
  places: readonly string[],
  signal: AbortSignal,
): Promise<{ paths: string[]; files: string[] }> {
  const files = await filesThere(root, places, signal);
  if (files.length === 0) return { paths, files };
  const rules = await rulesOf(root, files);
  return { paths: paths.filter((path) => !isIgnored(rules, path)), files };
}

/** Folders of BMAD in a project, wherever it is; those of other names are known by their manifest. */
const FOLDERS = /(?:^|\/)(?:_bmad|_grimoire|\.bmad(?:-[\w-]+)?)(?:\/|$)/i;
const MANIFEST =
  /^(.*?)\/(?:_cfg|_config)\/(?:manifest\.yaml|(?:agent|workflow|task|tool|skill|files)-manifest\.csv|bmad-help\.csv)$/;
/** What installers of BMAD put into the folders of assistants. */
const OF_ASSISTANTS =
  /(?:^|\/)\.[\w-]+\/(?:[\w-]+\/)?(?:skills|commands|agents|rules|prompts|workflows|chatmodes|tasks)\/_?bmad[^/]*/i;
/** State of this server and of the kit's programs, beside what people and agents have written. */
const STATE =
  /(?:^|\/)(?:\.(?:tasks|runs|receipts|memory)(?:\/|$)|(?:BMAD|Grimoire)_TRACE\.md$|(?:pheromone-board|dream-memory)\.json$|(?:reasoning-stream|activity)\.jsonl$)/i;

/**
 * Tells BMAD's own files and the state of this server from the user's code. They outnumber it in a small project, and a
 * search would find earlier searches.
 */
export function ownFiles(paths: readonly string[]): (path: string) => boolean {
  const roots = new Set(paths.flatMap((path) => MANIFEST.exec(path)?.[1] ?? []));
  return (path) => FOLDERS.test(path) || OF_ASSISTANTS.test(path) || STATE.test(path) || isBelow(path, roots);
}

function isBelow(path: string, roots: ReadonlySet<string>): boolean {
  if (roots.size === 0) return false;
  for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1))
    if (roots.has(path.slice(0, end))) return true;
  return false;
}
