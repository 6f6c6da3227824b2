import { plural } from '../../base/text.ts';
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
  /** The last PASS on the very files that are here, which need not be the last of all. */
  passedHere: Receipt | undefined;
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
      passedHere: undefined,
      proven: false,
      tree: 'unknown',
      changes: [],
      changesKnown: true,
      contract: 'unknown',
      notes: [],
    };
  const now = await tree();
  const here = intact.filter(({ tree: then }) => then.digest === now.digest);
  const passes = here.filter(({ status }) => status === 'PASS');
  // Files that came back to what they were are as proven as they were then, if the contract is the one of then.
  const passedHere = passes.findLast((receipt) => sameContract(receipt.contract, contract)) ?? passes.at(-1);
  const same = passedHere !== undefined;
  const before = same ? now.list : await keptList(place.folder, lastPass.tree.digest);
  const contractNow = sameContract((passedHere ?? lastPass).contract, contract) ? 'same' : 'changed';
  const failed = here
    .slice(passedHere === undefined ? 0 : here.indexOf(passedHere) + 1)
    .findLast(({ status }) => status === 'FAIL');
  return {
    ...base,
    passedHere,
    proven: chain === 'whole' && same && contractNow === 'same' && failed === undefined,
    tree: same ? 'same' : 'changed',
    changes: before === undefined ? [] : treeChanges(before, now.list),
    changesKnown: before !== undefined,
    contract: contractNow,
    notes: [
      ...(failed === undefined
        ? []
        : [
            same
              ? `They have failed since (${failed.id}): ${failed.reason}`
              : `As they are now they have failed (${failed.id}): ${failed.reason}`,
          ]),
      ...(now.leftOut === 0
        ? []
        : [
            `${plural(now.leftOut, 'file is', 'files are')} too large or too many and ${now.leftOut === 1 ? 'was' : 'were'} not compared.`,
          ]),
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
