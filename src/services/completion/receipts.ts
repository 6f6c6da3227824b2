import { join } from 'node:path';
import { jsonObject } from '../../base/parse/json.ts';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { appendLog, readLog } from '../../base/files/file-log.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { ensureFolder, readStateBytes, writeAtomic, writeNew } from '../../base/files/file-state.ts';
import { modifiedInside, pathExists } from '../../base/files/files.ts';
import { projectKey } from '../../base/files/project-key.ts';
import { strayPart, type Kit } from '../../kit/kit.ts';
import { outputFolder } from '../../kit/output.ts';
import { isCount, ORIGIN, opened, sealed, type Link, type Receipt, type ReceiptBody } from './receipt.ts';

const FOLDER = '.receipts';
export const LOG = 'receipts.jsonl';
const HEAD = 'head.json';
const LOCK_MS = 30_000;

export interface ReceiptPlace {
  /** The folder of the receipts. */
  folder: string;
  owner: 'project' | 'user';
  /** Where the end of the chain is noted a second time, outside the project. */
  anchor: string;
}

/** Beside what the project's agents produce; a project without BMAD stays clean, and its receipts are with the user. */
export async function receiptPlace(kit: Kit, state: string): Promise<ReceiptPlace> {
  const own = join(state, 'receipts', projectKey(kit.root));
  const output = await outputFolder(kit);
  if (output === undefined) return { folder: own, owner: 'user', anchor: own };
  const folder = join(kit.root, output, FOLDER);
  const stray = await strayPart(kit.root, `${output}/${FOLDER}`);
  const linked = (await pathExists(join(folder, LOG))) && (await modifiedInside(folder, LOG)) === undefined;
  if (stray !== undefined || linked)
    throw new BmadError('forbidden', `${join(output, FOLDER)} leads outside the project and is not used.`, {
      subject: folder,
      hint: 'Remove the link: receipts are kept inside the project only.',
    });
  return { folder, owner: 'project', anchor: own };
}

/** Makes the folder; in a project, with a note to git that nothing in it is for others: two clones have two chains. */
export async function preparePlace({ folder, owner }: ReceiptPlace): Promise<void> {
  await ensureFolder(folder);
  if (owner === 'project') await writeNew(join(folder, '.gitignore'), Buffer.from('*\n'));
}

/** The end of the chain as it was noted outside; nothing when it was never noted. */
export async function anchorOf({ anchor }: ReceiptPlace): Promise<Link | undefined> {
  const bytes = await readStateBytes(join(anchor, HEAD)).catch(() => undefined);
  const { seq, hash } = (jsonObject(bytes?.toString('utf8') ?? '') ?? {}) as Partial<Link>;
  return isCount(seq) && typeof hash === 'string' ? { seq, hash } : undefined;
}

/** All lines of the chain, from the first. */
export async function readReceipts(place: ReceiptPlace, onLine: (line: string) => void): Promise<void> {
  await readLog(join(place.folder, LOG), undefined, () => undefined, onLine);
}

/** Adds a verdict to the end of the chain: one process at a time, on the disk before anybody hears of it. */
export async function addReceipt(
  place: ReceiptPlace,
  body: ReceiptBody,
  signal?: AbortSignal,
): Promise<{ receipt: Receipt; notes: string[] }> {
  await preparePlace(place);
  return withLock(join(place.folder, 'receipts.lock'), { waitMs: LOCK_MS, signal }, async () => {
    const last = await lastLink(place);
    const { receipt, line } = sealed(body, last);
    await appendLog(join(place.folder, LOG), [line]);
    const notes: string[] = [];
    const head = JSON.stringify({ seq: receipt.seq, hash: receipt.hash });
    await writeAtomic(join(place.anchor, HEAD), `${head}\n`).catch(
      ours(({ message }) => {
        notes.push(`The end of the chain could not be recorded outside the project: ${message}`);
      }),
    );
    return { receipt, notes };
  });
}

/**
 * What a new receipt follows: the last one that can be read, whatever was done to it. Where receipts are missing at the
 * end, the note outside tells, and the gap stays to be seen.
 */
async function lastLink(place: ReceiptPlace): Promise<Link> {
  let last: Link = { seq: 0, hash: ORIGIN };
  await readReceipts(place, (line) => {
    const read = opened(line);
    if (read !== undefined) last = { seq: read.receipt.seq, hash: read.receipt.hash };
  });
  const noted = await anchorOf(place);
  return noted !== undefined && noted.seq > last.seq ? noted : last;
}
