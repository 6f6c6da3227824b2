import { ChainCheck, type ChainProblem, type ChainReport } from './chain.ts';
import type { Receipt } from './receipt.ts';
import { anchorOf, readReceipts, type ReceiptPlace } from './receipts.ts';
import { keptList, treeChanges, type Tree, type TreeChange } from './tree.ts';

export interface Verification {
  /** Whether the project as it is now is the one that passed, and the receipts say so unchanged. */
  proven: boolean;
  chain: 'whole' | 'broken' | 'empty';
  receipts: number;
  problems: ChainProblem[];
  lastPass: Receipt | undefined;
  newest: Receipt | undefined;
  tree: 'same' | 'changed' | 'unknown';
  /** Which files are different since, as far as the list of then is still there. */
  changes: TreeChange[];
  changesKnown: boolean;
  contract: 'same' | 'changed' | 'unknown';
  notes: string[];
  place: ReceiptPlace;
}

export interface VerifySetup {
  place: ReceiptPlace;
  /** The contract as it is now. */
  contract: Receipt['contract'];
  tree(): Promise<Tree>;
}

/** Reads and checks the whole chain. */
export async function readChain(place: ReceiptPlace): Promise<ChainReport> {
  const check = new ChainCheck();
  const noted = await anchorOf(place);
  await readReceipts(place, (line) => check.line(line));
  return check.finish(noted);
}

/** Whether the receipts are as they were written, and whether what the last PASS was about is still there. */
export async function verifyReceipts({ place, contract, tree }: VerifySetup): Promise<Verification> {
  const { lines, intact, problems } = await readChain(place);
  const lastPass = intact.findLast(({ status }) => status === 'PASS');
  const newest = intact.at(-1);
  const chain = problems.length > 0 ? 'broken' : lines === 0 ? 'empty' : 'whole';
  const base = { chain, receipts: lines, problems, lastPass, newest, place } as const;
  if (lastPass === undefined)
    return {
      ...base,
      proven: false,
      tree: 'unknown',
      changes: [],
      changesKnown: true,
      contract: 'unknown',
      notes: [],
    };
  const now = await tree();
  const same = now.digest === lastPass.tree.digest;
  const before = same ? now.list : await keptList(place.folder, lastPass.tree.digest);
  const contractNow = sameContract(lastPass.contract, contract) ? 'same' : 'changed';
  const failedSince = intact
    .slice(intact.indexOf(lastPass) + 1)
    .find(({ status, tree: then }) => status === 'FAIL' && then.digest === now.digest);
  return {
    ...base,
    proven: chain === 'whole' && same && contractNow === 'same' && failedSince === undefined,
    tree: same ? 'same' : 'changed',
    changes: before === undefined ? [] : treeChanges(before, now.list),
    changesKnown: before !== undefined,
    contract: contractNow,
    notes: [
      ...(failedSince === undefined
        ? []
        : [`The same files have failed since (${failedSince.id}): ${failedSince.reason}`]),
      ...(now.leftOut === 0 ? [] : [`${now.leftOut} files are too large or too many and were not compared.`]),
    ],
  };
}

function sameContract(then: Receipt['contract'], now: Receipt['contract']): boolean {
  return (
    then.kind === now.kind &&
    then.path === now.path &&
    then.sha256 === now.sha256 &&
    then.version === now.version
  );
}
