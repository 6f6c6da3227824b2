import { modifiedInside } from '../../base/files.ts';
import type { Run, RunGraph, RunPlace } from '../../model/run.ts';
import { withFiles } from './artefacts.ts';
import { driftOf } from './drift.ts';
import { GRAPH_FILE, graphOf, STATUS_FILE, statusFileTable } from './graph.ts';
import { JOURNAL_FILE, journalIn, standingOf } from './journal.ts';
import { readJson, readText } from './json-file.ts';
import { STATE_FILE, stateOf } from './state-file.ts';

export interface RunName {
  id: string;
  branch: string;
  archive: string | undefined;
}

/** One run with everything its folder says, and what of that does not fit together. */
export async function readRun(root: string, place: RunPlace, name: RunName): Promise<Run> {
  const { base, path } = place;
  const problems: string[] = [];
  const tell = (file: string, text: string): void => void problems.push(`${path}/${file} ${text}.`);
  const { table, broken } = await readJson(base, `${path}/${STATE_FILE}`);
  if (broken !== undefined) tell(STATE_FILE, broken);
  const journal = await readText(base, `${path}/${JOURNAL_FILE}`);
  if (typeof journal === 'object') tell(JOURNAL_FILE, journal.broken);
  const lines = typeof journal === 'string' ? journal : undefined;
  // A file that is there and broken is not one that a crash kept from being written: those are whole or absent.
  const { standing, state: counts } =
    broken === undefined ? standingOf(lines, table) : { standing: 'changed' as const, state: undefined };
  if (standing === 'behind')
    problems.push('The journal is ahead of state.json and counts; the next write repairs it.');
  if (standing === 'changed' && broken === undefined)
    problems.push(
      'state.json was written by something else since the last line of the journal; the file counts.',
    );
  if (lines !== undefined) {
    const unread = journalIn(lines).broken;
    if (unread > 0) tell(JOURNAL_FILE, `has ${unread} line${unread === 1 ? '' : 's'} that cannot be read`);
  }
  const statusText = await readText(base, `${path}/${STATUS_FILE}`);
  const graph = await graphIn(base, path, tell);
  const fallback =
    counts === undefined && broken === undefined && typeof statusText === 'string'
      ? statusFileTable(statusText)
      : undefined;
  const found = counts ?? fallback;
  const complaints: string[] = [];
  const read = found === undefined ? undefined : stateOf(found, complaints);
  const state = read && { ...read, artefacts: await withFiles(root, place, read.artefacts) };
  for (const complaint of complaints)
    tell(fallback === undefined ? STATE_FILE : STATUS_FILE, `: ${complaint}`);
  if (state !== undefined) {
    problems.push(...driftOf({ ...name, archived: name.archive !== undefined }, state, graph));
    for (const { name: artefact, path: file } of state.artefacts.filter((each) => each.file === undefined))
      problems.push(`The artefact ${JSON.stringify(artefact)} is not there: ${JSON.stringify(file)}.`);
  }
  const times = [state?.lastCheckpoint, state?.startedAt].map((text) => new Date(text ?? 0).getTime());
  const changed = await Promise.all(
    [STATE_FILE, JOURNAL_FILE].map((file) => modifiedInside(base, `${path}/${file}`)),
  );
  return {
    ...name,
    place,
    state,
    status: state?.status ?? statusOfGraph(graph),
    latest: Math.max(0, ...times, ...changed.map((time) => time ?? 0)),
    graph,
    statusFile: typeof statusText === 'string',
    journal: standing,
    problems: problems.map((text) => text.replace(' : ', ': ').replace(/\.\.$/, '.')),
  };
}

async function graphIn(
  base: string,
  path: string,
  tell: (file: string, text: string) => void,
): Promise<RunGraph | undefined> {
  const text = await readText(base, `${path}/${GRAPH_FILE}`);
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
