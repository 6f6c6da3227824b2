import { t } from '../../base/text/message.ts';
import { plural } from '../../base/text/message.ts';
import { modifiedInside } from '../../base/files/files.ts';
import { utcOf } from '../../base/text/local-time.ts';
import type { Run, RunGraph, RunPlace, RunState } from '../../model/run.ts';
import { withFiles } from './artefacts.ts';
import { GRAPH_FILE, graphOf, STATUS_FILE, statusFileTable } from './graph.ts';
import { JOURNAL_FILE, readJournal } from './journal.ts';
import { readJson, readText, type JsonReading } from './json-file.ts';
import { foldOfJournal, standingOf, type RunFold } from './run-fold.ts';
import { lastStep, STATE_FILE, stateOf } from './state-file.ts';

/** A folder with one of these is a run. */
export const RUN_FILES = [STATE_FILE, JOURNAL_FILE, GRAPH_FILE, STATUS_FILE];

export interface RunName {
  id: string;
  branch: string;
  archive: string | undefined;
}

/** One run with what the lines and those of its files say that there are, and what of that does not fit together, without looking at what came out of it. */
export async function writtenRun(
  place: RunPlace,
  name: RunName,
  fold: RunFold | undefined,
  there = RUN_FILES,
): Promise<Run> {
  const { base, path } = place;
  const problems: string[] = [];
  const textOf = async (file: string): ReturnType<typeof readText> =>
    there.includes(file) ? readText(base, `${path}/${file}`, problems) : undefined;
  const readState = async (): Promise<JsonReading> =>
    there.includes(STATE_FILE) ? readJson(base, `${path}/${STATE_FILE}`) : {};
  const tell = (file: string, text: string): void => void problems.push(`${path}/${file} ${text}.`);
  const { table, broken, conflict } = await readState();
  if (broken !== undefined) tell(STATE_FILE, broken);
  const told = there.includes(JOURNAL_FILE) ? await journaled(place, name, fold, problems, tell) : fold;
  // A broken file is not one whose write was cut short by a crash: those are whole or absent.
  const { standing, state: counts } =
    broken === undefined || conflict === true
      ? standingOf(told, table)
      : { standing: 'changed' as const, state: undefined };
  if (standing === 'behind' && conflict === true)
    problems.push(t`What the journal says takes precedence. The next write makes state.json again from it.`);
  else if (standing === 'behind')
    problems.push(
      t`The journal is ahead of state.json and takes precedence: a write was interrupted or is in progress. The next write repairs it.`,
    );
  if (standing === 'changed' && broken === undefined)
    problems.push(
      t`state.json was changed by something else after the last journal entry; the file takes precedence.`,
    );
  const statusText = await textOf(STATUS_FILE);
  const graph = graphIn(await textOf(GRAPH_FILE), tell);
  const fallback =
    counts === undefined && broken === undefined && typeof statusText === 'string'
      ? statusFileTable(statusText)
      : undefined;
  const found = counts ?? fallback;
  const complaints: string[] = [];
  const state = found === undefined ? undefined : stateOf(found, complaints);
  for (const complaint of complaints)
    tell(fallback === undefined ? STATE_FILE : STATUS_FILE, `: ${complaint}`);
  if (state !== undefined)
    problems.push(...driftOf({ ...name, archived: name.archive !== undefined }, state, graph));
  return {
    ...name,
    place,
    state,
    status: state?.status ?? statusOfGraph(graph),
    latest: await latestOf(place, state),
    graph,
    statusFile: typeof statusText === 'string',
    journal: standing,
    problems: problems.map((text) => text.replace(' : ', ': ').replace(/\.\.$/, '.')),
  };
}

/** What happened to the run: as its lines tell it, or the journal of a version before where there is none of all of it. */
async function journaled(
  place: RunPlace,
  name: RunName,
  fold: RunFold | undefined,
  problems: string[],
  tell: (file: string, text: string) => void,
): Promise<RunFold | undefined> {
  if (fold !== undefined && fold.missing === 0) return fold;
  const journal = await readJournal(place, problems);
  if (journal === undefined) return fold;
  if ('unread' in journal) {
    tell(JOURNAL_FILE, journal.unread);
    return fold;
  }
  const { entries, broken } = journal;
  if (broken > 0) tell(JOURNAL_FILE, t`has ${broken} line${broken === 1 ? '' : 's'} that cannot be read`);
  return entries.length <= (fold?.count ?? 0) ? fold : foldOfJournal(name, entries);
}

