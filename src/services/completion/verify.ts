import { fileMark } from '../../base/files/file-tree.ts';
import { type FileStamp, fileStamps } from '../../base/files/file-stamps.ts';
import { plural, t } from '../../base/text/message.ts';
import { type Chain, type ChainProblem, findLatest, type Receipt, type ReceiptPlace } from './receipts.ts';
import type { Environment } from './run.ts';
import {
  entries,
  keptList,
  type LeftOut,
  projectFiles,
  type Tree,
  type TreeChange,
  treeChanges,
  treeOf,
} from './tree.ts';

export interface Verification {
  /** Whether the project as it is now is the one that passed, and receipts that were written here say so unchanged. */
  proven: boolean;
  /** `not_proven_here`: receipts say so that were not written here, as far as the user's own state knows. */
  verdict: 'proven' | 'not_proven' | 'not_proven_here';
  /** The receipt that claims it. */
  claimed: Receipt | undefined;
  chain: 'whole' | 'broken' | 'empty';
  receipts: number;
  problems: ChainProblem[];
  /** Of the whole project, or of a part where the whole has never passed. */
  lastPass: Receipt | undefined;
  /** The last PASS on the very files that are here, which need not be the last of all. */
  passedHere: Receipt | undefined;
  newest: Receipt | undefined;
  tree: 'same' | 'changed' | 'unknown';
  /** Which files are different since, as far as the list of then is still there. */
  changes: TreeChange[];
  changesKnown: boolean;
  contract: 'same' | 'changed' | 'unknown';
  /** Parts that have passed as they are now, where the project is not proven: they say nothing about the rest. */
  provenFor: (Scope & { receipt: string })[];
  notes: string[];
  place: ReceiptPlace;
}

/** What a verdict was about: a folder, and all that was found there or one stack of it. */
interface Scope {
  directory: string;
  stack: string;
}

/**
 * Whether the receipts are as they were written here, and whether what has passed is still there. Anybody can write a chain
 * that is whole, so a PASS that was not written here proves nothing; a failure counts wherever it comes from. The contract is
 * the one of now.
 */
export async function verifyReceipts(
  place: ReceiptPlace,
  { count, intact, problems, fromHere }: Chain,
  contract: Receipt['contract'],
  tree: () => Promise<Tree>,
): Promise<Verification> {
  const chain: Verification['chain'] = problems.length > 0 ? 'broken' : count === 0 ? 'empty' : 'whole';
  const base = { chain, receipts: count, problems, newest: intact.at(-1), place } as const;
  const isForeign = (receipt: Receipt): boolean => receipt.status === 'PASS' && !fromHere(receipt);
  const foreign = intact.filter(isForeign);
  if (!intact.some(({ status }) => status === 'PASS'))
    return { ...base, ...NOTHING_PASSED, verdict: 'not_proven', claimed: undefined };
  const now: Present = { tree: await tree(), contract, chain, place };
  const own = await judged(
    intact.filter((receipt) => !isForeign(receipt)),
    now,
  );
  // The receipt that would prove it if it came from here; where nothing came from here, the last that claims anything.
  const would = own.proven || foreign.length === 0 ? undefined : await judged(intact, now);
  const claimed =
    would?.proven === true ? would.passedHere : intact.some(fromHere) ? undefined : foreign.at(-1);
  const verdict = own.proven
    ? 'proven'
    : would !== undefined && claimed !== undefined
      ? 'not_proven_here'
      : 'not_proven';
  return { ...base, ...own, verdict, claimed };
}

type Judged = Pick<
  Verification,
  | 'proven'
  | 'lastPass'
  | 'passedHere'
  | 'tree'
  | 'changes'
  | 'changesKnown'
  | 'contract'
  | 'provenFor'
  | 'notes'
>;

const NOTHING_PASSED: Judged = {
  proven: false,
  lastPass: undefined,
  passedHere: undefined,
  tree: 'unknown',
  changes: [],
  changesKnown: true,
  contract: 'unknown',
  provenFor: [],
  notes: [],
};

interface Present {
  tree: Tree;
  contract: Receipt['contract'];
  chain: Verification['chain'];
  place: ReceiptPlace;
}

