import { join } from 'node:path';
import { inTurn } from '../../base/async.ts';
import { fileStamp, type FileStamp, fileStamps, filesThere } from '../../base/files/file-stamps.ts';
import type { FoundProgram } from '../../base/files/find-program.ts';
import { IGNORE_FILES, ListedFiles } from '../../base/files/listed-files.ts';
import { decidingFiles } from '../../base/files/repository.ts';
import { gitFiles } from '../../base/process/git.ts';
import { foldersOf, isHidden, isIgnored, rulesOf, walkFiles } from '../../base/process/project-files.ts';
import { type Grammars, isProse, languageOf } from './chunks.ts';
import type { Log } from '../../base/log.ts';
import type { Analyser } from '../../meaning/analyse.ts';
import type { Embedder } from '../../meaning/vectors.ts';
import { isWanted } from './searched-files.ts';
import { filesByRipgrep } from './ripgrep.ts';
import type { CodeIndex } from './words.ts';

export interface CodebaseParts {
  /** The real path of the project. */
  root: string;
  /** The folder for caches; the index of each project is a file in it. */
  cache: string;
  /** `false` where the index is not written: it lasts as long as this does. */
  writes?: boolean;
  /** How long a call reads files before it answers with what it has. */
  budgetMs: number;
  background: boolean;
  /** Whether the system may be asked to tell of changes, where it tells of all of them. */
  watch?: boolean;
  /** For git, which needs the user's settings. */
  env: Environment;
  log: Log;
  analyser?: Analyser | undefined;
  embedder?: Embedder | undefined;
  /** Called when much has been read and all of it is on disk: a new thread that starts from the file needs far less memory. */
  onWritten?: () => void;
  /** Left out where a test wants to see what happens without them. */
  without?: { ripgrep?: true; grammars?: true };
}

export interface IndexerParts extends Pick<
  CodebaseParts,
  'root' | 'writes' | 'background' | 'watch' | 'env' | 'log' | 'onWritten'
> {
  /** The file the index is kept in. */
  place: string;
  analyser: Analyser;
  embedder: Embedder | undefined;
  grammars: Grammars;
  ripgrep: FoundProgram | undefined;
}

/** Paths of files that are still to be read, to be taken apart by their grammar, and to get vectors. */
interface ToDo {
  queue: Set<string>;
  rough: Set<string>;
  bare: Set<string>;
}

type Searched = FileList & { own: number };

/** Fewer files are looked at in no time. */
const WORTH_WATCHING = 500;
/** What no system tells of, such as writing through memory, is found by a look at everything, at most this often. */
const LOOK_AGAIN_MS = 60_000;

/** The part of a pattern before its first placeholder: `_bmad/` of a pattern for all below it. */
function literalStart(path: string): string {
  return path.slice(0, path.search(/[*?]|$/));
}