/** The same with the files that came out of it: they come and go without a change of the run. */
export async function withArtefacts(root: string, run: Run): Promise<Run> {
  if (run.state === undefined || run.state.artefacts.length === 0) return run;
  const artefacts = await withFiles(root, run.place, run.state.artefacts);
  const missing = artefacts.filter(({ file }) => file === undefined);
  return {
    ...run,
    state: { ...run.state, artefacts },
    problems: [
      ...run.problems,
      ...missing.map(
        ({ name, path }) => t`The artefact ${JSON.stringify(name)} does not exist: ${JSON.stringify(path)}.`,
      ),
    ],
  };
}

/** When files were changed says little after a clone or a copy, so it counts only where the state has no dates. */
async function latestOf({ base, path }: RunPlace, state: Run['state']): Promise<number> {
  const told = latestIn(state);
  if (told !== undefined) return told;
  const changed = await Promise.all(RUN_FILES.map((file) => modifiedInside(base, `${path}/${file}`)));
  return Math.max(0, ...changed.map((time) => time ?? 0));
}

/** The last sign of life that a state names. */
export function latestIn(
  state: Pick<RunState, 'lastCheckpoint' | 'startedAt'> | undefined,
): number | undefined {
  const dates = [state?.lastCheckpoint, state?.startedAt].filter((text) => text !== undefined);
  return dates.length === 0 ? undefined : Math.max(...dates.map((text) => Date.parse(utcOf(text) ?? text)));
}

function graphIn(
  text: Awaited<ReturnType<typeof readText>>,
  tell: (file: string, text: string) => void,
): RunGraph | undefined {
  if (text === undefined) return undefined;
  const graph = typeof text === 'string' ? graphOf(text) : text;
  if (!('broken' in graph)) return graph;
  tell(GRAPH_FILE, graph.broken);
  return undefined;
}

function statusOfGraph(graph: RunGraph | undefined): Run['status'] {
  const known = ['pending', 'running', 'paused', 'completed', 'failed'] as const;
  return known.find((status) => status === graph?.status) ?? 'unknown';
}

/** What a state file says that cannot all be true. One sentence each, in a fixed order. */
function driftOf(
  { id, branch, archived }: { id: string; branch: string; archived: boolean },
  state: RunState,
  graph: RunGraph | undefined,
): string[] {
  const found: string[] = [];
  const { runId, stepsCompleted, totalSteps, currentStep, resumeFromStep, status } = state;
  if (runId !== undefined && runId !== id)
    found.push(t`"run_id" differs from the folder name; the folder name is used.`);
  if (state.branch !== undefined && state.branch !== branch && !archived)
    found.push(t`The branch it names differs from the one it is in; the one it is in is used.`);
  const done = new Set(stepsCompleted);
  if (done.size < stepsCompleted.length) found.push(t`"steps_completed" lists a step twice.`);
  const last = lastStep(done) ?? 0;
  if (totalSteps !== undefined && last > totalSteps)
    found.push(
      t`Step ${last} is completed, but there ${totalSteps === 1 ? 'is' : 'are'} ${plural(totalSteps, 'step')}.`,
    );
  const from = done.has(0) ? 0 : 1;
  const gaps: number[] = [];
  for (let step = from; step < last && gaps.length <= 10; step++) if (!done.has(step)) gaps.push(step);
  const more = gaps.length > 10;
  if (more) gaps.pop();
  if (gaps.length > 0)
    found.push(
      t`Step ${last} is completed, but ${gaps.length === 1 ? t`an earlier step is` : t`earlier steps are`} not: ${gaps.join(', ')}${more ? ', …' : '.'}`,
    );
  if (status === 'completed' && totalSteps !== undefined && done.size < totalSteps)
    found.push(t`It is marked completed with ${done.size} of ${plural(totalSteps, 'step')} done.`);
  const isOver = totalSteps !== undefined && last >= totalSteps;
  if (status === 'running' && !isOver && currentStep !== undefined && done.has(currentStep))
    found.push(t`The current step ${currentStep} is already completed.`);
  if (done.size > 0 && !isOver && resumeFromStep !== undefined && resumeFromStep !== last + 1)
    found.push(t`"resume_from_step" is ${resumeFromStep}; after step ${last} the next step is ${last + 1}.`);
  if (
    state.startedAt !== undefined &&
    state.lastCheckpoint !== undefined &&
    new Date(state.lastCheckpoint) < new Date(state.startedAt)
  )
    found.push(t`The last checkpoint is older than the start.`);
  if (graph?.status !== undefined && graph.status !== (status === 'abandoned' ? 'failed' : status))
    found.push(t`workflow-graph.yaml has another status.`);
  return found;
}
