import { plural, say, t } from '../../base/text/message.ts';
import { firstOfEach, keyOf, type Plan, type Planned } from './document.ts';
import type { Epic, PlanningFiles, Story } from './found.ts';
import type { Row, SprintLedger } from './ledgers.ts';
import {
  type Drift,
  type Evidence,
  type Item,
  ledgerOfSpec,
  type State,
  STORY_STATUSES,
  type StoryStatus,
  titleOf,
} from './rules.ts';
import { natural, type SpecFile, type StoryFile, type StoryFiles } from './story-files.ts';

/** Puts rows, files and plans of the same story together. The order is that of the ledger, then of the numbers. */
export function joinedStories(ledger: SprintLedger | undefined, files: StoryFiles, plan: Plan): Story[] {
  const rows = firstOfEach((ledger?.rows ?? []).filter(({ kind }) => kind === 'story'));
  const firstFiles = firstOfEach(files.stories);
  const plans = firstOfEach(plan.stories);
  const exact = new Map(files.stories.map((file) => [`${keyOf(file)} ${file.stem}`, file]));
  const others = [...firstOfEach([...files.stories, ...plan.stories])]
    .filter(([key]) => !rows.has(key))
    .sort(([, a], [, b]) => a.epic - b.epic || natural(a.story, b.story));
  return [...rows, ...others].map(([key, { epic, story }]) => {
    const row = rows.get(key);
    const file = exact.get(`${key} ${row?.key}`) ?? firstFiles.get(key);
    const inLedger = row?.means as StoryStatus | undefined;
    const inFile = file === undefined ? undefined : provenBy(file, row, ledger !== undefined);
    const status = row === undefined ? (inFile ?? (file === undefined ? 'backlog' : undefined)) : inLedger;
    return {
      id: row?.key ?? (file === undefined || file.v4 ? key : file.stem),
      epic,
      story,
      row,
      file,
      planned: plans.get(key),
      gate: files.gates.get(key),
      proven: inFile,
      status,
      likely: further(inLedger, inFile) ?? status,
    };
  });
}

/**
 * What a file proves. A template that has not been filled in proves nothing, whatever its status line says. A spec that
 * is done has been built; that it was reviewed, the ledger says. Without a ledger nobody keeps that apart.
 */
function provenBy(
  { trouble, placeholder, status, isSpec }: StoryFile,
  row: Row | undefined,
  hasLedger: boolean,
): StoryStatus | undefined {
  if (trouble !== undefined) return undefined;
  if (placeholder !== undefined && rank(status) <= rank('ready-for-dev')) return 'backlog';
  if (!isSpec || status === undefined) return status;
  const isReviewed = !hasLedger || row?.means === 'done';
  return status === 'done' && isReviewed ? 'done' : ledgerOfSpec(status);
}

/**
 * Whether nothing on file shows that a story was reviewed. A story file of version 6 gets its `done` from the review
 * itself; in version 4 the owner sets it, and a spec has it from the build. A row alone shows nothing.
 */
export function isUnreviewed({ file, gate }: Story): boolean {
  if (gate !== undefined || file?.review !== undefined) return false;
  return file === undefined || file.v4 || file.isSpec;
}

/**
 * Whether the ledger calls it done and its file does not: only a person can say which is right. Until then nothing is
 * built on it.
 */
export function isDisputed({ row, proven }: Pick<Story, 'row' | 'proven'>): boolean {
  return row?.means === 'done' && proven !== undefined && proven !== 'done';
}

/** Whether a story is called built, and its own tasks say otherwise. */
export function isLeftOpen({ file, likely }: Story): boolean {
  return (
    file !== undefined && (likely === 'review' || likely === 'done') && file.tasks.done < file.tasks.total
  );
}

export const isDone = (story: Story): boolean => story.status === 'done' && !isDisputed(story);

export const rank = (status: StoryStatus | undefined): number =>
  status === undefined ? -1 : STORY_STATUSES.indexOf(status);

function further(a: StoryStatus | undefined, b: StoryStatus | undefined): StoryStatus | undefined {
  return rank(a) >= rank(b) ? a : b;
}

