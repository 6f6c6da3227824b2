import { join } from 'node:path';
import { BmadError, ours } from '../../base/errors.ts';
import { sweepDrafts } from '../../base/files/leftovers.ts';
import { lastLines, readLog } from '../../base/files/file-log.ts';
import { readStateBytes, writeOnce } from '../../base/files/file-state.ts';
import { isLink } from '../../base/files/files.ts';
import { jsonIn, jsonObject } from '../../base/parse/json.ts';
import { isTable } from '../../base/parse/parse.ts';
import { plural, t } from '../../base/text/message.ts';
import { localDay } from '../../base/text/text.ts';
import { sha256 } from '../../base/values.ts';
import { folderAt, placesOf, strayPart, strayRefusal } from '../../kit/kit.ts';
import type { LogSetup, ProjectLogs } from '../../kit/project-log.ts';
import { happenedIn, IN_DATABASE, type Log, type PlacedLine, troubleText } from '../../lines/line.ts';
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

export interface ReceiptSetup extends LogSetup {
  logs: ProjectLogs;
}

/** All receipts of a project, wherever they are. */
export const receiptsLog = async (setup: ReceiptSetup): Promise<Log> => (await receiptPlace(setup)).log;

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
    log: logs.at({ folder, inside, also: lines, isPrivate: owner === 'project', only: 'receipt' }, setup),
    written: logs.at({ folder: join(anchor, WRITTEN), isPrivate: false, stays: true }, setup),
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
const OLD_LOG = 'receipts.jsonl';

