import { basename, dirname, join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { attempt, ours } from '../../base/expected.ts';
import { sha256 } from '../../base/sha256.ts';
import { mapLimited } from '../../base/async.ts';
import { fileMark, type FileMark } from '../../base/files/file-digest.ts';
import { readStateBytes, stateNames, writeAtomic } from '../../base/files/file-state.ts';
import { removeFile } from '../../base/files/open-file.ts';
import type { LeftOut } from './left-out.ts';
import { TREES, type ReceiptPlace } from './receipts.ts';
import type { Environment } from './run.ts';
import { listTree, type TreeFiles } from './tree-files.ts';

/** Larger files are told apart by their size only. */
export const LARGEST_FILE = 50_000_000;
const MOST_FILES = 50_000;
const MOST_BYTES = 2_000_000_000;

/** What the files of a project are like at one moment. */
export interface Tree {
  /** SHA-256 of the list of all files with theirs. */
  digest: string;
  files: number;
  /** Who knows which files belong to the project. */
  listed: TreeFiles['listed'];
  /** Files that were not looked into, because they are too large or too many. */
  leftOut: number;
  /** The list itself: kind, digest and path of each file. */
  list: string;
}

/**
 * Reads all files that git tracks or would track (without git: all but the ignored), except what
 * agents write while they work, which is not what a contract verifies.
 */
export async function readTree(
  root: string,
  leftOut: LeftOut,
  env: Environment,
  signal: AbortSignal,
): Promise<Tree> {
  const { paths, listed } = await listTree(root, env, signal);
  return treeOf(root, { paths: paths.filter((path) => !leftOut(path)), listed }, signal);
}

/** The same of files that are known to belong to it. */
export async function treeOf(
  root: string,
  { paths: own, listed }: TreeFiles,
  signal: AbortSignal,
): Promise<Tree> {
  const looked = own.slice(0, MOST_FILES);
  let bytes = 0;
  const marks = await mapLimited(looked, 16, async (path): Promise<FileMark | undefined> => {
    signal.throwIfAborted();
    const mark = await fileMark(root, path, bytes > MOST_BYTES ? 0 : LARGEST_FILE);
    bytes += mark?.bytes ?? 0;
    return mark;
  });
  const lines = looked.flatMap((path, index) => {
    const mark = marks[index];
    return mark === undefined ? [] : [`${mark.kind} ${mark.digest} ${path}\0`];
  });
  const list = lines.join('');
  return {
    digest: sha256(list),
    files: lines.length,
    listed,
    leftOut: own.length - looked.length + marks.filter((mark) => mark?.kind === 'large').length,
    list,
  };
}

export interface TreeChange {
  path: string;
  change: 'added' | 'removed' | 'changed';
}

export function treeChanges(before: string, after: string): TreeChange[] {
  const [old, now] = [entries(before), entries(after)];
  const changes: TreeChange[] = [];
  for (const [path, mark] of now) {
    const earlier = old.get(path);
    if (earlier === undefined) changes.push({ path, change: 'added' });
    else if (earlier !== mark) changes.push({ path, change: 'changed' });
  }
  for (const path of old.keys()) if (!now.has(path)) changes.push({ path, change: 'removed' });
  return changes.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Kind and digest of each path of a list. */
export function entries(list: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const line of list.split('\0')) {
    const path = line.indexOf(' ', line.indexOf(' ') + 1);
    if (path > 0) found.set(line.slice(path + 1), line.slice(0, path));
  }
  return found;
}

export const listPath = (folder: string, digest: string): string => join(folder, TREES, `${digest}.gz`);

type ListPlace = Pick<ReceiptPlace, 'folder' | 'inside'>;

/** Keeps the list of what has passed, so that what has changed can be named later. It takes the place of the one before. */
export async function keepList({ folder, inside }: ListPlace, tree: Tree): Promise<void> {
  const own = listPath(folder, tree.digest);
  await writeAtomic(own, gzipSync(tree.list), { inside });
  const trees = dirname(own);
  for (const name of await stateNames(trees, inside))
    if (/^[0-9a-f]{64}\.gz$/.test(name) && name !== basename(own))
      await removeFile(join(trees, name), inside);
}

/** The list of a digest. It vouches for itself: one that was changed is as good as none. */
export async function keptList({ folder, inside }: ListPlace, digest: string): Promise<string | undefined> {
  if (!/^[0-9a-f]{64}$/.test(digest)) return undefined;
  // Whatever else lies there in place of the list is as good as none, too.
  const bytes = await readStateBytes(listPath(folder, digest), { inside }).catch(ours(() => undefined));
  if (bytes === undefined) return undefined;
  const list = attempt(
    () => gunzipSync(bytes, { maxOutputLength: 100_000_000 }),
    () => undefined,
  );
  return list !== undefined && sha256(list) === digest ? list.toString('utf8') : undefined;
}
