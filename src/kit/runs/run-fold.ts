import { field, isTable, textField, type Table } from '../../base/parse/parse.ts';
import { followers, type Happened, inOrder } from '../../lines/line.ts';
import type { Entities, Noun } from '../../lines/view.ts';
import type { JournalEntry, JournalStanding } from '../../model/run.ts';
import { lastStep, stateDigest, statusIn } from './state-file.ts';

/** An entry before it has its number, which follows from the order of lines. */
export type Entry = Omit<JournalEntry, 'seq'>;

/** What the lines make of a run. */
export interface RunFold {
  branch: string;
  id: string;
  /** What `state.json` has to be; nothing where the beginning is missing. */
  state: Table | undefined;
  /** Whether nothing more is expected of it. */
  over: boolean;
  /** Digests of the states that there have been, by which a file that stayed behind is recognised. */
  known: readonly string[];
  /** The latest time of an entry. */
  latest: string | undefined;
  count: number;
  /** How many entries of the journal of a version before are in no line yet. */
  missing: number;
}

export type RunLines = Entities<RunFold>;

/** A run is one of its branch: what a branch takes over from another one keeps its id. */
export const runName = ({ branch, id }: { branch: string; id: string }): string => `${branch}/${id}`;
export const runEntity = (run: { branch: string; id: string }): string => `run/${runName(run)}`;

/** What a version before had in a file of its own, and that a run goes on in another branch. */
export const MOVED = 'moved';
export const LEFT = 'left';

const EVENTS = ['opened', 'adopted', 'checkpoint', 'finished'] as const;

/** What counts as an entry, whoever wrote it. */
export function entryOf(event: unknown, value: unknown): Entry | undefined {
  const known = EVENTS.find((each) => each === event);
  if (known === undefined || !isTable(value)) return undefined;
  if (textField(value, 'at') === undefined || textField(value, 'after') === undefined) return undefined;
  if ((known === 'opened' || known === 'adopted') && !isTable(field(value, 'state'))) return undefined;
  return { ...value, event: known } as unknown as Entry;
}

/** The state after one more entry. The writer uses it too, so that both always come to the same. */
export function applied(before: Table, entry: Omit<Entry, 'after'>): Table {
  if (entry.event === 'opened' || entry.event === 'adopted') return { ...entry.state };
  const last = before['last_checkpoint'];
  // Of two who did not know of each other, the later time holds.
  const isLater = typeof last === 'string' && momentOf(last) > momentOf(entry.at);
  const state: Table = { ...before, last_checkpoint: isLater ? last : entry.at };
  if (entry.total !== undefined) state['total_steps'] = entry.total;
  if (entry.notes !== undefined) state['agent_notes'] = entry.notes;
  if (entry.event === 'finished') {
    delete state['abandoned'];
    return { ...state, status: entry.status, ...(entry.abandoned === true ? { abandoned: true } : {}) };
  }
  if (entry.status === undefined) delete state['abandoned'];
  if (entry.agent !== undefined) state['agent'] = entry.agent;
  // It is about the last step only: one that was told by its number alone has no name.
  if (entry.step !== undefined) delete state['last_step'];
  if (entry.told !== undefined) state['last_step'] = entry.told;
  const done = new Set(numbersIn(before['steps_completed']));
  for (const step of [...numbersIn(entry.also), ...(entry.step === undefined ? [] : [entry.step])])
    done.add(step);
  const steps = [...done].sort((a, b) => a - b);
  const reached = lastStep(steps);
  const total = typeof state['total_steps'] === 'number' ? state['total_steps'] : undefined;
  const next = reached === undefined ? (entry.current ?? 1) : reached + 1;
  const variables = before['session_variables'];
  return {
    ...state,
    // What is only noted in a run that rests does not set it going.
    status: entry.status ?? 'running',
    steps_completed: steps,
    current_step: entry.current ?? (total === undefined ? next : Math.min(next, total)),
    resume_from_step: next,
    session_variables: { ...(isTable(variables) ? variables : {}), ...entry.variables },
    artefacts_produced: withArtefacts(before['artefacts_produced'], entry.artefacts ?? []),
    ...(entry.checkpoint_id === undefined ? {} : { checkpoint_id: entry.checkpoint_id }),
  };
}

