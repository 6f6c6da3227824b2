import { present } from '../../base/present.ts';
import { gitLog } from '../../base/process/project-git.ts';
import type { ProgramEnvironment } from '../../base/process/process.ts';
import { plural } from '../../base/text/text.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import { at, type ItemKind, type State } from './model.ts';
import { wishAction } from './new-wish.ts';
import { isBegun, planActions } from './plan-actions.ts';
import { findArtefacts, type Artefact } from './artefacts.ts';
import { findLocations } from './locations.ts';
import { storyDates } from './history.ts';
import { KeptReport } from './kept-report.ts';
import { ProjectFiles } from './project-files.ts';
import { proposals, type Change } from './proposal.ts';
import { reconcile } from './reconcile.ts';
import { readReport, type Report } from './report.ts';
import { rank } from './stories.ts';
import { storyActions } from './story-actions.ts';
import { storyAtHand, storyInput, takesStories, unknownStory, type StoryInput } from './story-inputs.ts';
import { hasPassed, inReview, totalsOf, workedOn } from './totals.ts';
import { phaseOfWorkflow, Workers, worksOf, type Action } from './workers.ts';

export { KeptReport } from './kept-report.ts';
export type { Action } from './workers.ts';

/** A document of the project that work is done by. */
interface ProjectDocument {
  kind: ItemKind;
  /** From the top of the project. */
  path: string;
  /** How far it is, by the same judgement as everywhere. */
  state: State;
  text: string;
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
    /** `started` are the workflows that are under way, `wish` is what the user wants. */
    async next(catalogue: Catalogue, asked: { started?: readonly string[]; wish?: string | undefined } = {}) {
      const report = await read();
      const workers = new Workers(catalogue);
      const wished = isBegun(report) ? wishAction(report, workers, asked.wish ?? '') : undefined;
      // With what is wanted, the same is said once.
      const isWished = ({ worker, about }: Action): boolean =>
        about === undefined &&
        worker !== undefined &&
        worker.record === wished?.worker?.record &&
        worker.command === wished.worker.command;
      const actions = nextActions(report, workers, asked).filter((action) => !isWished(action));
      const closing = inReview(report).filter(hasPassed);
      return { report, actions, wished, totals: totalsOf(report), closing: closing.map(({ id }) => id) };
    },
    phaseOf: phaseOfWorkflow,
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
    /** Every story, how far it is and what QA said of it. */
    async work() {
      const report = await read();
      return { totals: totalsOf(report), stories: report.stories.map(workedOn) };
    },
    /** The documents there are, and how far each is. */
    inventory: async () => inventoryOf(await read()),
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
  };
}

/**
 * What to do next, the most pressing first. While stories are under way the order is BMAD's own: go on with what is
 * begun, review what is finished, start what is ready, prepare the next. Before that it is the order of the phases.
 */
function nextActions(report: Report, workers: Workers, asked: Parameters<typeof planActions>[2]): Action[] {
  const actions: Action[] = report.broken.map((bad) => ({
    what: `Repair ${at(bad)}`,
    why: bad.says,
    evidence: [bad],
    worker: bad.file.includes('sprint-status') ? workers.for('sprint planning', false) : undefined,
    about: `repair ${bad.file}`,
  }));
  const proposed = proposals(report).flatMap((ledger) => ledger.changes);
  const noted = proposed.flatMap((change) => (change.noted === true ? [change.key] : []));
  const changes = proposed.length;
  if (changes > 0)
    actions.push({
      what: 'Bring the ledgers up to date',
      why:
        noted.length === 0
          ? `the files show ${plural(changes, 'change')} missing from the ledgers: ${someChanges(proposed)}`
          : `the files show ${plural(changes, 'change')} missing from the ledgers; that ${noted.slice(0, 3).join(', ')} ${noted.length === 1 ? 'has' : 'have'} been reviewed is only noted by hand`,
      evidence: report.drift.flatMap(({ evidence }) => evidence).slice(0, 4),
      operation: 'reconcile',
    });
  const stories = storyActions(report, workers);
  const plans = planActions(report, workers, asked);
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

/** The documents that the worker reads, the ones nearest to the work first. */
const READ: readonly ItemKind[] = ['story', 'spec', 'prd', 'architecture', 'ux', 'epics', 'brief'];

/** The story that is worked on, then the plans, found by the rules that progress is judged by. */
async function projectDocuments(
  root: string,
  workflow: string | undefined,
  words: string | undefined,
): Promise<ProjectDocument[]> {
  const files = new ProjectFiles(root);
  const report = await readReport(root, files);
  const works = workflow === undefined ? [] : worksOf(workflow);
  const named = storyInput(report, works, words);
  // Another story is not what was asked for.
  const atHand = unknownStory(report.stories, words) === undefined ? storyAtHand(report, works) : undefined;
  const story = named === undefined || named.isPlanned ? (atHand ?? currentStory(report)) : named.place;
  const judged = (kind: ItemKind, own: readonly string[], state: State): State =>
    report.items.find((item) => item.kind === kind && own.includes(item.evidence[0]?.file ?? ''))?.state ??
    state;
  const paths = [
    ...(story === undefined ? [] : [{ kind: 'story' as const, path: story, state: 'in progress' as State }]),
    ...report.artefacts.flatMap(({ kind, files: own, state }) =>
      own.map((path) => ({ kind, path, state: judged(kind, own, state) })),
    ),
  ];
  const documents: ProjectDocument[] = [];
  for (const { kind, path, state } of paths) {
    if (!READ.includes(kind) || documents.some((known) => known.path === path)) continue;
    const read = await files.read(path);
    if (read !== undefined && 'text' in read) documents.push({ kind, path, state, text: read.text });
  }
  const place = ({ kind }: ProjectDocument): number => READ.indexOf(kind);
  return documents.sort((a, b) => place(a) - place(b) || (a.path < b.path ? -1 : 1));
}

/** What is furthest and not done; of those the first in the order of the ledger. */
function currentStory({ stories }: Report): string | undefined {
  const [found] = (['in-progress', 'review', 'ready-for-dev', 'drafted'] as const).flatMap((status) =>
    stories.flatMap(({ file, likely }) => (file !== undefined && likely === status ? [file.file] : [])),
  );
  return found;
}
