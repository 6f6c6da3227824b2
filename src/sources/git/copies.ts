import { join } from 'node:path';
import { jsonIn } from '../../base/parse/json.ts';
import { sha256 } from '../../base/values.ts';
import { discardFolder, folderBytes, readState, stateNames } from '../../base/files/file-state.ts';
import type { GitAddress } from './address.ts';
import type { Written } from './snapshot.ts';

/** What is known about a copy; it is stored beside the folder with the content. */
export interface Receipt extends Written {
  source: string;
  /** Name of the folder with the content. */
  content: string;
  commit: string;
  fetchedAt: number;
}

/** Whether a file says all that a receipt has to say; one that was cut off does not. */
export function isReceipt(value: Partial<Receipt> | null, commit: string): boolean {
  const { digest, files, bytes, fetchedAt, skipped } = value ?? {};
  return (
    value?.commit === commit &&
    /^sha256:[0-9a-f]{64}$/.test(digest ?? '') &&
    [files, bytes, fetchedAt].every((count) => typeof count === 'number') &&
    Array.isArray(skipped)
  );
}

export interface CacheEntry extends Omit<Receipt, 'content' | 'skipped'> {
  folder: string;
  /** When the remote was last asked. */
  checkedAt: number | undefined;
}

export interface KeptCopy {
  address: GitAddress;
  commit: string;
}

/** Two refs that lead to one commit share its files; another subpath has others. */
export function treeKey({ repositoryKey, subpath }: GitAddress, commit: string): string {
  return sha256(`${repositoryKey}\0${commit}\0${subpath ?? ''}`).slice(0, 32);
}

/** Readers take a folder's name for the name of a plain module, so it is that of the repository or subpath. */
export function contentName({ name }: GitAddress): string {
  const plain = name.replace(/[^\w.-]+/g, '-').replace(/^[-.]+/, '');
  return plain === '' ? 'content' : plain;
}

export async function listCopies(cache: string): Promise<CacheEntry[]> {
  const entries: CacheEntry[] = [];
  const trees = join(cache, 'trees');
  const checked = await checkTimes(join(cache, 'sightings'));
  for (const name of await stateNames(trees)) {
    const receipt = await readJson<Receipt>(join(trees, name, 'receipt.json'));
    if (receipt === undefined) continue;
    const { source, content, commit, digest, files, bytes, fetchedAt } = receipt;
    const folder = join(trees, name, content);
    entries.push({ source, commit, digest, files, bytes, folder, fetchedAt, checkedAt: checked.get(source) });
  }
  return entries.sort((a, b) =>
    a.source === b.source ? b.fetchedAt - a.fetchedAt : a.source < b.source ? -1 : 1,
  );
}

async function checkTimes(folder: string): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const name of await stateNames(folder)) {
    const seen = await readJson<{ source: string; checkedAt?: number }>(join(folder, name));
    if (seen?.checkedAt !== undefined) times.set(seen.source, seen.checkedAt);
  }
  return times;
}

/** A file that is missing, unreadable, damaged or not ours counts as absent, and is created again when needed. */
export async function readJson<T>(path: string): Promise<T | undefined> {
  return jsonIn((await readState(path).catch(() => undefined)) ?? '') as T | undefined;
}

export async function clearCopies(
  cache: string,
  keep: readonly KeptCopy[],
  whileIdle: (repositoryKey: string, action: () => Promise<void>) => Promise<void>,
): Promise<{ copies: number; bytes: number }> {
  const kept = {
    trees: new Set(keep.map(({ address, commit }) => treeKey(address, commit))),
    repositories: new Set(keep.map(({ address }) => `${address.repositoryKey}.git`)),
    sightings: new Set(keep.map(({ address }) => `${address.sourceKey}.json`)),
  };
  const removed = { copies: 0, bytes: 0 };
  for (const [part, names] of Object.entries(kept)) {
    for (const name of await stateNames(join(cache, part))) {
      if (names.has(name)) continue;
      const place = join(cache, part, name);
      removed.bytes += await folderBytes(place);
      if (part === 'trees') removed.copies += 1;
      const discard = (): Promise<void> => discardFolder(place, join(cache, 'work'));
      if (part === 'repositories') await whileIdle(name.replace(/\.git$/, ''), discard);
      else await discard();
    }
  }
  return removed;
}
