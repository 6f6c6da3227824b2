import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { isTable } from '../../base/parse/parse.ts';
import { sha256 } from '../../base/sha256.ts';
import { BmadError } from '../../base/errors.ts';
import { sweepDrafts } from '../../base/files/file-drafts.ts';
import { ensureFolder, writeOnce } from '../../base/files/file-state.ts';
import { isLink } from '../../base/files/files.ts';
import { localDay } from '../../base/text/local-time.ts';
import { strayPart, strayRefusal, type Kit } from '../../kit/kit.ts';
import { folderAt, placesOf } from '../../kit/home.ts';
import type { ProjectLogs } from '../../kit/project-log.ts';
import type { Log } from '../../lines/log.ts';
import type { Status, Step } from './verdict.ts';

export const RUN_LOCK = 'run.lock';
/** The lists of files that passed. */
export const TREES = 'trees';
/** With the user: which receipts were written here. */
const WRITTEN = 'written';

export interface ReceiptPlace {
  folder: string;
  owner: 'project' | 'user';
  /** The user's own folder, outside the project. */
  anchor: string;
  /** The folder that nothing may lead out of: a project is written by others too. */
  inside?: string | undefined;
  /** The other place that may have some: receipts from before the project had its own. */
  also?: Pick<ReceiptPlace, 'folder' | 'inside'> | undefined;
  /** All receipts, in both places. */
  log: Log;
  /** What was written here, outside the project. */
  written: Log;
}

export interface ReceiptSetup {
  kit: Kit;
  /** The user's folder for what has no place in a project. */
  state: string;
  logs: ProjectLogs;
}

export async function receiptPlace(setup: ReceiptSetup): Promise<ReceiptPlace> {
  const { kit, logs } = setup;
  const [first, other] = placesOf(kit, 'receipts').map((place) => ({
    folder: folderAt(place),
    owner: place.owner,
    inside: place.owner === 'project' ? place.base : undefined,
  }));
  const anchor = folderAt(kit.places.receipts.user);
  const { folder, owner, inside } = first ?? { folder: anchor, owner: 'user' as const, inside: undefined };
  const { path } = kit.places.receipts.project;
  const isAstray = other?.owner === 'project' && (await strayPart(kit.root, path)) !== undefined;
  const also = isAstray ? undefined : other;
  const lines = also === undefined ? [] : [{ at: also.folder, inside: also.inside }];
  const place: ReceiptPlace = {
    folder,
    owner,
    inside,
    anchor,
    also,
    log: logs.at({ folder, inside, also: lines, isPrivate: owner === 'project' }, setup),
    written: logs.at({ folder: join(anchor, WRITTEN), isPrivate: false }, setup),
  };
  if (owner === 'user') return place;
  // Asked before a program runs whose verdict could not be kept.
  for (const name of [TREES, localDay(new Date())]) {
    const stray = await strayRefusal(kit.root, `${path}/${name}`, t`receipts are not kept there`);
    if (stray !== undefined) throw stray;
  }
  for (const name of [OLD_LOG, RUN_LOCK])
    if (await isLink(join(folder, name)))
      throw new BmadError('forbidden', t`${join(path, name)} is a link and is not used.`, {
        reason: 'outside',
        subject: join(folder, name),
        hint: t`Remove the link: receipts are kept inside the project only.`,
      });
  return place;
}

/** The one file of an earlier version, in either place: it is read where it is, and never written again. */
export const OLD_LOG = 'receipts.jsonl';

/** Makes the folder; in a project, with a note to git that nothing in it is for others: receipts prove something only here. */
export async function preparePlace({ folder, owner, inside }: ReceiptPlace): Promise<void> {
  await ensureFolder(folder, inside);
  if (owner === 'project') await writeOnce(join(folder, '.gitignore'), '*\n', inside);
  await sweepDrafts(join(folder, TREES), inside);
}

/**
 * One verdict, with all that says what it was about. `hash` covers everything before it. `previous` has the hashes of those
 * that it follows: one, or more where several processes had written.
 */
export interface Receipt {
  version: 1;
  seq: number;
  id: string;
  previous: string;
  status: Status;
  reason: string;
  contract: { kind: 'script' | 'builtin'; path?: string; sha256?: string; version?: number };
  directory: string;
  stack: string;
  stacks: string[];
  steps: Step[];
  /** Who ran it and where, as that machine said. */
  by?: string;
  exit_code?: number;
  signal?: string;
  timed_out: boolean;
  started: string;
  ended: string;
  duration_ms: number;
  git?: { commit?: string; branch?: string; dirty: boolean };
  tree: {
    digest: string;
    files: number;
    listed: 'git' | 'walk';
    left_out: number;
    /** The digest afterwards, when the run itself has changed files. */
    after?: string;
  };
  hash: string;
}

export type ReceiptBody = Omit<Receipt, 'version' | 'seq' | 'id' | 'previous' | 'hash'>;

const VERSION = 1 as const;

/** What the first receipt follows. */
export const ORIGIN = '0'.repeat(64);

export interface Link {
  seq: number;
  hash: string;
}

/** Makes a receipt of a verdict, after all that no other one follows. */
export function sealed(body: ReceiptBody, heads: readonly Link[]): Receipt {
  const seq = heads.reduce((most, link) => Math.max(most, link.seq), 0) + 1;
  const id = `cc-${String(seq).padStart(6, '0')}`;
  const previous =
    heads.length === 0
      ? ORIGIN
      : heads
          .map(({ hash }) => hash)
          .sort()
          .join(' ');
  const open = { version: VERSION, seq, id, previous, ...body };
  return { ...open, hash: sha256(JSON.stringify(open)) };
}

/** Reads one. It counts only as it was written: with any other value its hash is another. */
export function receiptIn(value: unknown): { receipt: Receipt; intact: boolean } | undefined {
  if (!isReceipt(value)) return undefined;
  const { hash, ...open } = value;
  return { receipt: value, intact: sha256(JSON.stringify(open)) === hash };
}

/** What a receipt of a later version of this server says about its place: its number is taken all the same. */
export function newerLink(value: unknown): Link | undefined {
  const { version, seq, hash } = isTable(value) ? value : {};
  if (typeof version !== 'number' || version <= VERSION || !isCount(seq) || seq === 0) return undefined;
  return typeof hash === 'string' ? { seq, hash } : undefined;
}

/** Whether every part that is used has its type: a line with a right hash may still be somebody else's work. */
function isReceipt(value: unknown): value is Receipt {
  if (!isTable(value)) return false;
  const { contract, tree, git, steps, stacks } = value;
  const texts = ['id', 'previous', 'hash', 'reason', 'directory', 'stack', 'started', 'ended'];
  return (
    value['version'] === VERSION &&
    isCount(value['seq']) &&
    value['seq'] > 0 &&
    isCount(value['duration_ms']) &&
    ['PASS', 'FAIL', 'NOT_VERIFIED'].includes(String(value['status'])) &&
    texts.every((key) => typeof value[key] === 'string') &&
    isTable(contract) &&
    ['script', 'builtin'].includes(String(contract['kind'])) &&
    isTable(tree) &&
    typeof tree['digest'] === 'string' &&
    (value['by'] === undefined || typeof value['by'] === 'string') &&
    (git === undefined || (isTable(git) && typeof git['dirty'] === 'boolean')) &&
    Array.isArray(steps) &&
    Array.isArray(stacks) &&
    stacks.every((stack) => typeof stack === 'string')
  );
}

export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
