import { join } from 'node:path';
import { jsonIn, jsonObject } from '../../base/parse/json.ts';
import { isTable } from '../../base/parse/parse.ts';
import { sha256 } from '../../base/sha256.ts';
import { BmadError } from '../../base/errors.ts';
import { ours } from '../../base/expected.ts';
import { appendLog, lastLines, readLog } from '../../base/files/file-log.ts';
import { sweepDrafts } from '../../base/files/file-drafts.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { ensureFolder, readStateBytes, writeAtomic, writeOnce } from '../../base/files/file-state.ts';
import { isLink } from '../../base/files/files.ts';
import { strayRefusal, type Kit } from '../../kit/kit.ts';
import { folderAt, placesOf } from '../../kit/home.ts';
import type { Status, Step } from './verdict.ts';

export const LOG = 'receipts.jsonl';
const HEAD = 'head.json';
export const RECEIPTS_LOCK = 'receipts.lock';
export const RUN_LOCK = 'run.lock';
/** The lists of files that passed. */
export const TREES = 'trees';
const LOCK_MS = 30_000;

export interface ReceiptPlace {
  folder: string;
  owner: 'project' | 'user';
  /** Where the end of the chain is noted a second time, outside the project. */
  anchor: string;
  /** The folder that nothing may lead out of: a project is written by others too. */
  inside?: string | undefined;
  /** Where the chain may have begun, or have been continued, before the project had its place. */
  also?: Pick<ReceiptPlace, 'folder' | 'inside'> | undefined;
}

export async function receiptPlace(kit: Kit): Promise<ReceiptPlace> {
  const [first, other] = placesOf(kit, 'receipts').map((place) => ({
    folder: folderAt(place),
    owner: place.owner,
    inside: place.owner === 'project' ? place.base : undefined,
  }));
  const anchor = folderAt(kit.places.receipts.user);
  const place: ReceiptPlace = { folder: anchor, owner: 'user', ...first, anchor, also: other };
  if (place.owner === 'user') return place;
  const path = kit.places.receipts.project.path;
  const stray = await strayRefusal(kit.root, `${path}/${TREES}`, 'receipts are not kept there');
  if (stray !== undefined) throw stray;
  // Asked before a program runs whose verdict could not be kept.
  for (const name of [LOG, RECEIPTS_LOCK, RUN_LOCK])
    if (await isLink(join(place.folder, name)))
      throw new BmadError('forbidden', `${join(path, name)} is a link and is not used.`, {
        reason: 'outside',
        subject: join(place.folder, name),
        hint: 'Remove the link: receipts are kept inside the project only.',
      });
  return place;
}

/** Makes the folder; in a project, with a note to git that nothing in it is for others: two clones have two chains. */
export async function preparePlace({ folder, owner, inside }: ReceiptPlace): Promise<void> {
  await ensureFolder(folder, inside);
  if (owner === 'project') await writeOnce(join(folder, '.gitignore'), '*\n', inside);
  await sweepDrafts(join(folder, TREES), inside);
}

/** What the user's own state says of the chain: its end, and since when it was written here without a gap. */
export interface Anchor extends Link {
  from: number;
  /** What was about to be added: where it is in the file, it was written here, even if that could not be noted. */
  next?: Link;
}

/** The end of the chain as it was noted outside; nothing when it was never noted. */
export async function anchorOf({ anchor }: ReceiptPlace): Promise<Anchor | undefined> {
  const bytes = await readStateBytes(join(anchor, HEAD)).catch(() => undefined);
  const { seq, hash, from, next } = (jsonObject(bytes?.toString('utf8') ?? '') ?? {}) as Partial<Anchor>;
  if (!isCount(seq) || typeof hash !== 'string') return undefined;
  // Earlier versions noted the end alone, which says nothing about what came before it.
  const since = isCount(from) ? from : seq;
  return { seq, hash, from: since, ...(isCount(next?.seq) && typeof next.hash === 'string' ? { next } : {}) };
}

/** Whether a receipt was written here, as far as the user's own state knows; what a project brings along proves nothing. */
export function isFromHere({ seq }: Pick<Receipt, 'seq'>, anchor: Anchor | undefined): boolean {
  return anchor !== undefined && seq >= anchor.from && seq <= anchor.seq;
}

export async function readReceipts(place: ReceiptPlace, onLine: (line: string) => void): Promise<void> {
  const other = place.also === undefined ? [] : await linesIn(place.also).catch(ours(() => []));
  if (other.length === 0) await readLines(place, onLine);
  else oneChain(await linesIn(place), other).forEach(onLine);
}

type LogFolder = Pick<ReceiptPlace, 'folder' | 'inside'>;

async function readLines({ folder, inside }: LogFolder, onLine: (line: string) => void): Promise<void> {
  await readLog(join(folder, LOG), undefined, () => undefined, onLine, inside);
}

