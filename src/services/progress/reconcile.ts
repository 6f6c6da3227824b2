import { t } from '../../base/text/message.ts';
import { sha256 } from '../../base/sha256.ts';
import { BmadError } from '../../base/errors.ts';
import { diffOf, edited, stamp, whileLocked, writeTogether, type Writing } from './clerk.ts';
import { isLowered, proposals, type Change, type LedgerProposal } from './proposal.ts';
import { readReport, type Report } from './report.ts';
import { isBroken, readSprintLedger } from './sprint-ledger.ts';

export interface Reconciled {
  /** Stands for the ledgers as they are and the changes that were found; applying may be bound to it. */
  proposal: string;
  ledgers: { file: string; changes: Change[]; diff: string }[];
  applied: boolean;
  report: Report;
}

/** Proposes changes of the ledgers, or makes them. What is written is what was proposed, or nothing at all. */
export async function reconcile(
  root: string,
  { apply, proposal: wanted, now }: { apply: boolean; proposal: string | undefined; now: Date },
  /** What is written goes by the files as they are at this moment. */
  read: () => Promise<Report> = () => readReport(root),
): Promise<Reconciled> {
  const report = await read();
  const found = proposals(report);
  const proposal = proposalId(found);
  if (wanted !== undefined && wanted !== proposal)
    throw new BmadError(
      'conflict',
      t`The ledgers or the files have changed since that proposal; nothing was written.`,
      {
        subject: wanted.slice(0, 100),
        hint: t`Ask for the changes again without "apply", review them, and use the new proposal.`,
      },
    );
  const writings = found.map((ledger) => {
    const { file, text: before } = ledger;
    const edits = [...ledger.changes.map(({ edit }) => edit), ...stamp(report.sprint, file, now)];
    return { file, before, after: edited(before, edits) };
  });
  if (apply) {
    for (const { file, before, after } of writings) refuseLoss(file, before, after);
    await whileLocked(
      root,
      writings.map(({ file }) => file),
      () => writeTogether(root, writings),
    );
  }
  const ledgers = found.map(({ file, changes }, index) => ({
    file,
    changes,
    diff: diffOf(writings[index] as Writing),
  }));
  return { proposal, ledgers, applied: apply && ledgers.length > 0, report };
}

function proposalId(found: readonly LedgerProposal[]): string {
  const parts = found.map(({ file, text, changes }) => [
    file,
    sha256(text),
    changes.map(({ key, to }) => [key, to]),
  ]);
  return sha256(JSON.stringify(parts)).slice(0, 12);
}

/** The last look before writing: every row of before is still there, and none is lower. */
function refuseLoss(file: string, before: string, after: string): void {
  if (!/sprint-status/.test(file)) return;
  const [was, is] = [readSprintLedger(file, before), readSprintLedger(file, after)];
  const seen = new Map<string, number>();
  const lost =
    isBroken(was) || isBroken(is)
      ? file
      : was.rows.find(({ key, kind, word }) => {
          // A key that stands twice is compared with itself, the first with the first.
          const index = seen.get(key) ?? 0;
          seen.set(key, index + 1);
          const row = is.rows.filter((other) => other.key === key)[index];
          return row === undefined || isLowered(kind, word, row.word);
        })?.key;
  if (lost !== undefined) throw new Error(t`the change would lose ${lost}`);
}
