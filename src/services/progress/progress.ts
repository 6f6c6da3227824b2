import { placed } from '../../base/text/text.ts';
import { plural, t } from '../../base/text/message.ts';
import { present } from '../../base/values.ts';
import { gitLog } from '../../base/process/git.ts';
import type { ProgramEnvironment } from '../../base/process/process.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { findArtefacts } from './artefacts.ts';
import type { Artefact, Report } from './found.ts';
import { findLocations, ProjectFiles } from './places.ts';
import { beginnings, planActions } from './plan-actions.ts';
import { type Change, proposals, reconcile } from './reconcile.ts';
import { KeptReport, readReport, storyDates } from './report.ts';
import { type Phase } from './rules.ts';
import { planSprint } from './sprint-plan.ts';
import { isDone, rank } from './stories.ts';
import { hasPassed, inReview, storyActions, totalsOf, workedOn } from './story-actions.ts';
import {
  briefNamedIn,
  type ProjectDocument,
  projectDocuments,
  storiesIn,
  storyBrief,
  storyInput,
  type StoryInput,
  takesStories,
  unknownStory,
} from './story-brief.ts';
import { setStatus } from './story-status.ts';
import { wholeStory } from './story-whole.ts';
import { type Action, phaseOfWorkflow, Workers, worksOf } from './workers.ts';
import { type MemlogEntry, writeMemlog } from './writes.ts';

export { KeptReport } from './report.ts';
export type { Action } from './workers.ts';

/** A run that is under way, and the story that it is for. */
interface StartedRun {
  workflow: string;
  story?: string | undefined;
}

/** A document there is, and how far it is. */
interface Inventoried extends Omit<ProjectDocument, 'text'> {
  /** The same in pieces, as version 4 wants it. */
  pieces?: { folder: string; files: readonly string[] };
  /** The step of its workflow that it waits for, where it counts them. */
  nextStep?: number;
}

const GIT_MS = 5_000;
/** Git's name for no files at all, which is what the first commit of a repository begins with. */
const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** How far a project is by what its files prove. What they said is kept until one of them has changed. */
export type Progress = ReturnType<typeof createProgress>;