/** The epics of the ledger and of the plan, by number. */
export function joinedEpics(ledger: SprintLedger | undefined, plan: Plan, stories: readonly Story[]): Epic[] {
  const rows = ledger?.rows ?? [];
  const numbers = new Set([
    ...rows.map(({ epic }) => epic),
    ...plan.epics.map(({ epic }) => epic),
    ...stories.map(({ epic }) => epic),
  ]);
  return [...numbers]
    .sort((a, b) => a - b)
    .map((epic) => ({
      epic,
      row: rows.find((row) => row.kind === 'epic' && row.epic === epic),
      retrospective: rows.find((row) => row.kind === 'retrospective' && row.epic === epic),
      stories: stories.filter((story) => story.epic === epic),
      planned: plan.epics.find((planned) => planned.epic === epic),
    }));
}

export function storyItem(story: Story, ledgerFile: string | undefined): Item {
  const { id, row, file, planned } = story;
  const evidence = rowEvidence(row, ledgerFile);
  if (file !== undefined) evidence.push(fileEvidence(file));
  return {
    kind: 'story',
    phase: 'implementation',
    id,
    // The plan has it as it was written; an id has lost what file names cannot have.
    title: planned === undefined ? titleOf(id) : `${story.epic}.${story.story} ${planned.title}`.trim(),
    epic: String(story.epic),
    number: `${story.epic}.${story.story}`,
    ...(file === undefined || file.tasks.total === 0 ? {} : { tasks: file.tasks }),
    state: storyState(story),
    status: (row?.word ?? file?.word) || undefined,
    evidence: evidence.length > 0 ? evidence : planEvidence(planned),
  };
}

function storyState(story: Story): State {
  if (story.status === undefined) return 'unknown';
  if (isDone(story)) return 'complete';
  return story.status === 'backlog' ? 'not started' : 'in progress';
}

function rowEvidence(row: Row | undefined, ledgerFile: string | undefined): Evidence[] {
  return row === undefined || ledgerFile === undefined
    ? []
    : [{ file: ledgerFile, line: row.line, says: row.word || t`no status` }];
}

export function planEvidence(planned: Planned | undefined): Evidence[] {
  return planned === undefined ? [] : [{ file: planned.file, line: planned.line, says: 'planned' }];
}

export function fileEvidence({ file, status, placeholder, word, line, tasks, trouble }: SpecFile): Evidence {
  if (trouble !== undefined) return { file, says: trouble };
  if (placeholder !== undefined && rank(status) <= rank('ready-for-dev'))
    return { file, line: placeholder.line, says: t`${placeholder.text} has not been filled in` };
  const open = tasks.total === 0 ? '' : t`, ${tasks.done} of ${plural(tasks.total, 'task')}`;
  return { file, line, says: `${word ?? t`no status`}${open}` };
}

export function epicItem({ epic, row, stories, planned }: Epic, ledgerFile: string | undefined): Item {
  const inLedger = rowEvidence(row, ledgerFile);
  return {
    kind: 'epic',
    phase: 'implementation',
    id: `epic-${epic}`,
    ...(planned === undefined ? {} : { title: planned.title, epic: String(epic) }),
    state: epicState(row, stories),
    status: row?.word || undefined,
    evidence: inLedger.length > 0 ? inLedger : planEvidence(planned),
  };
}

/** An epic is complete only when its stories are, whatever its row says. */
function epicState(row: Row | undefined, stories: readonly Story[]): State {
  const done = stories.filter(isDone).length;
  const begun = stories.some(({ status }) => status !== undefined && status !== 'backlog');
  if (row !== undefined && row.means === undefined) return 'unknown';
  if (stories.length > 0 && done === stories.length)
    return row === undefined || row.means === 'done' || row.means === 'contexted'
      ? 'complete'
      : 'in progress';
  if (stories.length === 0 && row?.means === 'done') return 'complete';
  return begun || (row !== undefined && row.means !== 'backlog') ? 'in progress' : 'not started';
}

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
}
