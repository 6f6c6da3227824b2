import { posix, join } from 'node:path';
import { unlessShort } from '../errors.ts';
import { isNamed } from '../files/file-stamps.ts';
import { listInside, readInside, type InsideRules } from '../files/files.ts';
import { IGNORE_FILES } from '../files/listed-files.ts';
import { grouped } from '../values.ts';
import { ignoreRules, type IgnoreRules } from '../text/glob.ts';
import { gitFiles, type GitQuestion } from './git.ts';

const RULES_BYTES = 256 * 1024;

/** Hidden files and what is in hidden folders: not for others to see, where git does not say what is. */
export function isHidden(path: string): boolean {
  return /(?:^|\/)\./.test(path);
}

/**
 * Which of some files of a project may be shown to others, and so to models: those that git tracks or would track. Where it
 * cannot be asked, and in a folder that it leaves out as a whole, those that are neither hidden nor named in an ignore file;
 * and always what is BMAD's own. `paths` are real, from the root and with slashes.
 */
export async function filesToShow(
  root: string,
  paths: readonly string[],
  isOwn: (path: string) => boolean,
  asked: GitQuestion,
): Promise<Set<string>> {
  const shown = new Set(paths.filter(isOwn));
  const rest = paths.filter((path) => !shown.has(path));
  for (const [top, files] of grouped(rest, (path) => repositoryOf(root, path))) {
    const fromTop = files.map((path) => posix.relative(top, path));
    const place = join(root, top);
    const listed = await gitFiles(place, asked, { paths: fromTop });
    // Of a name that can be written in two ways, git knows one and the disk may have the other.
    const names = new Set(listed?.map((path) => path.normalize()));
    const isListed =
      listed === undefined ? await unignored(place, fromTop) : (path: string) => names.has(path.normalize());
    for (const path of fromTop) if (isListed(path)) shown.add(posix.join(top, path));
  }
  return shown;
}

/** The nearest folder above a file that is a repository of its own, such as a submodule; else the project. */
function repositoryOf(root: string, path: string): string {
  const above = foldersOf([path]).toReversed();
  return above.find((folder) => folder !== '' && isNamed(join(root, folder, '.git')))?.slice(0, -1) ?? '';
}

async function unignored(root: string, paths: readonly string[]): Promise<(path: string) => boolean> {
  const files = foldersOf(paths).flatMap((folder) => IGNORE_FILES.map((name) => folder + name));
  const rules = await rulesOf(root, files);
  return (path) => !isHidden(path) && !isIgnored(rules, path);
}

/** All folders that these paths lead through, each with a slash at its end, outer ones first; the root is nothing. */
export function foldersOf(paths: Iterable<string>): string[] {
  const folders = new Set(['']);
  for (const path of paths) {
    let end = path.lastIndexOf('/');
    // Where a folder is known, those above it are.
    for (; end !== -1 && !folders.has(path.slice(0, end + 1)); end = path.lastIndexOf('/', end - 1))
      folders.add(path.slice(0, end + 1));
  }
  return [...folders].sort();
}

/** The rules of ignore files, outer ones first, each with the folder it is in. */
type PlacedRules = readonly { folder: string; rules: IgnoreRules }[];

/** Those of some ignore files; one that is not there, or cannot be read, leaves nothing out. */
export function rulesOf(root: string, files: readonly string[]): Promise<PlacedRules> {
  return Promise.all(
    files.map(async (file) => {
      const text = await readInside(root, file, RULES_BYTES).catch(unlessShort(''));
      return { folder: file.slice(0, file.lastIndexOf('/') + 1), rules: ignoreRules(text.toString()) };
    }),
  );
}

/** Whether ignore files leave out a file, or a folder it is in. */
export function isIgnored(placed: PlacedRules, path: string): boolean {
  return [...foldersOf([path]).slice(1), path].some((each) => leavesOut(placed, each));
}

/** The ignore file nearest to a path has the last word. A path of a folder ends with a slash. */
function leavesOut(placed: PlacedRules, path: string): boolean {
  const isFolder = path.endsWith('/');
  const plain = isFolder ? path.slice(0, -1) : path;
  let verdict: boolean | undefined;
  for (const { folder, rules } of placed)
    if (plain.startsWith(folder)) verdict = rules.verdict(plain.slice(folder.length), isFolder) ?? verdict;
  return verdict === true;
}

interface Walk {
  /** The folder to begin in, with a slash at its end. */
  from?: string;
  /** The names of the ignore files that count. */
  ignoring: readonly string[];
  /** What is left out beside that, by its path: one of a folder ends with a slash. */
  skips(path: string): boolean;
  /** Whether links are listed. They are never followed, so there is no way out of the root and no loop. */
  links: boolean;
  most: number;
  rules?: InsideRules;
  signal: AbortSignal;
}

/** The files of a folder that no ignore file names, without git. `cut` says that not all could be listed. */
export async function walkFiles(root: string, walk: Walk): Promise<{ paths: string[]; cut: boolean }> {
  const { from = '', ignoring, skips, links, most, rules, signal } = walk;
  const paths: string[] = [];
  let cut = false;
  const open: { folder: string; placed: PlacedRules }[] = [{ folder: from, placed: [] }];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    signal.throwIfAborted();
    if (paths.length > most) return { paths, cut: true };
    const { folder } = next;
    const entries = await listInside(root, folder, rules).catch(unlessShort(undefined));
    cut ||= entries === undefined;
    const own = ignoring.filter((name) => entries?.some((entry) => entry.name === name));
    const placed = [
      ...next.placed,
      ...(await rulesOf(
        root,
        own.map((name) => folder + name),
      )),
    ];
    for (const { name, kind, link } of entries ?? []) {
      const path = `${folder}${name}${kind === 'folder' ? '/' : ''}`;
      if (skips(path) || (link === true && !links) || leavesOut(placed, path)) continue;
      if (kind === 'file' || link === true) paths.push(folder + name);
      else open.push({ folder: path, placed });
    }
  }
  return { paths, cut };
}
