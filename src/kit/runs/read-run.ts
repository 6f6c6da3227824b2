import { isAbsolute, join, relative, sep } from 'node:path';
import { fromProject } from '../../base/files/paths.ts';
import { attempt, broken as unread } from '../../base/errors.ts';
import { modifiedInside, realFolder } from '../../base/files/files.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { field, isTable, parseYaml, type Table, textField } from '../../base/parse/parse.ts';
import { plural, t } from '../../base/text/message.ts';
import { utcOf, withoutEnds } from '../../base/text/text.ts';
import type { Run, RunArtefact, RunGraph, RunPlace, RunState } from '../../model/run.ts';
import { type Entry, entryOf, foldOfJournal, type RunFold, standingOf } from './run-fold.ts';
import { type JsonReading, lastStep, readJson, readText, STATE_FILE, stateOf } from './state-file.ts';

export const JOURNAL_FILE = 'journal.jsonl';
const GRAPH_FILE = 'workflow-graph.yaml';
const STATUS_FILE = 'workflow-status.md';

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
  if (broken > 0)
    tell(
      JOURNAL_FILE,
      broken === 1 ? t`has 1 line that cannot be read` : t`has ${broken} lines that cannot be read`,
    );
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
      totalSteps === 1
        ? t`Step ${last} is completed, but there is 1 step.`
        : t`Step ${last} is completed, but there are ${totalSteps} steps.`,
    );
  const from = done.has(0) ? 0 : 1;
  const gaps: number[] = [];
  for (let step = from; step < last && gaps.length <= 10; step++) if (!done.has(step)) gaps.push(step);
  const more = gaps.length > 10;
  if (more) gaps.pop();
  const open = `${gaps.join(', ')}${more ? ', …' : '.'}`;
  if (gaps.length > 0)
    found.push(
      gaps.length === 1
        ? t`Step ${last} is completed, but an earlier step is not: ${open}`
        : t`Step ${last} is completed, but earlier steps are not: ${open}`,
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

/** The folder itself, or out of it. */
const LEADS_UP = /^\.{1,2}$|^\.\.[\\/]/;

/**
 * Where an artefact is, from the top of the project: paths are written from the run's own folder or from the top.
 * Undefined if there is no such file in the project, or a link leads out of it.
 */
export async function artefactFile(root: string, place: RunPlace, path: string): Promise<string | undefined> {
  const given = fromProject(path.replaceAll('\\', '/'));
  const absolute = isAbsolute(given);
  const inside = absolute ? await fromTop(root, given) : join(given);
  // From the run's own folder only what is inside it; other paths begin at the top of the project.
  const own =
    absolute || place.base !== root || LEADS_UP.test(join(given)) ? undefined : join(place.path, given);
  for (const candidate of [own, inside]) {
    const clean = candidate?.split(sep).join('/');
    if (clean === undefined || LEADS_UP.test(clean)) continue;
    if ((await modifiedInside(root, clean)) !== undefined) return clean;
  }
  return undefined;
}

/** An absolute path as one from the top of the project; nothing when it leads elsewhere. */
async function fromTop(root: string, path: string): Promise<string | undefined> {
  const real = (await realFolder(root)) ?? root;
  const inner = [relative(real, path), relative(root, path)].find(
    (each) => !each.startsWith('..') && each !== '',
  );
  return inner;
}

async function withFiles(
  root: string,
  place: RunPlace,
  artefacts: readonly RunArtefact[],
): Promise<RunArtefact[]> {
  const found: RunArtefact[] = [];
  for (const each of artefacts) found.push({ ...each, file: await artefactFile(root, place, each.path) });
  return found;
}

/** The plan in numbers, counted from its nodes: the figures in the file are kept by hand. */
function graphOf(text: string): RunGraph | { broken: string } {
  let trouble = t`does not contain a graph`;
  const value = attempt(
    () => parseYaml(GRAPH_FILE, text),
    unread(({ line }) => {
      trouble = t`is not valid YAML${line === undefined ? '' : t` (line ${line})`}`;
    }),
  );
  if (!isTable(value)) return { broken: trouble };
  const workflow = field(value, 'workflow');
  const nodes = field(value, 'nodes');
  const tables = (Array.isArray(nodes) ? (nodes as unknown[]) : []).filter(isTable);
  const named = (status: string): string[] =>
    tables
      .filter((node) => textField(node, 'status') === status)
      .map((node) => textField(node, 'label') ?? textField(node, 'id') ?? '?');
  return {
    status: isTable(workflow) ? textField(workflow, 'status') : undefined,
    total: tables.length,
    completed: named('completed').length + named('skipped').length,
    running: named('running'),
    failed: named('failed'),
  };
}

/** The first two cells of a row, without the marks around them. */
function pairIn(line: string): [label: string, value: string] | undefined {
  const [before, label = '', value = '', rest] = line.split('|', 4);
  if (before !== '' || rest === undefined) return undefined;
  return [withoutEnds(label.trim(), '*').trim(), value.trim().replace(/^`|`$/g, '').trim()];
}

/** The table at the top of a status file as a state, for runs that have no other. French and English words. */
export function statusFileTable(text: string): Table {
  const table: Table = {};
  for (const line of text.split(/\r?\n/)) {
    const [label, value] = pairIn(line.trim()) ?? ['', ''];
    const key = KEYS.find(([pattern]) => pattern.test(label))?.[1];
    if (key === undefined || value === '' || value.includes('{{')) continue;
    if (key !== 'current_step') table[key] = value;
    else {
      const [current, total] = value.split('/').map((part) => part.trim());
      table['current_step'] = current;
      if (total !== undefined) table['total_steps'] = total;
    }
  }
  if (typeof table['status'] === 'string')
    table['status'] = table['status'].toLowerCase().replace(/[^a-z]/g, '');
  return table;
}

const KEYS: readonly (readonly [RegExp, string])[] = [
  [/^run id$/i, 'run_id'],
  [/^workflow$/i, 'workflow_path'],
  [/^(?:démarré le|started)/i, 'started_at'],
  [/^(?:dernière maj|last update)/i, 'last_checkpoint'],
  [/^(?:step courant|current step|étape courante)$/i, 'current_step'],
  [/^(?:statut global|status|overall status)$/i, 'status'],
  [/^(?:session branch|branche de session)$/i, 'session_branch'],
];

/**
 * A version before kept what happened to a run in a file beside its state. It is read for as long as no line is about the
 * run, and stays where it is: an older version continues from the state it finds.
 */

interface Journal {
  entries: Entry[];
  /** Lines that could not be understood; a crash may leave one. */
  broken: number;
}

export function journalIn(text: string): Journal {
  const entries: Entry[] = [];
  let broken = 0;
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const value = jsonObject(line);
    const entry = typeof value?.['seq'] === 'number' ? entryOf(field(value, 'event'), value) : undefined;
    if (entry === undefined) broken += 1;
    else entries.push(entry);
  }
  return { entries, broken };
}

/** What the journal in a folder says; of a conflict both sides, which is told. */
export async function readJournal(
  { base, path }: RunPlace,
  problems: string[],
): Promise<Journal | { unread: string } | undefined> {
  const text = await readText(base, `${path}/${JOURNAL_FILE}`, problems);
  if (text === undefined) return undefined;
  return typeof text === 'string' ? journalIn(text) : { unread: text.broken };
}
