import { join, posix } from 'node:path';
import { hunksOf } from '../../base/text/diff.ts';
import { sha256 } from '../../base/sha256.ts';
import { BmadError } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { replaceShared } from '../../base/files/file-shared.ts';
import { readInside } from '../../base/files/files.ts';
import { isLowered, proposals, replaced, type Change, type Edit, type LedgerProposal } from './proposal.ts';
import { readReport, type Report } from './report.ts';
import { isBroken, readSprintLedger, type SprintLedger } from './sprint-ledger.ts';

const LOCK_WAIT_MS = 10_000;
const MAX_BYTES = 8 * 1024 * 1024;

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
      'The ledgers or the files have changed since that proposal; nothing was written.',
      {
        subject: wanted.slice(0, 100),
        hint: 'Ask for the changes again without "apply", review them, and use the new proposal.',
      },
    );
  const ledgers: Reconciled['ledgers'] = [];
  for (const ledger of found) {
    const edits = [...ledger.changes.map(({ edit }) => edit), ...stamp(report.sprint, ledger, now)];
    const after = edited(ledger.text, edits);
    if (apply) await write(root, ledger, after);
    const { file, changes, text } = ledger;
    ledgers.push({ file, changes, diff: diffOf(file, text, after) });
  }
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

/** Under a lock that every process of ours takes; others do not know it, so the bytes are compared once more. */
async function write(root: string, { file, text }: LedgerProposal, after: string): Promise<void> {
  const lock = join(root, posix.dirname(file), `.${posix.basename(file)}.lock`);
  await withLock(lock, { waitMs: LOCK_WAIT_MS, inside: root }, async () => {
    const now = (await readInside(root, file, MAX_BYTES)).toString('utf8');
    if (now !== text)
      throw new BmadError('conflict', `${file} has changed in the meantime; it was not written.`, {
        subject: file,
        hint: 'Ask for the changes again.',
      });
    refuseLoss(file, now, after);
    await replaceShared(root, file, after);
  });
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
  if (lost !== undefined) throw new Error(`the change would lose ${lost}`);
}

/** BMAD's own tools note when they change the ledger; in the form that is there. */
function stamp(sprint: SprintLedger | undefined, ledger: LedgerProposal, now: Date): Edit[] {
  const pair = sprint?.file === ledger.file ? sprint.lastUpdated : undefined;
  if (pair === undefined) return [];
  const two = (value: number): string => String(value).padStart(2, '0');
  const [year, month, day] = [now.getFullYear(), two(now.getMonth() + 1), two(now.getDate())];
  const time = `${two(now.getHours())}:${two(now.getMinutes())}`;
  const forms: [RegExp, string][] = [
    [/^\d{2}-\d{2}-\d{4} \d{2}:\d{2}$/, `${month}-${day}-${year} ${time}`],
    [/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$/, `${year}-${month}-${day} ${time}`],
    [/^\d{4}-\d{2}-\d{2}$/, `${year}-${month}-${day}`],
  ];
  const form = forms.find(([pattern]) => pattern.test(String(pair.value)))?.[1];
  const edit = form === undefined ? undefined : replaced(pair, form);
  return edit === undefined ? [] : [edit];
}

/** The text with all edits in it; several new rows at one place keep their order. */
function edited(text: string, edits: readonly Edit[]): string {
  let after = '';
  let from = 0;
  // The sort is stable.
  for (const { start, end, text: piece } of edits.toSorted((a, b) => a.start - b.start)) {
    after += text.slice(from, start) + piece;
    from = end;
  }
  return after + text.slice(from);
}

/** Each changed line as it was and as it will be. */
function diffOf(file: string, before: string, after: string): string {
  const hunks = hunksOf(before.replaceAll('\r\n', '\n'), after.replaceAll('\r\n', '\n'), 0);
  const lines = hunks.flatMap(({ oldStart, lines: changed }) => [
    `@@ line ${oldStart} @@`,
    ...changed.filter((line) => !line.startsWith('\\')),
  ]);
  return `${[`--- ${file}`, `+++ ${file}`, ...lines].join('\n')}\n`;
}