/** A moment in one form, so that moments can be compared as texts. */
export function momentOf(value: unknown): string {
  const date = new Date(typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

function numbersIn(value: unknown): number[] {
  return Array.isArray(value) ? value.map(Number).filter(Number.isSafeInteger) : [];
}

/** A file that is named again for the same step is one artefact, not two. */
function withArtefacts(known: unknown, added: readonly { step?: number; path: string }[]): unknown[] {
  const rest = (Array.isArray(known) ? (known as unknown[]) : []).filter(
    (each) =>
      !isTable(each) ||
      !added.some(({ step, path }) => field(each, 'path') === path && field(each, 'step') === step),
  );
  return [...rest, ...added];
}

/** By which an entry is known, whoever has written it as a line. */
export const entryKey = ({ at, event, after }: Entry): string => `${at} ${event} ${after}`;

interface Told {
  entry: Entry;
  event: Happened;
}

/** What lines say entry by entry; a journal that two machines have written as lines counts once. */
function toldIn(ordered: readonly Happened[]): { told: Told[]; missing: number } {
  const moved = new Map<string, Told>();
  let total = 0;
  for (const event of ordered.filter((each) => each.do === MOVED)) {
    const { entries, of } = event.data as { entries?: unknown; of?: unknown };
    total = Math.max(total, typeof of === 'number' ? of : 0);
    for (const each of Array.isArray(entries) ? (entries as unknown[]) : []) {
      const entry = isTable(each) ? entryOf(field(each, 'event'), each) : undefined;
      if (entry !== undefined) moved.set(entryKey(entry), { entry, event });
    }
  }
  const before = [...moved.values()].sort(({ entry: a }, { entry: b }) =>
    a.at < b.at ? -1 : a.at > b.at ? 1 : 0,
  );
  const since = ordered.flatMap((event) => {
    const entry = entryOf(event.do, event.data);
    return entry === undefined ? [] : [{ entry, event }];
  });
  return { told: [...before, ...since], missing: Math.max(0, total - moved.size) };
}

const begins = ({ entry }: Told): boolean => entry.event === 'opened' || entry.event === 'adopted';

/**
 * All steps apply, whoever recorded them. What was adopted stands for all that its writer knew of; what another machine had
 * recorded without its knowledge is applied to it as well.
 */
function foldOf(
  run: { branch: string; id: string },
  told: readonly Told[],
  sees: (event: Happened, earlier: Happened) => boolean,
  missing: number,
): RunFold {
  let state: Table | undefined;
  for (const [index, each] of told.entries()) {
    if (!begins(each)) {
      if (state !== undefined) state = applied(state, each.entry);
      continue;
    }
    const isUnseen = ({ event }: Told): boolean => event !== each.event && !sees(each.event, event);
    const unseen = told.slice(0, index).filter(isUnseen);
    state = unseen.reduce<Table>((so, earlier) => applied(so, withSteps(earlier, so)), {
      ...each.entry.state,
    });
  }
  return {
    ...run,
    state,
    over: state !== undefined && isEnded(state),
    known: told.map(({ entry }) => entry.after),
    latest: told
      .map(({ entry }) => momentOf(entry.at))
      .sort()
      .at(-1),
    count: told.length,
    missing,
  };
}

/** Of a whole state that another one did not know of, its steps and files. */
function withSteps(told: Told, state: Table): Omit<Entry, 'after'> {
  if (!begins(told)) return told.entry;
  const { at, state: theirs = {} } = told.entry;
  const [files, status] = [theirs['artefacts_produced'], state['status']];
  return {
    event: 'checkpoint',
    at,
    also: numbersIn(theirs['steps_completed']),
    artefacts: (Array.isArray(files) ? files : []).filter(isTable) as { name: string; path: string }[],
    ...(typeof status === 'string' ? { status } : {}),
  };
}

/** The entries of a journal as a version before kept it. */
export function foldOfJournal(run: { branch: string; id: string }, entries: readonly Entry[]): RunFold {
  return foldOf(run, entries.map(asTold), () => true, 0);
}

const asTold = (entry: Entry): Told => ({
  entry,
  event: { ...NO_LINE, at: entry.at, do: entry.event },
});

const NO_LINE: Omit<Happened, 'at' | 'do'> = {
  of: '',
  id: '',
  after: [],
  data: {},
  by: { kind: 'local', name: '' },
  machine: '',
  newer: false,
};

/** What happened to a run in its branch: of one that has left, and came back, from there. */
function sinceItCame(ordered: readonly Happened[]): Happened[] {
  const left = ordered.findLastIndex((event) => event.do === LEFT);
  const since = ordered.slice(left + 1);
  // Who recorded something for it later without knowing that it had left has nothing to add it to.
  return left < 0 || toldIn(since).told.some(begins) ? since : [];
}

/** The journal of a run as its lines tell it. */
export function entriesIn(events: readonly Happened[]): JournalEntry[] {
  return toldIn(sinceItCame(inOrder(events))).told.map(({ entry }, index) => ({ ...entry, seq: index + 1 }));
}

/** Runs among all that lines are about. */
export const RUNS: Noun<RunFold> = {
  noun: 'run',
  fold(name, events) {
    const at = name.indexOf('/');
    const here = sinceItCame(inOrder(events));
    const { told, missing } = toldIn(here);
    const [branch, id] = [name.slice(0, at), name.slice(at + 1)];
    return at < 1 || told.length === 0 ? undefined : foldOf({ branch, id }, told, followers(here), missing);
  },
  isOver: ({ over }) => over,
};

/** Whether nothing more is expected of a run; one that failed is gone on with. */
export function isEnded(state: Table): boolean {
  const status = statusIn(state);
  return status === 'completed' || status === 'abandoned';
}

export interface Standing {
  standing: JournalStanding;
  /** The state that counts; nothing when there is none. */
  state: Table | undefined;
}

/** What counts, the lines or the file. A state that an earlier line left behind is one that a crash kept from being written. */
export function standingOf(fold: RunFold | undefined, table: Table | undefined): Standing {
  if (fold === undefined) return { standing: 'none', state: table };
  const now = table === undefined ? undefined : stateDigest(table);
  if (now !== undefined && fold.state !== undefined && now === stateDigest(fold.state))
    return { standing: 'level', state: table };
  const isKnown = now === undefined || fold.known.includes(now);
  return isKnown && fold.state !== undefined
    ? { standing: 'behind', state: fold.state }
    : { standing: 'changed', state: table };
}