/**
 * What these receipts say about the project as it is. Only a PASS of the whole project is one of the project, and a failure
 * of any part of it since takes that back.
 */
async function judged(receipts: readonly Receipt[], present: Present): Promise<Judged> {
  const { tree: now, contract, chain, place } = present;
  const passes = passesIn(receipts);
  const lastPass = passes.at(-1);
  if (lastPass === undefined) return NOTHING_PASSED;
  const isHere = ({ tree: then }: Receipt): boolean => then.digest === now.digest;
  const isCurrent = ({ contract: then }: Receipt): boolean => isSameContract(then, contract);
  const here = passes.filter(isHere);
  // Files that came back to what they were are as proven as they were then, if the contract is the one of then.
  const passedHere = here.findLast(isCurrent) ?? here.at(-1);
  const same = passedHere !== undefined;
  const before = same ? now.list : await keptList(place, lastPass.tree.digest);
  const contractNow = isCurrent(passedHere ?? lastPass) ? 'same' : 'changed';
  const wholePass = passedHere !== undefined && isWhole(passedHere) ? passedHere : undefined;
  const since = receipts.slice(wholePass === undefined ? 0 : receipts.indexOf(wholePass)).filter(isHere);
  const standing = standingVerdicts(since);
  const failures = standing.filter(({ status }) => status === 'FAIL');
  // What nobody has read may be anything, now or then.
  const isRead = now.unread + (passedHere?.tree.left_out ?? 0) === 0;
  const proven =
    isRead && chain === 'whole' && wholePass !== undefined && contractNow === 'same' && failures.length === 0;
  const parts =
    proven || chain === 'broken' || !isRead
      ? []
      : standing.filter((receipt) => receipt.status === 'PASS' && !isWhole(receipt) && isCurrent(receipt));
  return {
    lastPass,
    passedHere,
    proven,
    tree: !same ? 'changed' : isRead ? 'same' : 'unknown',
    changes: before === undefined ? [] : treeChanges(before, now.list),
    changesKnown: before !== undefined,
    contract: contractNow,
    provenFor: parts.map(({ directory, stack, id }) => ({ directory, stack, receipt: id })),
    notes: [
      ...failures.map((failed) => {
        const what = wholePass === undefined ? t`The current files failed` : t`They have since failed`;
        const scope = isWhole(failed) && isWhole(lastPass) ? '' : t` for ${scopeText(failed)}`;
        return `${what}${scope} (${failed.id}): ${failed.reason}`;
      }),
      ...(isRead
        ? []
        : [t`${plural(Math.max(now.unread, 1), 'file')} could not be read, so nothing is proven.`]),
    ],
  };
}

/** Those that passed: of the whole project, or of parts where the whole has never passed. */
function passesIn(receipts: readonly Receipt[]): Receipt[] {
  const passed = receipts.filter(({ status }) => status === 'PASS');
  const ofAll = passed.filter(isWhole);
  return ofAll.length > 0 ? ofAll : passed;
}

function isSameContract(then: Receipt['contract'], now: Receipt['contract']): boolean {
  return (['kind', 'path', 'sha256', 'version'] as const).every((key) => then[key] === now[key]);
}

/** What was found last about each scope. */
function standingVerdicts(receipts: readonly Receipt[]): Receipt[] {
  const standing = new Map<string, Receipt>();
  for (const receipt of receipts)
    if (receipt.status !== 'NOT_VERIFIED')
      standing.set(JSON.stringify([receipt.directory, receipt.stack]), receipt);
  return [...standing.values()].toSorted((a, b) => a.seq - b.seq);
}

function isWhole({ directory, stack }: Scope): boolean {
  return directory === '.' && stack === 'auto';
}

function scopeText({ directory, stack }: Scope): string {
  const where = directory === '.' ? t`the whole project` : directory;
  return stack === 'auto' ? where : `${where}, stack ${stack}`;
}

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
  const files = await (await projectFiles(root, leftOut, env, signal)).list();
  const tooMany = files.paths.length > MOST_STAMPS;
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