export function createProgress(root: string, env: ProgramEnvironment, kept = new KeptReport()) {
  const read = (): Promise<Report> => kept.read(root);
  return {
    /** When stories were planned, begun and done, of all that there are. */
    async history(signal: AbortSignal) {
      const { items } = await read();
      const stories = items.filter(({ kind }) => kind === 'story').length;
      return { stories, dates: await storyDates(root, items, { env, signal }) };
    },
    /** `runs` are under way: what one of them does is not to be begun a second time. */
    async next(catalogue: Catalogue, runs: readonly StartedRun[] = []) {
      const report = await read();
      const workers = new Workers(catalogue);
      const started = runs.map(({ workflow }) => workflow);
      const isRunning = ({ story }: Action): boolean =>
        runs.some(
          (run) =>
            story !== undefined && run.story === story.id && worksOf(run.workflow).includes(story.work),
        );
      const due = nextActions(report, workers, started).filter((action) => !isRunning(action));
      // What follows by the method is no other way to begin.
      const isDue = ({ worker }: Action): boolean =>
        due.some(
          ({ worker: own, about }) =>
            about === undefined && own?.record === worker?.record && own?.command === worker?.command,
        );
      const ways = beginnings(report, workers, started).filter((way) => !isDue(way));
      const closing = inReview(report).filter(hasPassed);
      // Of a phase that is complete, nothing follows that is needed.
      const isLeft = (phase: Phase): boolean => due.some((each) => each.phase === phase && !each.optional);
      return {
        report,
        phases: report.phases.map((each) =>
          each.state === 'complete' && isLeft(each.phase) ? { ...each, state: 'in progress' } : each,
        ),
        actions: [...due, ...ways],
        totals: totalsOf(report),
        closing: closing.map(({ id }) => id),
      };
    },
    /** The stories that a text names by key, file or `story 1.2`, and whether each is done. */
    async storiesIn(text: string): Promise<{ id: string; done: boolean }[]> {
      return storiesIn((await read()).stories, text).map((story) => ({ id: story.id, done: isDone(story) }));
    },
    phaseOf: phaseOfWorkflow,
    /** The story that one of these values is the key or the file of, with the route that its spec has taken. */
    async workIn(values: readonly string[]): Promise<{ story?: string; route?: string }> {
      const { stories, files } = await read();
      const paths = new Set(
        values.map((value) => (value.startsWith(`${root}/`) ? value.slice(root.length + 1) : value)),
      );
      const story = stories.find(
        ({ id, file }) => paths.has(id) || (file !== undefined && paths.has(file.file)),
      );
      const spec = story?.file ?? files.specs.find(({ file }) => paths.has(file));
      return present({ story: story?.id, route: spec?.route });
    },
    /** Who does now, in this project, what a workflow of this name did in another version. */
    workerInstead(catalogue: Catalogue, workflow: string): string | undefined {
      const [work] = worksOf(workflow);
      const worker = work === undefined ? undefined : new Workers(catalogue).for(work, false);
      return worker === undefined || worker.kind === 'agent' ? undefined : worker.name;
    },
    /** When something was last committed; nothing where there is no history. */
    async lastCommit(signal: AbortSignal): Promise<number | undefined> {
      const asked = { env, signal, timeoutMs: GIT_MS };
      return (await gitLog(root, asked, { most: 1 }))?.[0]?.at;
    },
    /** Every story, how far it is and what QA said of it, and what was put off. */
    async work() {
      const report = await read();
      return {
        totals: totalsOf(report),
        stories: report.stories.map(workedOn),
        deferred: report.deferred,
      };
    },
    /** The documents there are, and how far each is. */
    inventory: async () => inventoryOf(await read()),
    /** Files that could not be read, or not as they are meant. */
    troubles: async () => (await read()).troubles,
    /** The same where there is any document at all; most of what is read otherwise is about stories. */
    async planned() {
      const files = new ProjectFiles(root);
      const artefacts = await findArtefacts(files, await findLocations(files));
      return artefacts.length === 0 ? [] : inventoryOf(await readReport(root, files));
    },
    /** Whether a workflow works on stories. */
    isForStories: (workflow: string): boolean => worksOf(workflow).some(takesStories),
    /** The story that a message names, for a workflow that works on stories. */
    async storyFor(workflow: string, words: string | undefined): Promise<StoryInput | undefined> {
      const works = worksOf(workflow);
      return works.some(takesStories) ? storyInput(await read(), works, words) : undefined;
    },
    /** What the changes of a story are to be compared with, by the history of its file; nothing where there is none. */
    async baseByHistory(file: string, signal: AbortSignal): Promise<StoryInput['base']> {
      const asked = { env, signal, timeoutMs: GIT_MS };
      const commits = await gitLog(root, asked, { paths: [file], added: true });
      if (commits === undefined) return undefined;
      const first = commits.at(-1);
      if (first === undefined) return { commit: 'HEAD', added: undefined };
      return { commit: first.parents[0] ?? EMPTY_TREE, added: first.id };
    },
    /** A story that is asked for and that the project does not have, for work on stories. */
    async unknownStory(workflow: string | undefined, words: string | undefined) {
      const works = workflow === undefined ? undefined : worksOf(workflow);
      // Work that does nothing but write stories is what a story that is not there yet needs.
      if (works?.every((work) => work === 'create story') === true) return undefined;
      return words === undefined ? undefined : unknownStory((await read()).stories, words);
    },
    /** A story that is named and has no file yet: where it is planned, and who writes the file. */
    async unwritten(catalogue: Catalogue, words: string | undefined) {
      if (words === undefined) return undefined;
      const report = await read();
      const story = storyInput(report, [], words);
      if (story?.isPlanned !== true) return undefined;
      return { ...story, worker: new Workers(catalogue).for('create story', report.locations.v4) };
    },
    /** The story that is worked on and the plans, as they are; for a workflow on stories the story that it is for. */
    documents: (workflow?: string, words?: string) => projectDocuments(root, workflow, words),
    reconcile: ({ apply, proposal }: { apply: boolean; proposal?: string | undefined }) =>
      reconcile(root, { apply, proposal, now: new Date() }, apply ? undefined : read),
    storyBrief: (story: string) => storyBrief(root, story),
    briefNamedIn: (words: string) => briefNamedIn(root, words),
    wholeStory: (story: string) => wholeStory(root, story),
    setStatus: (asked: Omit<Parameters<typeof setStatus>[1], 'now'>) =>
      setStatus(root, { ...asked, now: new Date() }),
    planSprint: (catalogue: Catalogue, asked: Omit<Parameters<typeof planSprint>[2], 'now'>) =>
      planSprint(root, catalogue, { ...asked, now: new Date() }),
    writeMemlog: (entry: Omit<MemlogEntry, 'now'>) => writeMemlog(root, { ...entry, now: new Date() }),
  };
}

