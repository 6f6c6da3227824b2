import { plural, t } from '../../base/text/message.ts';
import { firstOfEach, keyOf, type Plan, type Planned } from './epic-headings.ts';
import type { Evidence, Item, State } from './model.ts';
import { ledgerOfSpec } from './rules.ts';
import type { Row, SprintLedger } from './sprint-ledger.ts';
import type { Gate } from './gates.ts';
import { natural, type SpecFile, type StoryFile, type StoryFiles } from './story-files.ts';
import { STORY_STATUSES, type StoryStatus } from './words.ts';

/** A story with all that is known of it. */
export interface Story {
  id: string;
  epic: number;
  story: string;
  row: Row | undefined;
  file: StoryFile | undefined;
  planned: Planned | undefined;
  gate: Gate | undefined;
  /** What its file proves, as the ledger would have it. */
  proven: StoryStatus | undefined;
  /** The ledger's status; where there is no row, that of the file. */
  status: StoryStatus | undefined;
  /** The further of the two, which the ledger would have if it were up to date. */
  likely: StoryStatus | undefined;
}

export interface Epic {
  epic: number;
  row: Row | undefined;
  retrospective: Row | undefined;
  stories: Story[];
  planned: Planned | undefined;
}

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
 * is done has been built; that it was reviewed, the ledger says, or the findings in it. Without a ledger nobody keeps
 * that apart.
 */
function provenBy(
  { trouble, placeholder, status, isSpec, review }: StoryFile,
  row: Row | undefined,
  hasLedger: boolean,
): StoryStatus | undefined {
  if (trouble !== undefined) return undefined;
  if (placeholder !== undefined && rank(status) <= rank('ready-for-dev')) return 'backlog';
  if (!isSpec || status === undefined) return status;
  const isReviewed = !hasLedger || row?.means === 'done' || review?.open === 0;
  return status === 'done' && isReviewed ? 'done' : ledgerOfSpec(status);
}

/** Where a story counts as done only because its file has notes of a review, which anybody can write: the line of them. */
export function notedReview({ file, row, proven }: Story): number | undefined {
  const isNoted = file?.isSpec === true && proven === 'done' && row !== undefined && row.means !== 'done';
  return isNoted ? file.review?.line : undefined;
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
