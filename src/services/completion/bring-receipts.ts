import { join } from 'node:path';
import { withLock } from '../../base/files/file-lock.ts';
import { replaceLog } from '../../base/files/file-log.ts';
import { removeTree, setAside } from '../../base/files/file-state.ts';
import { copyNew } from '../../base/files/file-tree.ts';
import { pathExists } from '../../base/files/files.ts';
import { folderAt, type StateMove } from '../../kit/home.ts';
import { strayPart, strayRefusal, type Kit } from '../../kit/kit.ts';
import { linesIn, LOG, oneChain, opened, preparePlace, RECEIPTS_LOCK, TREES } from './receipts.ts';
import { listPath } from './tree.ts';

/**
 * Brings the receipts of the user to those of the project, as one chain: one of the two continues the other. A chain that
 * does not is somebody else's, and both stay as they are.
 */
export async function moveReceipts({ root, places }: Kit): Promise<StateMove> {
  const { project, user } = places.receipts;
  const before = { folder: folderAt(user) };
  const place = { folder: folderAt(project), owner: project.owner, anchor: before.folder, inside: root };
  const log = join(place.folder, LOG);
  const older = await linesIn(before);
  /** All of both, or nothing where they are two chains. */
  async function joined(): Promise<readonly string[] | undefined> {
    const newer = await linesIn(place);
    // A crash may have come between writing them here and setting the old file aside.
    if (older.length > 0 && newer.includes(older.at(-1) ?? '')) return newer;
    const chain = oneChain(newer, older);
    return chain.length === newer.length + older.length ? chain : undefined;
  }
  return {
    part: 'receipts',
    count: older.length,
    from: before.folder,
    to: project.path,
    async obstacles() {
      const stray = await strayRefusal(root, `${project.path}/${TREES}`, 'nothing was moved');
      if (stray !== undefined) return [stray.line];
      return (await joined()) === undefined
        ? [`${project.path} has receipts that do not continue those in ${before.folder}.`]
        : [];
    },
    locked: (work) =>
      withLock(join(before.folder, RECEIPTS_LOCK), { waitMs: LOCK_MS }, () =>
        withLock(join(place.folder, RECEIPTS_LOCK), { waitMs: LOCK_MS, inside: root, tidy: true }, work),
      ),
    async copy() {
      const [lines, had] = [(await joined()) ?? [], await linesIn(place)];
      await preparePlace(place);
      await replaceLog(log, lines, root);
      const digest = lastPass(older);
      if (digest !== undefined && (await strayPart(place.folder, TREES)) === undefined) {
        const [from, to] = [listPath(before.folder, digest), listPath(place.folder, digest)];
        if ((await pathExists(from)) && !(await pathExists(to))) await copyNew(from, to);
      }
      return () => (had.length === 0 ? removeTree(place.folder) : replaceLog(log, had, root));
    },
    // The end of the chain stays noted beside it.
    setAside: () => setAside(join(before.folder, LOG)),
  };
}

const LOCK_MS = 30_000;

/** The files that passed last: the list of these is all that is kept. */
function lastPass(lines: readonly string[]): string | undefined {
  return lines
    .map((line) => opened(line)?.receipt)
    .findLast((receipt) => receipt?.status === 'PASS' && /^[0-9a-f]{64}$/.test(receipt.tree.digest))?.tree
    .digest;
}
