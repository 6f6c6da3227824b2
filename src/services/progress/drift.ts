import { plural, say, t } from '../../base/text/message.ts';
import type { Drift, Evidence, Item } from './model.ts';
import type { PlanningFiles } from './report.ts';
import { fileEvidence, rank, type Story } from './stories.ts';

/** Where the ledgers, the files and the plan of a project disagree, in the order of the ledgers. */
export function findDrift(found: PlanningFiles, items: readonly Item[]): Drift[] {
  return [
    ...brokenOnes(found),
    ...sprintRows(found),
    ...storyDrift(found),
    ...epicDrift(found),
    ...workflowDrift(found, items),
  ];
}

/** One place where they disagree, and what shows it. */
function drift(kind: Drift['kind'], about: string, says: string, ...evidence: Evidence[]): Drift {
  return { kind, about, says, evidence };
}

function* brokenOnes({ broken, others, sprint }: PlanningFiles): Generator<Drift> {
  for (const bad of broken) yield drift('broken ledger', bad.file, bad.says, bad);
  for (const file of others) {
    const used = t`${file} is a second ledger; ${sprint?.file ?? t`the first`} is used`;
    yield drift('second ledger', file, used, { file, says: t`not used` });
  }
}

function* sprintRows({ sprint }: PlanningFiles): Generator<Drift> {
  if (sprint === undefined) return;
  const { file } = sprint;
  for (const { key, lines } of sprint.duplicates) {
    const rows = lines.map((line) => ({ file, line, says: key }));
    yield drift('duplicate key', key, t`${key} has ${lines.length} rows`, ...rows);
  }
  for (const { key, line } of sprint.unknown) {
    const says = t`${key} is neither an epic, a story nor a retrospective`;
    yield drift('unknown key', key, says, { file, line, says: key });
  }
  for (const { key, word, means, line, kind } of sprint.rows) {
    if (means === word && word !== '') continue;
    const meant = means === undefined ? '' : t`; it means ${means}`;
    const says = word === '' ? t`${key} has no status` : `${noStatus(kind, key, word.slice(0, 60))}${meant}`;
    yield drift('invalid status', key, says, { file, line, says: word });
  }
}

function noStatus(kind: string, key: string, word: string): string {
  if (kind === 'epic') return t`${key}: "${word}" is not a valid status for an epic`;
  return kind === 'story'
    ? t`${key}: "${word}" is not a valid status for a story`
    : t`${key}: "${word}" is not a valid status for a retrospective`;
}

function* storyDrift({ sprint, stories, files }: PlanningFiles): Generator<Drift> {
  for (const { id, row, file, status, proven } of stories) {
    if (file !== undefined && file.word !== undefined && file.status === undefined) {
      const says = t`${id}: "${file.word.slice(0, 60)}" in the story file is not a valid status`;
      yield drift('invalid status', id, says, fileEvidence(file));
    }
    if (sprint === undefined) continue;
    if (row === undefined) {
      if (file !== undefined)
        yield drift('no ledger row', id, t`${file.file} has no row in the ledger`, fileEvidence(file));
      continue;
    }
    const inLedger = { file: sprint.file, line: row.line, says: row.word };

    if (file === undefined) {
      // A story that is begun has a file, in a project that keeps story files at all.
      if (status !== undefined && status !== 'backlog' && files.stories.length > 0)
        yield drift(
          'no file',
          id,
          t`${id}: the ledger says ${row.word}, but there is no story file`,
          inLedger,
        );
      continue;
    }
    if (proven === undefined || status === undefined || sameStage(proven, status)) continue;
    const isTemplate = file.placeholder !== undefined && proven === 'backlog';
    const says = isTemplate
      ? t`${id}: the ledger says ${row.word}, the file is a template`
      : t`${id}: the ledger says ${row.word}, the file ${file.word ?? proven}`;
    yield drift('status differs', id, says, inLedger, fileEvidence(file));
  }
}

