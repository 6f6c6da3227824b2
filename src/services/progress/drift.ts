import { plural } from '../../base/text/text.ts';
import type { Drift, Evidence, Item } from './model.ts';
import type { Report } from './report.ts';
import { fileEvidence, fileStatus, rank, type Story } from './stories.ts';

type DriftReport = Pick<
  Report,
  'sprint' | 'workflows' | 'stories' | 'epics' | 'files' | 'broken' | 'others' | 'artefacts' | 'plan'
>;

/** Where the ledgers, the files and the plan of a project disagree, in the order of the ledgers. */
export function findDrift(found: DriftReport, items: readonly Item[]): Drift[] {
  return [
    ...brokenOnes(found),
    ...sprintRows(found),
    ...storyDrift(found),
    ...epicDrift(found),
    ...workflowDrift(found, items),
  ];
}

function* brokenOnes({ broken, others, sprint }: DriftReport): Generator<Drift> {
  for (const { file, line, broken: says } of broken)
    yield {
      kind: 'broken ledger',
      about: file,
      says,
      evidence: [{ file, ...(line === undefined ? {} : { line }), says }],
    };
  for (const file of others)
    yield {
      kind: 'second ledger',
      about: file,
      says: `${file} is a second ledger; ${sprint?.file ?? 'the first'} is used`,
      evidence: [{ file, says: 'not used' }],
    };
}

function* sprintRows({ sprint }: DriftReport): Generator<Drift> {
  if (sprint === undefined) return;
  const { file } = sprint;
  for (const { key, lines } of sprint.duplicates)
    yield {
      kind: 'duplicate key',
      about: key,
      says: `${key} has ${lines.length} rows`,
      evidence: lines.map((line) => ({ file, line, says: key })),
    };
  for (const { key, line } of sprint.unknown)
    yield {
      kind: 'unknown key',
      about: key,
      says: `${key} is neither an epic, a story nor a retrospective`,
      evidence: [{ file, line, says: key }],
    };
  for (const { key, word, means, line, kind } of sprint.rows) {
    if (means === word && word !== '') continue;
    const meant = means === undefined ? '' : `; it means ${means}`;
    yield {
      kind: 'invalid status',
      about: key,
      says:
        word === ''
          ? `${key} has no status`
          : `${key}: "${word.slice(0, 60)}" is no status of ${kind === 'epic' ? 'an epic' : `a ${kind}`}${meant}`,
      evidence: [{ file, line, says: word }],
    };
  }
}

function* storyDrift({ sprint, stories, files }: DriftReport): Generator<Drift> {
  for (const story of stories) {
    const { id, row, file } = story;
    if (file !== undefined && file.word !== undefined && file.status === undefined)
      yield {
        kind: 'invalid status',
        about: id,
        says: `${id}: "${file.word.slice(0, 60)}" in the story file is no status`,
        evidence: [fileEvidence(file)],
      };
    if (sprint === undefined) continue;
    const inLedger = (): Evidence => ({ file: sprint.file, line: row?.line ?? 1, says: row?.word ?? '' });
    if (row === undefined) {
      if (file !== undefined)
        yield {
          kind: 'no ledger row',
          about: id,
          says: `${file.file} has no row in the ledger`,
          evidence: [fileEvidence(file)],
        };
      continue;
    }
    const proven = fileStatus(file);
    const status = story.status;
    if (file === undefined) {
      if (status !== undefined && needsFile(story, files))
        yield {
          kind: 'no file',
          about: id,
          says: `${id}: the ledger says ${row.word}, and there is no story file`,
          evidence: [inLedger()],
        };
      continue;
    }
    if (proven === undefined || status === undefined || sameStage(proven, status)) continue;
    yield {
      kind: 'status differs',
      about: id,
      says: `${id}: the ledger says ${row.word}, the file ${file.placeholder !== undefined && proven === 'backlog' ? 'is a template' : (file.word ?? proven)}`,
      evidence: [inLedger(), fileEvidence(file)],
    };
  }
}

/** A story that is begun has a file, in a project that keeps story files at all. */
function needsFile({ status }: Story, { stories }: Report['files']): boolean {
  return status !== 'backlog' && stories.length > 0;
}