/** Finds out which files there are and which have changed since they were read. */
export function createSurveyor(parts: IndexerParts, { files }: CodeIndex, { queue, rough, bare }: ToDo) {
  const { root, embedder, grammars } = parts;
  const listFiles = createFileLister(root, parts.ripgrep, parts.env);
  const listed = new ListedFiles(root);
  let stamps = new Map<string, FileStamp>();
  let own: { of: readonly string[]; has(path: string): boolean; rest: string[] } | undefined;
  /** What the last look at everything has found, and when. */
  let last: { paths: readonly string[]; list: Searched; at: number } | undefined;
  /** One after the other: the next would miss what this one is about to queue. */
  const turn = inTurn();

  /** The list without BMAD's own files, unless a caller's path leads to them. */
  function searched(all: FileList, asked: string | undefined): Searched {
    if (own?.of !== all.paths) {
      const has = ownFiles(all.paths);
      own = { of: all.paths, has, rest: all.paths.filter((path) => !has(path)) };
    }
    const paths = asked !== undefined && own.has(literalStart(asked)) ? all.paths : own.rest;
    return { ...all, paths, own: all.paths.length - paths.length };
  }

  function isAsRead(path: string, now: FileStamp | undefined): boolean {
    const known = files.get(path);
    return known !== undefined && known.mtimeMs === now?.mtimeMs && known.size === now.size;
  }

  /** Looks at what the system has told of since the last look at everything; nothing where that is not enough. */
  async function quickly(asked: string | undefined): Promise<Searched | undefined> {
    const places = await listed.changed();
    if (places === undefined || last === undefined) return undefined;
    if (asked !== undefined && own?.has(literalStart(asked)) === true) return undefined;
    for (const place of places) {
      const path = last.paths[place] ?? '';
      const now = fileStamp(root, path);
      // What was a file and is none, or the other way round, makes another list.
      if ((now === undefined) === stamps.has(path)) return listed.forget();
      if (now === undefined) continue;
      stamps.set(path, now);
      if (!isAsRead(path, now)) queue.add(path);
    }
    return last.list;
  }

  async function thoroughly(
    first: (path: string) => boolean,
    asked: string | undefined,
    signal: AbortSignal,
  ): Promise<Searched> {
    const began = Date.now();
    listed.forget();
    const all = await listFiles(signal);
    const list = searched(all, asked);
    const isRead = list.paths === own?.rest && files.size > list.paths.length * 0.9;
    const follows = parts.watch === true && isRead && list.paths.length >= WORTH_WATCHING;
    const vouch = follows ? await listed.follow(list.paths, began, all.from) : undefined;
    const apart: number[] = [];
    const found = await fileStamps(root, list.paths, signal, apart);
    const paths: string[] = [];
    const stale: string[] = [];
    stamps = new Map();
    for (const [at, path] of list.paths.entries()) {
      const now = found[at];
      if (now === undefined) continue;
      paths.push(path);
      stamps.set(path, now);
      if (!isAsRead(path, now)) stale.push(path);
    }
    for (const path of files.keys()) if (!stamps.has(path)) files.delete(path);
    queue.clear();
    const order = (path: string): number => (first(path) ? 0 : 2) + (isProse(languageOf(path)) ? 1 : 0);
    for (const path of stale.sort((a, b) => order(a) - order(b))) queue.add(path);
    for (const set of [rough, bare]) for (const path of set) if (!stamps.has(path)) set.delete(path);
    for (const file of files.values()) {
      if (file.rough && grammars.available) rough.add(file.path);
      if (embedder !== undefined && file.vectorsFrom === undefined && file.count > 0) bare.add(file.path);
    }
    last = { paths: list.paths, list: { ...list, paths }, at: Date.now() };
    await vouch?.(apart);
    return last.list;
  }

  return {
    stampOf: (path: string): FileStamp | undefined => stamps.get(path),
    size: (): number => stamps.size,
    /**
     * Checks which files exist and which have changed; files to read are queued, `first` before the rest. BMAD's own files
     * count only where a caller's path leads to them.
     */
    survey: (first: (path: string) => boolean, asked: string | undefined, signal: AbortSignal) =>
      turn(async () => (await quickly(asked)) ?? thoroughly(first, asked, signal)),
    lookAgain(signal: AbortSignal): Promise<unknown> | undefined {
      if (last === undefined || Date.now() - last.at < LOOK_AGAIN_MS) return undefined;
      return turn(() => thoroughly(() => true, undefined, signal));
    },
    /** Whether a file is as it was when it was read, if it was. If not, the next survey looks at everything. */
    isCurrent(path: string): boolean {
      const isCurrent = !files.has(path) || isAsRead(path, fileStamp(root, path));
      if (!isCurrent) listed.forget();
      return isCurrent;
    },
    doubt: (): void => listed.forget(),
    close: (): void => listed.close(),
  };
}

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
function createFileLister(root: string, ripgrep: FoundProgram | undefined, env: Environment) {
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
