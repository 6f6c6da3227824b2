import { fileMark } from '../../base/files/file-digest.ts';
import { fileStamps, type FileStamp } from '../../base/files/file-stamps.ts';
import type { LeftOut } from './left-out.ts';
import type { Receipt, ReceiptPlace } from './receipts.ts';
import type { Environment } from './run.ts';
import { entries, keptList, listTree, treeOf } from './tree.ts';
import { findLatest } from './receipt-log.ts';
import { isSameContract, passesIn, verifyReceipts } from './verify.ts';

/** Whether what has passed is still what is here, as far as a short look can tell. */
export interface Since {
  /** The PASS that it is compared with. */
  pass: Pick<Receipt, 'id' | 'started'>;
  files: 'same' | 'changed' | 'unknown';
  contract: 'same' | 'changed';
}

interface Compared {
  root: string;
  place: ReceiptPlace;
  /** The one of now. */
  contract: Receipt['contract'];
  leftOut: LeftOut;
  env: Environment;
}

/** What may be read whole on each call: about a third of a second. */
const MOST_FILES = 1_000;
const MOST_BYTES = 20_000_000;
/** Of larger projects, how many files are looked at, and how many of them are read. */
const MOST_STAMPS = 20_000;
const MOST_READ = 100;
/** Some disks keep the times of files to two seconds. */
const ROUNDING_MS = 2_000;

/**
 * A small project is compared as `verify` does it. Of a large one only files that were written since are read: what
 * differs has changed, and where nothing does, nothing is known, because times can be set.
 */
export async function sinceLastPass(compared: Compared, signal: AbortSignal): Promise<Since | undefined> {
  const { root, place, contract, leftOut, env } = compared;
  const { chain, found: last } = await findLatest(place, ({ intact, fromHere }) =>
    passesIn(intact.filter(fromHere)).at(-1),
  );
  if (last === undefined) return undefined;
  const listed = await listTree(root, env, signal);
  const files = { ...listed, paths: listed.paths.filter((path) => !leftOut(path)) };
  const tooMany = listed.paths.length > MOST_STAMPS;
  const stamps = tooMany ? [] : await fileStamps(root, files.paths, signal);
  const bytes = stamps.reduce((sum, stamp) => sum + (stamp?.size ?? 0), 0);
  if (!tooMany && files.paths.length <= MOST_FILES && bytes <= MOST_BYTES) {
    const found = await verifyReceipts(place, chain, contract, () =>
      treeOf(root, files, leftOut, { signal, mostBytes: MOST_BYTES }),
    );
    return {
      pass: found.lastPass ?? last,
      files: found.tree,
      contract: found.contract === 'same' ? 'same' : 'changed',
    };
  }
  const differs = stamps.length > 0 && (await hasChanged(compared, last, files.paths, stamps, signal));
  return {
    pass: last,
    files: differs ? 'changed' : 'unknown',
    contract: isSameContract(last.contract, contract) ? 'same' : 'changed',
  };
}

/** Whether one of the files is certainly not what it was when the project passed. */
async function hasChanged(
  { root, place }: Compared,
  { tree, started }: Receipt,
  paths: readonly string[],
  stamps: readonly (FileStamp | undefined)[],
  signal: AbortSignal,
): Promise<boolean> {
  const list = await keptList(place, tree.digest);
  if (list === undefined) return false;
  const before = entries(list);
  const from = Date.parse(started) - ROUNDING_MS;
  // The newest first: they are the likeliest to be other ones.
  const written = paths
    .map((path, index) => ({ path, time: stamps[index]?.mtimeMs ?? 0 }))
    .filter(({ time }) => time >= from)
    .sort((one, other) => other.time - one.time);
  const reading = { signal, room: MOST_BYTES };
  for (const { path } of written.slice(0, MOST_READ)) {
    const mark = await fileMark(root, path, reading);
    if (mark === undefined || mark.kind === 'unread') continue;
    if (before.get(path) !== `${mark.kind} ${mark.digest}`) return true;
  }
  return false;
}