/** `drafted` and `ready-for-dev` are one stage in newer versions; a file that exists is at least as far. */
function sameStage(a: string, b: string): boolean {
  const stage = (word: string): string => (word === 'drafted' ? 'ready-for-dev' : word);
  return stage(a) === stage(b);
}

function* epicDrift({ sprint, epics }: DriftReport): Generator<Drift> {
  if (sprint === undefined) return;
  const { file } = sprint;
  for (const { epic, row, stories } of epics) {
    const rows = stories.filter((story) => story.row !== undefined);
    const open = rows.filter(({ status }) => status !== 'done');
    if (row === undefined) {
      const [first] = rows;
      if (first?.row !== undefined)
        yield {
          kind: 'no epic row',
          about: `epic-${epic}`,
          says: `${plural(rows.length, 'story', 'stories')} and no row epic-${epic}`,
          evidence: [{ file, line: first.row.line, says: first.row.key }],
        };
      continue;
    }
    const at = { file, line: row.line, says: row.word };
    if (row.means === 'done' && open.length > 0)
      yield {
        kind: 'epic done, stories open',
        about: row.key,
        says: `${row.key} is done, ${open
          .map(({ id }) => id)
          .slice(0, 3)
          .join(
            ', ',
          )}${open.length > 3 ? ` and ${open.length - 3} more` : ''} ${open.length === 1 ? 'is' : 'are'} not`,
        evidence: [
          at,
          ...open.slice(0, 3).map(({ row: other }) => ({
            file,
            line: other?.line ?? 1,
            says: `${other?.key}: ${other?.word}`,
          })),
        ],
      };
    else if (row.means === 'in-progress' && stories.length === 0)
      yield {
        kind: 'ledger ahead',
        about: row.key,
        says: `${row.key} is in progress and has no stories`,
        evidence: [at],
      };
    else if (row.means === 'backlog' && rows.some(({ status }) => rank(status) > rank('backlog')))
      yield {
        kind: 'ledger behind',
        about: row.key,
        says: `${row.key} is backlog and its stories have begun`,
        evidence: [at],
      };
  }
}

function* workflowDrift(
  { workflows, artefacts, sprint }: DriftReport,
  items: readonly Item[],
): Generator<Drift> {
  if (workflows === undefined) return;
  const { file } = workflows;
  for (const row of workflows.rows) {
    const evidence = [{ file, line: row.line, says: row.word }];
    if (row.says === 'invalid')
      yield {
        kind: 'invalid status',
        about: row.id,
        says:
          row.word === ''
            ? `${row.id} has no status`
            : `"${row.word.slice(0, 60)}" is neither a status nor a file`,
        evidence,
      };
    if (row.kind === undefined) continue;
    const item = items.find(({ kind, id }) => kind === row.kind && (id === kind || kind === 'sprint'));
    if ((row.says === 'file' || row.says === 'done') && item?.state !== 'complete') {
      const now = item?.evidence[0];
      yield {
        kind: 'ledger ahead',
        about: row.id,
        says: `${row.id}: the ledger says ${row.says === 'done' ? row.word : `it is in ${row.word.slice(0, 100)}`}, the files say ${item?.state ?? 'not started'}`,
        evidence: now === undefined ? evidence : [...evidence, now],
      };
    }
    if (row.says === 'open' && item?.state === 'complete') {
      const proof =
        row.kind === 'sprint'
          ? sprint?.file
          : artefacts.find(({ kind, state }) => kind === row.kind && state === 'complete')?.evidence.file;
      if (proof !== undefined)
        yield {
          kind: 'ledger behind',
          about: row.id,
          says: `${row.id}: the ledger says ${row.word}, and ${proof} is complete`,
          evidence: [...evidence, ...item.evidence.slice(0, 1)],
        };
    }
  }
  for (const { phase, complete, line } of workflows.phases) {
    const mine = items.filter((item) => item.phase === phase);
    if (complete && mine.every(({ state }) => state === 'not started'))
      yield {
        kind: 'ledger ahead',
        about: phase,
        says: `the ledger says ${phase} is complete, and nothing of it is there`,
        evidence: [{ file, line, says: 'complete' }],
      };
  }
}