/** `drafted` and `ready-for-dev` are one stage in newer versions; a file that exists is at least as far. */
function sameStage(a: string, b: string): boolean {
  const stage = (word: string): string => (word === 'drafted' ? 'ready-for-dev' : word);
  return stage(a) === stage(b);
}

function* epicDrift({ sprint, epics }: PlanningFiles): Generator<Drift> {
  if (sprint === undefined) return;
  const { file } = sprint;
  for (const { epic, row, stories } of epics) {
    const rows = stories.filter((story) => story.row !== undefined);
    if (row === undefined) {
      const first = rows[0]?.row;
      const says = t`${plural(rows.length, 'story', 'stories')} but no row epic-${epic}`;
      if (first !== undefined)
        yield drift('no epic row', `epic-${epic}`, says, { file, line: first.line, says: first.key });
      continue;
    }
    const at = { file, line: row.line, says: row.word };
    const open = rows.filter(({ status }) => status !== 'done');
    if (row.means === 'done' && open.length > 0) yield openStories(row.key, at, open);
    else if (row.means === 'in-progress' && stories.length === 0)
      yield drift('ledger ahead', row.key, t`${row.key} is in progress but has no stories`, at);
    else if (row.means === 'backlog' && rows.some(({ status }) => rank(status) > rank('backlog')))
      yield drift(
        'ledger behind',
        row.key,
        t`${row.key} is in the backlog, but its stories have been started`,
        at,
      );
  }
}

const NAMED = 3;

function openStories(key: string, at: Evidence, open: readonly Story[]): Drift {
  const named = open.slice(0, NAMED);
  const names = named.map(({ id }) => id).join(', ');
  const more = open.length > NAMED ? t` and ${open.length - NAMED} more` : '';
  const says =
    open.length === 1
      ? t`${key} is done, but ${names} is not`
      : t`${key} is done, but ${names}${more} are not`;
  const rows = named.map(({ row }) => ({ ...at, line: row?.line ?? 1, says: `${row?.key}: ${row?.word}` }));
  return drift('epic done, stories open', key, says, at, ...rows);
}

function* workflowDrift(
  { workflows, artefacts, sprint }: PlanningFiles,
  items: readonly Item[],
): Generator<Drift> {
  if (workflows === undefined) return;
  const { file } = workflows;
  for (const { id, kind, line, says, word } of workflows.rows) {
    const at = { file, line, says: word };
    if (says === 'invalid') {
      const known = t`"${word.slice(0, 60)}" is neither a status nor a file`;
      yield drift('invalid status', id, word === '' ? t`${id} has no status` : known, at);
    }
    if (kind === undefined) continue;
    const item = items.find((each) => each.kind === kind && (each.id === kind || kind === 'sprint'));
    const proven = item?.evidence.slice(0, 1) ?? [];
    if ((says === 'file' || says === 'done') && item?.state !== 'complete') {
      const found = say(item?.state ?? 'not started');
      const ahead =
        says === 'done'
          ? t`${id}: the ledger says ${word}, the files say ${found}`
          : t`${id}: the ledger says it is in ${word.slice(0, 100)}, the files say ${found}`;
      yield drift('ledger ahead', id, ahead, at, ...proven);
    }
    if (says === 'open' && item?.state === 'complete') {
      const done = artefacts.find((each) => each.kind === kind && each.state === 'complete');
      const proof = kind === 'sprint' ? sprint?.file : done?.evidence.file;
      const behind = t`${id}: the ledger says ${word}, but ${proof} is complete`;
      if (proof !== undefined) yield drift('ledger behind', id, behind, at, ...proven);
    }
  }
  for (const { phase, complete, line } of workflows.phases) {
    if (!complete || items.some((item) => item.phase === phase && item.state !== 'not started')) continue;
    const says = t`the ledger says ${say(phase)} is complete, but none of its files exist`;
    yield drift('ledger ahead', phase, says, { file, line, says: 'complete' });
  }
}