export async function linesIn(place: LogFolder): Promise<string[]> {
  const lines: string[] = [];
  await readLines(place, (line) => lines.push(line));
  return lines;
}

/** Two files of which one continues the other are one chain; otherwise the one in use is the only one. */
export function oneChain(own: readonly string[], other: readonly string[]): readonly string[] {
  if (follows(own[0], other.at(-1))) return [...other, ...own];
  return follows(other[0], own.at(-1)) ? [...own, ...other] : own;
}

function follows(first: string | undefined, last: string | undefined): boolean {
  if (first === undefined || last === undefined) return true;
  const link = opened(last)?.receipt.hash;
  return link !== undefined && opened(first)?.receipt.previous === link;
}

/** Adds a verdict to the end of the chain: one process at a time, on the disk before anybody hears of it. */
export async function addReceipt(
  place: ReceiptPlace,
  body: ReceiptBody,
  signal?: AbortSignal,
): Promise<{ receipt: Receipt; notes: string[] }> {
  await preparePlace(place);
  const options = { waitMs: LOCK_MS, signal, inside: place.inside };
  return withLock(join(place.folder, RECEIPTS_LOCK), options, async () => {
    const noted = await anchorOf(place);
    const last = await lastLink(place, noted);
    const { receipt, line } = sealed(body, last);
    const notes: string[] = [];
    // What the project's file holds beyond the note was not written here.
    const goesOn = [noted, noted?.next].some((link) => link?.seq === last.seq && link.hash === last.hash);
    const from = noted !== undefined && goesOn ? noted.from : receipt.seq;
    const { seq, hash } = receipt;
    // Said before it is done: a crash between the two files must not cost the proof of all that came before.
    if (goesOn) await noteEnd(place, { ...last, from, next: { seq, hash } }).catch(ours(() => undefined));
    await appendLog(join(place.folder, LOG), [line], place.inside);
    await noteEnd(place, { seq, hash, from }).catch(
      ours(({ message }) => {
        notes.push(`The end of the chain could not be recorded outside the project: ${message}`);
      }),
    );
    return { receipt, notes };
  });
}

async function noteEnd({ anchor }: ReceiptPlace, end: Anchor): Promise<void> {
  await writeAtomic(join(anchor, HEAD), `${JSON.stringify(end)}\n`);
}

/**
 * What a new receipt follows: the last one that can be read, whatever was done to it. Where receipts are missing at the
 * end, the note outside tells, and the gap stays to be seen.
 */
async function lastLink(place: ReceiptPlace, noted: Link | undefined): Promise<Link> {
  let last = await linkAtEnd(place);
  if (last === undefined) {
    last = { seq: 0, hash: ORIGIN };
    await readReceipts(place, (line) => (last = linkIn(line) ?? last));
  }
  return noted !== undefined && noted.seq > last.seq ? noted : last;
}

/** More than a few receipts have. */
const END_BYTES = 256 * 1024;

/** The last one that can be read, where there is one file and its end has one: of thousands, no other is read for it. */
async function linkAtEnd({ folder, inside, also }: ReceiptPlace): Promise<Link | undefined> {
  const other =
    also === undefined ? [] : await lastLines(join(also.folder, LOG), 1, also.inside).catch(ours(() => []));
  if (also !== undefined && other !== undefined) return undefined;
  const lines = (await lastLines(join(folder, LOG), END_BYTES, inside)) ?? [];
  for (const line of lines.toReversed()) {
    const link = linkIn(line);
    if (link !== undefined) return link;
  }
  return undefined;
}

function linkIn(line: string): Link | undefined {
  const { seq, hash } = opened(line)?.receipt ?? newerLink(line) ?? {};
  return seq === undefined || hash === undefined ? undefined : { seq, hash };
}

/** One verdict, with all that says what it was about. `hash` covers everything before it, `previous` is the one before. */
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

/** Makes a receipt of a verdict: the line that is written, to the byte. */
export function sealed(body: ReceiptBody, last: Link): { receipt: Receipt; line: string } {
  const seq = last.seq + 1;
  const id = `cc-${String(seq).padStart(6, '0')}`;
  const open = { version: VERSION, seq, id, previous: last.hash, ...body };
  const receipt = { ...open, hash: sha256(JSON.stringify(open)) };
  return { receipt, line: JSON.stringify(receipt) };
}

/**
 * Reads a line. It counts only as it was written, to the byte: the same values in another spelling are a change too, and
 * so is a byte that is no text.
 */
export function opened(line: string): { receipt: Receipt; intact: boolean } | undefined {
  const value = jsonIn(line);
  if (!isReceipt(value)) return undefined;
  const { hash, ...open } = value;
  const intact = JSON.stringify({ ...open, hash }) === line && sha256(JSON.stringify(open)) === hash;
  return { receipt: value, intact };
}

/** What a receipt of a later version of this server says about its place: its number is taken all the same. */
export function newerLink(line: string): Link | undefined {
  const { version, seq, hash } = jsonObject(line) ?? {};
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

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