/**
 * What to do next, the most pressing first. While stories are under way the order is BMAD's own: go on with what is
 * begun, review what is finished, start what is ready, prepare the next. Before that it is the order of the phases.
 */
function nextActions(report: Report, workers: Workers, started: readonly string[]): Action[] {
  const actions: Action[] = report.broken.map((bad) => ({
    what: t`Repair ${placed(bad)}`,
    why: bad.says,
    evidence: [bad],
    worker: bad.file.includes('sprint-status') ? workers.for('sprint planning', false) : undefined,
    about: `repair ${bad.file}`,
    of: 'broken',
  }));
  const proposed = proposals(report).flatMap((ledger) => ledger.changes);
  const changes = proposed.length;
  const update = t`Bring the ledgers up to date`;
  if (changes > 0)
    actions.push({
      what: update,
      why: t`the files show ${plural(changes, 'change')} missing from the ledgers (${someChanges(proposed)})`,
      evidence: report.drift.flatMap(({ evidence }) => evidence).slice(0, 4),
      steps: [{ operation: 'reconcile_ledgers', args: {}, why: update }],
      of: 'broken',
    });
  const stories = storyActions(report, workers);
  const plans = planActions(report, workers, started);
  const underWay =
    report.stories.some(({ likely }) => rank(likely) > rank('backlog')) ||
    report.sprint !== undefined ||
    report.files.specs.some(({ status }) => status !== undefined && status !== 'done');
  return [...actions, ...(underWay ? [...stories, ...plans] : [...plans, ...stories])];
}

const NAMED_CHANGES = 3;

function someChanges(changes: readonly Change[]): string {
  const named = changes.slice(0, NAMED_CHANGES).map(({ key, to }) => `${key} → ${to}`);
  return [...named, ...(changes.length > NAMED_CHANGES ? ['…'] : [])].join(', ');
}

function inventoryOf({ items, artefacts }: Report): Inventoried[] {
  return items.flatMap(({ kind, phase, state, evidence: [proof] }) => {
    if (proof === undefined || state === 'not started' || (phase === 'implementation' && kind !== 'sprint'))
      return [];
    const sharded = artefacts.find((artefact) => artefact.kind === kind && isInPieces(artefact));
    const pieces = sharded && { folder: sharded.path, files: sharded.files };
    const isCounted = ({ nextStep, files }: Artefact): boolean =>
      nextStep !== undefined && files.includes(proof.file);
    const { nextStep } = artefacts.find((artefact) => artefact.kind === kind && isCounted(artefact)) ?? {};
    return [{ kind, path: proof.file, state, ...present({ pieces, nextStep }) }];
  });
}

/** A document that is spread over the files of its folder. */
function isInPieces({ kind, path, files }: Artefact): boolean {
  return /^(?:prd|architecture|epics)$/.test(kind) && !files.includes(path) && !/\/prds\//.test(path);
}
