import { join } from 'node:path';
import { withLock } from '../../base/files/file-lock.ts';
import { replaceLog } from '../../base/files/file-log.ts';
import { setAside } from '../../base/files/file-state.ts';
import { copyNew } from '../../base/files/file-tree.ts';
import { pathExists } from '../../base/files/files.ts';
import { strayPart, type Kit } from '../../kit/kit.ts';
import {
  LOG,
  opened,
  preparePlace,
  readReceipts,
  RECEIPTS_LOCK,
  receiptPlace,
  TREES,
  type ReceiptPlace,
} from './receipts.ts';
import { listPath } from './tree.ts';

/**
 * Brings receipts from the folder of the user before those of the project, as one chain: the first that was written in the
 * project follows the last of before. A chain that does not is somebody else's, and both stay as they are;
 * `kept` says where the old file lies now otherwise.
 */
export async function bringReceipts(kit: Kit, state: string) {
  const place = await receiptPlace(kit, state);
  const before: ReceiptPlace = { folder: place.anchor, owner: 'user', anchor: place.anchor };
  await preparePlace(place);
  const options = { waitMs: 30_000 };
  return withLock(join(before.folder, RECEIPTS_LOCK), options, () =>
    withLock(join(place.folder, RECEIPTS_LOCK), { ...options, inside: place.inside }, async () => {
      const [older, newer] = [await linesOf(before), await linesOf(place)];
      const last = older.at(-1);
      // A crash may have come between writing them here and setting the old file aside.
      const there = last !== undefined && newer[older.length - 1] === last;
      if (!there) {
        if (!follows(newer[0], last)) return { brought: [], left: [LOG], kept: undefined };
        await replaceLog(join(place.folder, LOG), [...older, ...newer], place.inside);
      }
      const digest = last === undefined ? undefined : lastPass(older);
      if (digest !== undefined && (await strayPart(place.folder, TREES)) === undefined) {
        const [from, to] = [listPath(before.folder, digest), listPath(place.folder, digest)];
        if ((await pathExists(from)) && !(await pathExists(to))) await copyNew(from, to);
      }
      return { brought: [LOG], left: [], kept: await setAside(join(before.folder, LOG)) };
    }),
  );
}

async function linesOf(place: ReceiptPlace): Promise<string[]> {
  const lines: string[] = [];
  await readReceipts(place, (line) => lines.push(line));
  return lines;
}

function follows(first: string | undefined, last: string | undefined): boolean {
  if (first === undefined || last === undefined) return true;
  const link = opened(last)?.receipt.hash;
  return link !== undefined && opened(first)?.receipt.previous === link;
}

/** The files that passed last: the list of these is all that is kept. */
function lastPass(lines: readonly string[]): string | undefined {
  return lines
    .map((line) => opened(line)?.receipt)
    .findLast((receipt) => receipt?.status === 'PASS' && /^[0-9a-f]{64}$/.test(receipt.tree.digest))?.tree
    .digest;
}
