import { push } from '../../base/values.ts';
import { join, posix } from 'node:path';
import { changeMark } from '../../base/files/file-stamps.ts';
import type { ProgramEnvironment } from '../../base/process/process.ts';
import { type GitAddition, gitAdditions } from '../../base/process/git.ts';
import { withoutExamples } from '../../base/text/markdown.ts';
import { plural, type Catalogue, wordsNow } from '../../base/text/message.ts';
import { documentItems, findArtefacts, phasesOf } from './artefacts.ts';
import { joinedPlans, type Plan, plannedIn } from './document.ts';
import type { Artefact, Deferred, PlanningFiles, Report } from './found.ts';
import { type BrokenLedger, isBroken, readSprintLedger, readWorkflowLedger } from './ledgers.ts';
import { findLocations, type Locations, ProjectFiles, unique } from './places.ts';
import { columnOf, type Evidence, type Item, storyStatus, titleOf, type Trouble } from './rules.ts';
import { epicItem, fileEvidence, findDrift, joinedEpics, joinedStories, rank, storyItem } from './stories.ts';
import { findStoryFiles } from './story-files.ts';

const SPRINT_NAMES = ['sprint-status.yaml', 'sprint-status.yml'];
const WORKFLOW_NAMES = ['bmm-workflow-status.yaml', 'bmgd-workflow-status.yaml', 'workflow-status.yaml'];

/** Reads it all anew: the files change under our feet. */
export async function readReport(root: string, files = new ProjectFiles(root)): Promise<Report> {
  const locations = await findLocations(files);
  const artefacts = await findArtefacts(files, locations);
  const storyFiles = await findStoryFiles(files, locations);
  const plan = joinedPlans(await plansIn(files, artefacts));
  const sprints = await ledgers(files, locations, SPRINT_NAMES, readSprintLedger);
  const workflow = await ledgers(files, locations, WORKFLOW_NAMES, readWorkflowLedger);
  const sprint = sprints.good[0];
  const stories = joinedStories(sprint, storyFiles, plan);
  const epics = joinedEpics(sprint, plan, stories);
  const found: PlanningFiles = {
    locations,
    artefacts,
    plan,
    sprint,
    workflows: workflow.good[0],
    broken: [...sprints.broken, ...workflow.broken],
    others: [...sprints.good.slice(1), ...workflow.good.slice(1)].map(({ file }) => file),
    files: storyFiles,
    stories,
    epics,
  };
  const items = [...documentItems(found), ...sprintItems(found), ...workItems(found)];
  return {
    ...found,
    items,
    phases: phasesOf(found, items),
    drift: findDrift(found, items),
    deferred: await deferredIn(files, locations),
    troubles: sorted(files.troubles),
    brownfield: await hasCode(files),
  };
}

/** A bullet at the margin is an entry; one that is checked off or struck through is settled. */
const ENTRY = /^(?:[-*+]|\d+[.)])[ \t]+(?!\[[xX]\]|~~)\S/;

/** What the build workflow and the review have put off: nothing else in the project tells of it. */
async function deferredIn(files: ProjectFiles, { implementation }: Locations): Promise<Deferred | undefined> {
  for (const folder of implementation) {
    const file = posix.join(folder, 'deferred-work.md');
    const read = await files.read(file);
    if (read === undefined || 'trouble' in read) continue;
    const open = withoutExamples(read.text).filter((line) => ENTRY.test(line)).length;
    if (open > 0) return { file, open };
  }
  return undefined;
}

/** The epics that each of the planning documents names. In version 4 they are part of the PRD. */
export async function plansIn(files: ProjectFiles, artefacts: readonly Artefact[]): Promise<Plan[]> {
  const sources = artefacts.filter(({ kind }) => kind === 'epics');
  const used = sources.length > 0 ? sources : artefacts.filter(({ kind }) => kind === 'prd');
  const plans: Plan[] = [];
  for (const path of used.flatMap(({ files: paths }) => paths)) {
    const read = await files.read(path);
    if (read !== undefined && 'text' in read) plans.push(plannedIn(path, read.text));
  }
  return plans;
}

