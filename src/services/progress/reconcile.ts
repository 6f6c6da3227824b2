import { placed } from '../../base/text/text.ts';
import { sha256 } from '../../base/values.ts';
import { BmadError } from '../../base/errors.ts';
import { t } from '../../base/text/message.ts';
import type { Epic, Report, Story } from './found.ts';
import { isBroken, readSprintLedger, type Row, type SprintLedger } from './ledgers.ts';
import { readReport } from './report.ts';
import { rankOf, type RowKind } from './rules.ts';
import { fileEvidence, isDisputed, rank } from './stories.ts';
import {
  diffOf,
  type Edit,
  edited,
  replaced,
  stamp,
  whileLocked,
  writeTogether,
  type Writing,
} from './writes.ts';

interface Reconciled {
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

/** One change of a ledger, with what proves it. */
export interface Change {
  key: string;
  /** The word that stands there; nothing for a row that is new. */
  from: string | undefined;
  to: string;
  why: string;
  line: number;
  edit: Edit;
}

interface LedgerProposal {
  file: string;
  /** The text that the changes are for. */
  text: string;
  changes: Change[];
}

/**
 * What the files prove and the ledgers do not have. A status is only ever raised; what cannot be ranked, stands twice, or
 * cannot be edited in its place is left to people. A broken ledger gets no proposal.
 */
export function proposals(report: Report): LedgerProposal[] {
  return [sprintProposal(report), workflowProposal(report)].flatMap((proposal) =>
    proposal === undefined || proposal.changes.length === 0 ? [] : [proposal],
  );
}

function sprintProposal({ sprint, stories, epics, files }: Report): LedgerProposal | undefined {
  if (sprint === undefined) return undefined;
  const twice = new Set(sprint.duplicates.map(({ key }) => key));
  const raised = new Map<Story, string>();
  const changes: Change[] = [];
  const raise = (row: Row, to: string, why: string): boolean => {
    const change = twice.has(row.key) ? undefined : raisedRow(row, to, why);
    if (change !== undefined) changes.push(change);
    return change !== undefined;
  };
  const respell = (row: Row): void => {
    if (row.means !== undefined && row.means !== row.word)
      raise(row, row.means, t`this ledger writes "${row.word}" as ${row.means}`);
  };
  for (const story of stories) {
    const { row, file } = story;
    if (row === undefined) continue;
    const to = ledgerWord(story, sprint);
    if (to !== undefined && file !== undefined && raise(row, to, proofOf(file))) raised.set(story, to);
    else respell(row);
  }
  const inserted = newRows(sprint, stories, twice);
  changes.push(...inserted.changes);
  for (const [story, word] of inserted.stories) raised.set(story, word);
  for (const epic of epics) {
    const { row, retrospective } = epic;
    if (row !== undefined) {
      const to = sprint.contexts ? undefined : epicWord(epic, raised);
      if (to === undefined || !raise(row, to.word, to.why)) respell(row);
    }
    const held = files.retrospectives.find((retro) => retro.epic === epic.epic && retro.written);
    if (retrospective !== undefined && held !== undefined)
      raise(retrospective, sprint.contexts ? 'completed' : 'done', t`${held.file} exists`);
  }
  changes.sort((a, b) => a.edit.start - b.edit.start || a.line - b.line);
  return { file: sprint.file, text: sprint.text, changes };
}

/** The change of a row to a word that is further along; nothing when it is not, or cannot be told. */
function raisedRow(row: Row, to: string, why: string): Change | undefined {
  const now = row.means === undefined ? undefined : rankOf(row.kind, row.means);
  const next = rankOf(row.kind, to);
  // A row without a word has nothing that could be lowered; a word that is not understood may be further than it looks.
  const isRaise =
    row.word === ''
      ? next !== undefined
      : now !== undefined && next !== undefined && (next > now || (next === now && row.word !== row.means));
  if (!isRaise) return undefined;
  const edit = replaced(row.pair, to);
  return edit === undefined ? undefined : { key: row.key, from: row.word, to, why, line: row.line, edit };
}

/** What the file of a story proves, in the words of the ledger; a file that is there has at least been prepared. */
function ledgerWord({ row, proven }: Story, { drafts }: SprintLedger): string | undefined {
  if (proven === undefined || rank(proven) <= rank('backlog')) return undefined;
  if (proven === 'drafted' && !drafts)
    return row === undefined || row.means === 'backlog' || row.word === '' ? 'ready-for-dev' : undefined;
  return proven;
}

function proofOf(file: NonNullable<Story['file']>): string {
  const evidence = fileEvidence(file);
  return t`${placed(evidence)} says ${evidence.says}`;
}

/** What the stories of an epic prove about it, with the words that their rows are to have. */
function epicWord(
  { epic, row, stories }: Epic,
  raised: ReadonlyMap<Story, string>,
): { word: string; why: string } | undefined {
  const words = stories.map(
    (story) =>
      raised.get(story) ??
      (story.row === undefined
        ? 'backlog'
        : // Both agree on this much.
          isDisputed(story)
          ? story.proven
          : story.row.means),
  );
  if (words.length === 0 || words.includes(undefined)) return undefined;
  if (words.every((word) => word === 'done'))
    return {
      word: 'done',
      why:
        words.length === 1
          ? t`the one story of epic ${epic} is done`
          : t`all ${words.length} stories of epic ${epic} are done`,
    };
  const begun = words.some((word) => word !== 'backlog' && word !== 'drafted');
  return begun && (row?.means === 'backlog' || row?.word === '')
    ? { word: 'in-progress', why: t`stories of epic ${epic} have been started` }
    : undefined;
}

/** Rows for story files that have none, behind the last row of their epic, indented like it. */
function newRows(
  sprint: SprintLedger,
  stories: readonly Story[],
  twice: ReadonlySet<string>,
): { changes: Change[]; stories: Map<Story, string> } {
  const changes: Change[] = [];
  const added = new Map<Story, string>();
  const end = sprint.text.includes('\r\n') ? '\r\n' : '\n';
  for (const story of stories) {
    const { row, file } = story;
    const to = ledgerWord(story, sprint);
    if (row !== undefined || file === undefined || file.v4 || to === undefined) continue;
    const neighbour = sprint.rows.findLast(
      (other) => other.epic === story.epic && other.kind !== 'retrospective',
    );
    // A row in a form of its own, such as one with a table inside, cannot be followed by a plain one with safety.
    if (neighbour === undefined || neighbour.pair.key !== neighbour.key || twice.has(neighbour.key)) continue;
    const indent = sprint.text.slice(sprint.text.lastIndexOf('\n', neighbour.pair.at) + 1, neighbour.pair.at);
    if (!/^[ \t]*$/.test(indent) || !/^[\w.-]+$/u.test(file.stem)) continue;
    const next = sprint.text.indexOf('\n', neighbour.pair.at);
    const place = next === -1 ? sprint.text.length : next + 1;
    const line = `${indent}${file.stem}: ${to}`;
    const text = next === -1 ? `${end}${line}` : `${line}${end}`;
    changes.push({
      key: file.stem,
      from: undefined,
      to,
      why: proofOf(file),
      line: neighbour.line,
      edit: { start: place, end: place, text },
    });
    added.set(story, to);
  }
  return { changes, stories: added };
}

/** Workflows whose document is complete, and of which the ledger says that they are still to be done. */
function workflowProposal({ workflows, artefacts, sprint }: Report): LedgerProposal | undefined {
  if (workflows === undefined) return undefined;
  const changes = workflows.rows.flatMap((row): Change[] => {
    if (row.says !== 'open' || row.kind === undefined || row.kind === 'research') return [];
    const proof =
      row.kind === 'sprint'
        ? sprint?.file
        : artefacts.findLast(({ kind, state }) => kind === row.kind && state === 'complete')?.evidence.file;
    const edit = proof === undefined || !/^[\w./ -]+$/u.test(proof) ? undefined : replaced(row.pair, proof);
    return proof === undefined || edit === undefined
      ? []
      : [{ key: row.id, from: row.word, to: proof, why: t`${proof} is complete`, line: row.line, edit }];
  });
  return { file: workflows.file, text: workflows.text, changes };
}

function isLowered(kind: RowKind, before: string, after: string): boolean {
  const [was, is] = [rankOf(kind, before), rankOf(kind, after)];
  return was !== undefined && (is === undefined || is < was);
}
