import type { FoundProgram } from '../../base/files/find-program.ts';
import { join } from 'node:path';
import { unlessShort } from '../../base/expected.ts';
import { filesThere } from '../../base/files/file-stamps.ts';
import { IGNORE_FILES } from '../../base/files/listed-files.ts';
import { listInside, readInside } from '../../base/files/files.ts';
import { ignoreRules, type IgnoreRules } from '../../base/text/ignore-rules.ts';
import { decidingFiles } from '../../base/files/repository.ts';
import { isHidden } from '../../base/process/project-files.ts';
import { gitFiles } from '../../base/process/project-git.ts';
import { ownFiles } from './own-files.ts';
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
    // An ignored folder of a larger repository has no files for git; but someone has made it their project.
    if (all === undefined || (by === 'git' && all.length === 0)) return undefined;
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
      wanted: seen(await walk(root, signal))
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

const RULES_BYTES = 256 * 1024;

/** git does not know the other ignore files, and may be configured to ignore them: they are read from disk. */
async function withoutIgnored(
  root: string,
  paths: string[],
  places: readonly string[],
  signal: AbortSignal,
): Promise<{ paths: string[]; files: string[] }> {
  const files = await filesThere(root, places, signal);
  if (files.length === 0) return { paths, files };
  const rules = await Promise.all(
    files.map(async (file) => ({
      folder: file.slice(0, file.lastIndexOf('/') + 1),
      rules: await rulesIn(root, file),
    })),
  );
  const left = paths.filter((path) => {
    const parts = path.split('/');
    return !parts.some((_, depth) => {
      const above = parts.slice(0, depth + 1).join('/');
      return isIgnored(rules, above, depth + 1 < parts.length);
    });
  });
  return { paths: left, files };
}

/** All folders that these paths lead through, outer ones first. */
function foldersOf(paths: Iterable<string>): string[] {
  const folders = new Set(['']);
  for (const path of paths) {
    let end = path.lastIndexOf('/');
    // Where a folder is known, those above it are.
    for (; end !== -1 && !folders.has(path.slice(0, end + 1)); end = path.lastIndexOf('/', end - 1))
      folders.add(path.slice(0, end + 1));
  }
  return [...folders].sort();
}

type PlacedRules = { folder: string; rules: IgnoreRules }[];

/** The ignore file nearest to a path has the last word. */
function isIgnored(placed: PlacedRules, path: string, folder: boolean): boolean {
  let verdict: boolean | undefined;
  for (const { folder: place, rules } of placed)
    if (path.startsWith(place)) verdict = rules.verdict(path.slice(place.length), folder) ?? verdict;
  return verdict === true;
}

async function rulesIn(root: string, path: string): Promise<IgnoreRules> {
  const text = await readInside(root, path, RULES_BYTES).catch(unlessShort(Buffer.alloc(0)));
  return ignoreRules(text.toString('utf8'));
}

/** Without git and ripgrep. Links are not followed, so there is no way out of the root and no loop. */
async function walk(root: string, signal: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  const open: { folder: string; rules: PlacedRules }[] = [{ folder: '', rules: [] }];
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    signal.throwIfAborted();
    if (found.length > MOST_FILES * 2) break;
    const { folder } = next;
    const entries = await listInside(root, folder).catch(unlessShort([]));
    const rules = [...next.rules];
    for (const name of IGNORE_FILES)
      if (entries.some((entry) => entry.name === name))
        rules.push({ folder, rules: await rulesIn(root, folder + name) });
    for (const { name, kind, link } of entries) {
      const path = folder + name;
      if (link === true || isIgnored(rules, path, kind === 'folder')) continue;
      if (kind === 'file') found.push(path);
      else if (isWanted(`${path}/`)) open.push({ folder: `${path}/`, rules });
    }
  }
  return found;
}