/** All ledgers of a kind, the likeliest first. Asked for by name, so that a link that leads away is told. */
async function ledgers<L extends { file: string }>(
  files: ProjectFiles,
  { implementation, planning, stories }: Locations,
  names: readonly string[],
  parse: (file: string, text: string) => L | BrokenLedger,
): Promise<{ good: L[]; broken: Evidence[] }> {
  const found: { good: L[]; broken: Evidence[] } = { good: [], broken: [] };
  const folders = [...implementation, ...planning, ...stories];
  for (const file of unique(folders.flatMap((folder) => names.map((name) => posix.join(folder, name))))) {
    const read = await files.read(file);
    if (read === undefined) continue;
    const ledger =
      'trouble' in read ? { broken: { file, says: read.trouble.message } } : parse(file, read.text);
    if (isBroken(ledger)) found.broken.push(ledger.broken);
    else found.good.push(ledger);
  }
  return found;
}

function sprintItems({ sprint, broken, locations: { v4 } }: PlanningFiles): Item[] {
  const base = { kind: 'sprint', phase: 'implementation', id: 'sprint-planning' } as const;
  if (sprint !== undefined) {
    const says = plural(sprint.rows.length, 'row');
    return [{ ...base, state: 'complete', evidence: [{ file: sprint.file, says }] }];
  }
  const bad = broken.filter(({ file }) => file.includes('sprint-status')).slice(0, 1);
  // Version 4 plans no sprint.
  if (bad.length === 0 && v4) return [];
  return [{ ...base, state: bad.length === 0 ? 'not started' : 'unknown', evidence: bad }];
}

function workItems(found: PlanningFiles): Item[] {
  return itemsOf(found).map((item) =>
    item.kind === 'retrospective' ? item : { ...item, column: columnOf(item) },
  );
}

function itemsOf({ sprint, epics, files }: PlanningFiles): Item[] {
  const phase = 'implementation';
  const items: Item[] = [];
  for (const epic of epics) {
    items.push(epicItem(epic, sprint?.file));
    for (const story of epic.stories) items.push(storyItem(story, sprint?.file));
    if (epic.retrospective === undefined || sprint === undefined) continue;
    const { key, means, word, line } = epic.retrospective;
    items.push({
      kind: 'retrospective',
      phase,
      id: key,
      state: means === undefined ? 'unknown' : means === 'optional' ? 'not started' : 'complete',
      status: word,
      evidence: [{ file: sprint.file, line, says: word }],
    });
  }
  for (const spec of files.specs)
    items.push({
      kind: 'spec',
      phase,
      id: spec.stem,
      state: spec.status === undefined ? 'unknown' : spec.status === 'done' ? 'complete' : 'in progress',
      status: spec.word,
      evidence: [fileEvidence(spec)],
    });
  return items;
}

const SOURCE =
  /\.(?:[cm]?[jt]sx?|py|go|rs|java|kts?|rb|php|cs|c|cc|cpp|swift|scala|dart|exs?|vue|svelte|lua|sh)$/i;
/** Where sources are, beside the top of a project. */
const SOURCE_FOLDERS = ['src', 'lib', 'app', 'packages', 'cmd', 'internal'];

/** A manifest is no code yet. */
async function hasCode(files: ProjectFiles): Promise<boolean> {
  const top = (await files.atTop()).some(({ name, kind }) => kind === 'file' && SOURCE.test(name));
  if (top) return true;
  for (const folder of SOURCE_FOLDERS)
    if ((await files.below(folder, 2)).some((file) => SOURCE.test(file))) return true;
  return false;
}

/** Files are read side by side, so the order is made here. */
function sorted(troubles: readonly Trouble[]): Trouble[] {
  const each = new Map(troubles.map((trouble) => [`${trouble.file} ${trouble.message}`, trouble]));
  return [...each].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, trouble]) => trouble);
}

/** A file that was written so shortly before it was read may be written again without its times telling. */
const SETTLED_MS = 100;