/** In a project, with a note to git that nothing in it is for others: receipts prove something only here. */
export async function preparePlace({ folder, owner, inside }: ReceiptPlace): Promise<void> {
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
const ORIGIN = '0'.repeat(64);

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
function receiptIn(value: unknown): { receipt: Receipt; intact: boolean } | undefined {
  if (!isReceipt(value)) return undefined;
  const { hash, ...open } = value;
  return { receipt: value, intact: sha256(JSON.stringify(open)) === hash };
}

/** What a receipt of a later version of this server says about its place: its number is taken all the same. */
function newerLink(value: unknown): Link | undefined {
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

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

const NOUN = 'receipt/';
const VERDICT = 'verdict';
const NOTE = 'written';

/** So many are read for all but a check of everything, however many there are; more where these say nothing. */
const LATEST = 100;
const MORE = 1_000;
/** The end of a file of an earlier version has a few hundred. */
const END_BYTES = 256 * 1024;

/** All receipts, each checked; a list of thousands takes its time. */
export async function readChain(place: ReceiptPlace): Promise<Chain> {
  const chain = new ReceiptChain();
  for (const { folder, inside } of placesIn(place))
    await readLog(
      join(folder, OLD_LOG),
      undefined,
      () => undefined,
      (text) => addText(chain, text),
      inside,
    );
  for await (const { lines } of place.log.read(new Map())) for (const each of lines) addLine(chain, each);
  for (const trouble of place.log.troubles()) chain.damaged(troubleText(trouble));
  const links: Link[] = [];
  for await (const { lines } of place.written.read(new Map())) links.push(...lines.flatMap(linksIn));
  return chain.finish({ links, old: await oldNote(place) });
}

/** The latest ones: as many as are asked for, or all where there are fewer. Of what came before, nothing is read. */
export async function readLatest(place: ReceiptPlace, least = LATEST): Promise<Chain> {
  const chain = new ReceiptChain();
  const lines = await place.log.last(least);
  // Lines began where that file ended.
  const rest = least - lines.length;
  if (rest > 0)
    for (const { folder, inside } of placesIn(place))
      for (const text of ((await lastLines(join(folder, OLD_LOG), END_BYTES, inside)) ?? []).slice(-rest))
        addText(chain, text);
  for (const each of lines) addLine(chain, each);
  const links = (await place.written.last(least)).flatMap(linksIn);
  return chain.finish({ links, old: await oldNote(place) }, true);
}

/** The latest, and more of them where none of the first says what is looked for. */
export async function findLatest<T>(
  place: ReceiptPlace,
  find: (chain: Chain) => T | undefined,
): Promise<{ chain: Chain; found: T | undefined }> {
  const chain = await readLatest(place);
  const found = find(chain);
  if (found !== undefined || chain.count <= chain.intact.length) return { chain, found };
  const more = await readLatest(place, MORE);
  return { chain: more, found: find(more) };
}

/** The user's own first: what the project has may continue it. */
const placesIn = ({ folder, inside, also }: ReceiptPlace) => [
  ...(also === undefined ? [] : [also]),
  { folder, inside },
];

/** A line of the file of an earlier version, which counts only as it was written, to the byte. */
function addText(chain: ReceiptChain, text: string): void {
  const value = jsonIn(text);
  chain.add(value, OLD_LOG, { asWritten: JSON.stringify(value) === text });
}

function addLine(chain: ReceiptChain, { line, file }: PlacedLine): void {
  for (const { of, do: verb, data, newer } of happenedIn(line))
    if (of.startsWith(NOUN) && verb === VERDICT) chain.add(data, file, { newer });
}

function linksIn({ line }: PlacedLine): Link[] {
  return line.events.flatMap(({ of, do: verb, data: { seq, hash } }) =>
    of.startsWith(NOUN) && verb === NOTE && isCount(seq) && typeof hash === 'string' ? [{ seq, hash }] : [],
  );
}

/** The end of the chain as an earlier version noted it; nothing when it never did. */
async function oldNote({ anchor }: ReceiptPlace): Promise<OldNote | undefined> {
  const bytes = await readStateBytes(join(anchor, 'head.json')).catch(() => undefined);
  const { seq, hash, from, next } = (jsonObject(bytes?.toString('utf8') ?? '') ?? {}) as Partial<OldNote>;
  if (!isCount(seq) || typeof hash !== 'string') return undefined;
  // The first versions noted the end alone, which says nothing about what came before it.
  const since = isCount(from) ? from : seq;
  return { seq, hash, from: since, ...(isCount(next?.seq) && typeof next.hash === 'string' ? { next } : {}) };
}

/**
 * Writes a verdict after all that are there, then notes that it was written here. Nobody waits for anybody: two that are
 * written at the same moment follow the same ones, and the next follows both. A crash between the two leaves a receipt that
 * proves nothing, and all others as they were.
 */
export async function addReceipt(
  place: ReceiptPlace,
  body: ReceiptBody,
): Promise<{ receipt: Receipt; file: string; notes: string[] }> {
  await preparePlace(place);
  const receipt = sealed(body, (await readLatest(place)).heads);
  const { seq, hash } = receipt;
  const of = NOUN + hash.slice(0, 16);
  const done = await place.log.append([{ of, after: [], do: VERDICT, data: { ...receipt } }]);
  const notes: string[] = [];
  await place.written.append([{ of, after: [], do: NOTE, data: { seq, hash } }]).catch(
    ours(({ message }) => {
      notes.push(t`What was written could not be recorded outside the project: ${message}`);
      return undefined;
    }),
  );
  return {
    receipt,
    file: 'file' in done && done.file !== IN_DATABASE ? join(place.folder, done.file) : place.folder,
    notes,
  };
}

export interface ChainProblem {
  kind: 'changed' | 'damaged' | 'removed' | 'order' | 'newer';
  message: string;
}

/** What the user's own state says was written here. */
interface Noted {
  links: readonly Link[];
  /** Of an earlier version: the end of its chain, and since when that was written here without a gap. */
  old?: OldNote | undefined;
}

interface OldNote extends Link {
  from: number;
  /** What was about to be added: where it is there, it was written here, even if that could not be noted. */
  next?: Link;
}

export interface Chain {
  /** How many receipts there are; where only the latest were read, the number of the newest. */
  count: number;
  /** Receipts that are as they were written, in their order. */
  intact: Receipt[];
  problems: ChainProblem[];
  /** Those that no other one follows: the next one names them all. */
  heads: Link[];
  /** Whether it was written here, as the user's own state has it: what a project brings along proves nothing. */
  fromHere(receipt: Pick<Receipt, 'hash'>): boolean;
}

interface Node extends Link {
  /** Nothing for one of a newer version, which cannot be checked. */
  id?: string;
  previous: readonly string[];
}

const MOST_PROBLEMS = 50;
/** Of all receipts only the newest are handed on; older ones are checked all the same. */
const KEPT = 1_000;

const inTheirOrder = (one: Receipt, other: Receipt): number =>
  one.seq - other.seq ||
  (one.started === other.started ? (one.hash < other.hash ? -1 : 1) : one.started < other.started ? -1 : 1);

/**
 * Checks receipts in whatever order they are read: each against its own hash, and against those that it names as the ones
 * before. Each process has a chain of its own, and its first receipt names the ends of those that were there.
 */
export class ReceiptChain {
  #intact = new Map<string, Receipt>();
  readonly #nodes = new Map<string, Node>();
  readonly #problems: ChainProblem[] = [];
  /** The number of the last one in each file, in which they only rise. */
  readonly #last = new Map<string, number>();

  /** A receipt of a file; `asWritten` is false where its text has another spelling than the one that is written. */
  add(value: unknown, file: string, { asWritten = true, newer = false } = {}): void {
    const read = newer ? undefined : receiptIn(value);
    const link = read?.receipt ?? newerLink(value);
    if (link === undefined)
      return this.#problem(
        'damaged',
        t`${file} has a line that is not a valid receipt: it was edited or truncated.`,
      );
    const { seq, hash } = link;
    const known = this.#nodes.get(hash);
    const before = this.#last.get(file) ?? 0;
    this.#last.set(file, seq);
    if (read === undefined) {
      if (known === undefined || known.seq < seq) this.#nodes.set(hash, { seq, hash, previous: [] });
      return this.#problem(
        'newer',
        t`${file}: number ${seq} was written by a newer version of this server and cannot be checked by this one.`,
      );
    }
    const { receipt, intact } = read;
    if (!intact || !asWritten)
      this.#problem('changed', t`${file}: ${receipt.id} was changed after it was written.`);
    // In a database, several machines write at once, in the order that it has.
    if (seq <= before && file !== IN_DATABASE)
      this.#problem(
        'order',
        t`${file}: ${receipt.id} does not come after number ${before}: receipts were moved or copied.`,
      );
    if (known !== undefined) return;
    const previous = receipt.previous === ORIGIN ? [] : receipt.previous.split(' ');
    this.#nodes.set(hash, { seq, hash, id: receipt.id, previous });
    if (!intact || !asWritten) return;
    this.#intact.set(hash, receipt);
    if (this.#intact.size > KEPT * 2) this.#intact = new Map(this.#newest().map((each) => [each.hash, each]));
  }

  damaged(message: string): void {
    this.#problem('damaged', message);
  }

  /** With `latest`, older ones were not read, and nobody knows whether they are there. */
  finish({ links, old }: Noted, latest = false): Chain {
    const here = new Set(links.map(({ hash }) => hash));
    if (old !== undefined) this.#addOld(old, here);
    const noted = old === undefined ? links : [...links, old];
    const nodes = [...this.#nodes.values()];
    const isWhole = nodes.every(({ previous }) => previous.every((hash) => this.#nodes.has(hash)));
    const lowest = isWhole || !latest ? 0 : nodes.reduce((least, { seq }) => Math.min(least, seq), Infinity);
    const known = noted.filter(({ seq }) => seq > lowest);
    this.#compare(known, latest);
    return {
      count: isWhole || !latest ? nodes.length : nodes.reduce((most, { seq }) => Math.max(most, seq), 0),
      intact: this.#newest(),
      problems: this.#problems,
      heads: this.#heads(known),
      fromHere: ({ hash }) => here.has(hash),
    };
  }

  #newest(): Receipt[] {
    return [...this.#intact.values()].sort(inTheirOrder).slice(-KEPT);
  }

  /** What is missing counts as well: its number is never given again, and the gap stays to be seen. */
  #heads(noted: readonly Link[]): Link[] {
    const all = new Map<string, Link>(noted.map((link) => [link.hash, link]));
    for (const node of this.#nodes.values()) all.set(node.hash, node);
    for (const { previous } of this.#nodes.values()) for (const hash of previous) all.delete(hash);
    return [...all.values()].map(({ seq, hash }) => ({ seq, hash }));
  }

  /** All that the end of an earlier version's chain follows. */
  #addOld({ hash, from, next }: OldNote, here: Set<string>): void {
    const open = [hash, ...(next === undefined ? [] : [next.hash])];
    for (let each = open.pop(); each !== undefined; each = open.pop()) {
      const node = this.#nodes.get(each);
      if (node === undefined || node.seq < from || here.has(each)) continue;
      here.add(each);
      open.push(...node.previous);
    }
  }

  /** Each one against those it follows, and what was noted against what is there. */
  #compare(noted: readonly Link[], latest: boolean): void {
    const numbers = new Set([...this.#nodes.values()].map(({ seq }) => seq));
    const named = new Set<string>();
    for (const { id, seq, previous } of this.#nodes.values()) {
      if (id === undefined) continue;
      const before = previous.map((hash) => this.#nodes.get(hash));
      if (before.includes(undefined)) {
        for (const hash of previous) named.add(hash);
        if (latest) continue;
        if (numbers.has(seq - 1))
          this.#problem('changed', t`${id} does not follow the receipt before it: one of them was replaced.`);
        else this.#problem('removed', t`${id} follows number ${seq - 1}: receipts were removed before it.`);
      } else if (seq !== 1 + before.reduce((most, node) => Math.max(most, node?.seq ?? 0), 0))
        this.#problem('order', t`${id} has a number that does not follow those before it.`);
    }
    const missing = noted.filter(({ hash }) => !this.#nodes.has(hash) && !named.has(hash));
    const replaced = missing.filter(({ seq }) => numbers.has(seq));
    const last = replaced.at(-1);
    if (last !== undefined)
      this.#problem(
        'changed',
        t`Receipt number ${last.seq} differs from the one recorded outside the project when it was written.`,
      );
    const gone = missing.filter(({ seq }) => !numbers.has(seq));
    if (gone.length > 0)
      this.#problem(
        'removed',
        t`${plural(gone.length, 'receipt is', 'receipts are')} missing: the last one written was number ${Math.max(...gone.map(({ seq }) => seq))}.`,
      );
  }

  #problem(kind: ChainProblem['kind'], message: string): void {
    if (this.#problems.length < MOST_PROBLEMS) this.#problems.push({ kind, message });
  }
}