/**
 * What the files of a project last said about its progress, kept until one of them has changed: each that was read and each
 * folder that was looked into is looked at again, which takes a fraction of the time that reading takes.
 */
export class KeptReport {
  /** A report is told in words, and kept for each language that was asked for. */
  readonly #kept = new Map<
    Catalogue | undefined,
    { root: string; marks: ReadonlyMap<string, string | undefined>; report: Report }
  >();

  async read(root: string): Promise<Report> {
    const words = wordsNow();
    const kept = this.#kept.get(words);
    if (kept?.root === root && isSame(root, kept.marks)) return kept.report;
    this.#kept.delete(words);
    const files = new ProjectFiles(root);
    const begun = Date.now();
    const report = await readReport(root, files);
    if (files.newest < begun - SETTLED_MS) this.#kept.set(words, { root, marks: files.looked, report });
    return report;
  }
}

function isSame(root: string, marks: ReadonlyMap<string, string | undefined>): boolean {
  for (const [path, mark] of marks) if (changeMark(join(root, path)) !== mark) return false;
  return true;
}

/** When a story was first seen, begun and done, as far as the history of its files tells. */
interface StoryDates {
  id: string;
  title: string;
  planned: string;
  started?: string;
  done?: string;
}

interface Asked {
  env: ProgramEnvironment;
  signal: AbortSignal;
}

const GIT_MS = 10_000;
/** The newest so many commits that have touched a ledger or a story; what came before is not looked at. */
const MOST_COMMITS = 2_000;
const MOST_FILES = 400;
/** A line of a ledger is short; whatever is longer is something else. */
const LONGEST_LINE = 400;

/** The dates of stories by the history of the files that speak of them; nothing where there is no history. */
export async function storyDates(root: string, items: readonly Item[], asked: Asked): Promise<StoryDates[]> {
  const stories = items.filter(({ kind }) => kind === 'story');
  const files = new Map<string, string[]>();
  for (const { id, evidence } of stories) for (const { file } of evidence) push(files, file, id);
  const paths = [...files.keys()].slice(0, MOST_FILES);
  if (paths.length === 0) return [];
  const question = { ...asked, timeoutMs: GIT_MS };
  const added = (await gitAdditions(root, question, { paths, most: MOST_COMMITS })) ?? [];
  return datesIn(added, new Set(stories.map(({ id }) => id)), files);
}

/** The first commit in which a story has a word gives its date. */
function datesIn(
  added: readonly GitAddition[],
  ids: ReadonlySet<string>,
  files: ReadonlyMap<string, readonly string[]>,
): StoryDates[] {
  const found = new Map<string, StoryDates>();
  const note = (id: string, word: string, at: string): void => {
    const known = found.get(id) ?? { id, title: titleOf(id), planned: at };
    const far = rank(storyStatus(word));
    found.set(id, {
      ...known,
      ...(far >= rank('in-progress') && known.started === undefined ? { started: at } : {}),
      ...(far === rank('done') && known.done === undefined ? { done: at } : {}),
    });
  };
  for (const { at: time, file, line } of added) {
    if (line.length > LONGEST_LINE) continue;
    const at = new Date(time).toISOString();
    const own = files.get(file) ?? [];
    const { key, word } = entryIn(line);
    if (ids.has(key)) note(key, word, at);
    // The file of one story has its status in a line of its own.
    else if (own.length === 1 && own[0] !== undefined && key.toLowerCase() === 'status')
      note(own[0], word, at);
  }
  return [...found.values()];
}

const bare = (text: string): string => text.replaceAll(/[^\p{L}\p{M}\p{N}_.-]+/gu, ' ').trim();

/** What a line says of what: `1-1-setup: done`, `**Status:** in progress`, with or without quotes and bullets. */
function entryIn(line: string): { key: string; word: string } {
  const colon = line.indexOf(':');
  if (colon === -1) return { key: '', word: '' };
  const [said = ''] = line.slice(colon + 1).split('#', 1);
  return { key: bare(line.slice(0, colon)).replace(/^- /, ''), word: bare(said) };
}
