import { t } from '../../base/text/message.ts';
import { basename } from 'node:path/posix';
import { BmadError, quoted } from '../../base/errors.ts';
import { replaceShared } from '../../base/files/file-shared.ts';
import type { Table } from '../../base/parse/parse.ts';
import { jsonLike, readJson, readText, STATE_FILE, stateDigest } from '../../kit/runs/state-file.ts';
import { JOURNAL_FILE, readJournal } from '../../kit/runs/read-run.ts';
import {
  applied,
  entriesIn,
  entryKey,
  foldOfJournal,
  momentOf,
  MOVED,
  runEntity,
  runName,
  standingOf,
  type Entry,
  type RunFold,
  type RunLines,
} from '../../kit/runs/run-fold.ts';
import { asMuchAsFits, MOST_LINE } from '../../lines/line.ts';
import type { Saying } from '../../lines/view.ts';
import type { JournalEntry, JournalStanding, Run, RunPlace } from '../../model/run.ts';
import { OPEN_RUN } from './storage.ts';

/** What a writer adds; time and digest are put in here. */
export type Change = Omit<Entry, 'at' | 'after'>;

export type RunAt = Pick<Run, 'id' | 'branch' | 'place'>;

export interface Before {
  state: Table;
  /** The latest time that anything in the run has. */
  latest: string | undefined;
  /** Whether the lines have all that the state has. */
  level: boolean;
  /** Whether a crash kept the last change from being written into the state file. */
  behind: boolean;
}

interface Told {
  /** What the lines, or the journal of a version before, make of the run. */
  fold: RunFold | undefined;
  /** The entries of that journal, for as long as they are in no line. */
  entries: readonly Entry[];
}

/** What happened to a run: its lines say it or, where there are none, the journal of a version before. */
export async function toldOf(run: RunAt, lines: RunLines): Promise<Told> {
  const fold = lines.get(runName(run));
  if (fold !== undefined && fold.missing === 0) return { fold, entries: [] };
  const journal = await readJournal(run.place, []);
  if (journal === undefined) return { fold, entries: [] };
  if ('unread' in journal) throw leftAlone(run.place.path, JOURNAL_FILE, journal.unread);
  const entries = [...new Map(journal.entries.map((entry) => [entryKey(entry), entry])).values()];
  const isKnown = entries.length <= (fold?.count ?? 0);
  return isKnown ? { fold, entries: [] } : { fold: foldOfJournal(run, entries), entries };
}

/** The journal of a run, of which lines are the truth. */
export async function journalOf(run: RunAt, lines: RunLines): Promise<JournalEntry[]> {
  const { entries } = await toldOf(run, lines);
  if (entries.length === 0) return entriesIn(await lines.history(runName(run)));
  return entries.map((entry, index) => ({ ...entry, seq: index + 1 }));
}

/** What a run is before a change. A file that cannot be understood is left as it is, and so is the run. */
export async function beforeChange({ place }: RunAt, { fold }: Told): Promise<Before> {
  const { base, path } = place;
  const { table, broken, conflict } = await readJson(base, `${path}/${STATE_FILE}`);
  const { standing, state } = standingOf(fold, table);
  // One with a conflict is made again, if the lines have what both sides did.
  if (broken !== undefined && (conflict !== true || state === undefined))
    throw leftAlone(path, STATE_FILE, broken);
  if (state === undefined)
    throw new BmadError('not_found', t`${path} has no state to continue from.`, {
      subject: path,
      steps: [OPEN_RUN],
    });
  const times = [fold?.latest, state['last_checkpoint'], state['started_at']];
  return {
    state,
    latest: times.map(momentOf).sort().at(-1) || undefined,
    level: isLevel(standing),
    behind: standing === 'behind',
  };
}

const isLevel = (standing: JournalStanding): boolean => standing === 'level' || standing === 'behind';

/** A change as an entry. Clocks are set back; what happened later never gets an earlier time. */
export function entryAfter(before: Omit<Before, 'level' | 'behind'>, change: Change, now: Date) {
  const clockBack = before.latest !== undefined && now.toISOString() < before.latest;
  const at = clockBack && before.latest !== undefined ? before.latest : now.toISOString();
  const entry = { ...change, at };
  return { clockBack, entry: { ...entry, after: stateDigest(applied(before.state, entry)) } };
}

/** An entry as a line says it. */
export function saying(run: Pick<Run, 'id' | 'branch'>, entry: Entry): Saying {
  refuseLarge(run, entry);
  const { event, ...data } = entry;
  return { of: runEntity(run), do: event, data };
}

/** What a line has besides what it says. */
const ROOM = 20_000;

/** A line has an end: what is too large for one would be kept by nobody. */
function refuseLarge({ id }: Pick<Run, 'id'>, entry: Entry): void {
  if (JSON.stringify(entry).length <= MOST_LINE - ROOM) return;
  const isWhole = entry.state !== undefined;
  throw new BmadError(
    'invalid_input',
    isWhole
      ? t`The state of the run ${quoted(id)} has more than 1 MB, so nothing can be added to it.`
      : t`That is too much for one checkpoint of the run ${quoted(id)}: at most 1 MB fits.`,
    {
      subject: id,
      hint: isWhole
        ? t`Move large values out of its ${STATE_FILE} into files of the project, name these files there, then try again.`
        : t`Write large values into a file of the project, record it with "artefacts", then try again.`,
    },
  );
}

/**
 * Entries that a run had before it was in lines, or in another branch: those that are in no line yet, as much as fits in one,
 * and how many there are. Lines count when they have all of them.
 */
export function moving(
  run: Pick<Run, 'id' | 'branch'>,
  entries: readonly Entry[],
  lines: RunLines,
): { said: Saying[]; isLast: boolean } {
  const known = new Set(entriesIn(lines.eventsOf(runName(run))).map(entryKey));
  const missing = entries.filter((entry) => !known.has(entryKey(entry)));
  for (const entry of missing) refuseLarge(run, entry);
  const [part, ...more] = asMuchAsFits(missing);
  const data = { entries: part, of: entries.length };
  return {
    said: part === undefined ? [] : [{ of: runEntity(run), do: MOVED, data }],
    isLast: more.length === 0,
  };
}

export async function writeState({ base, path }: RunPlace, state: Table): Promise<void> {
  const before = await readText(base, `${path}/${STATE_FILE}`);
  await replaceShared(
    base,
    `${path}/${STATE_FILE}`,
    jsonLike(typeof before === 'string' ? before : '', state),
  );
}

export function newerRun({ id }: RunAt): BmadError {
  return new BmadError(
    'unavailable',
    t`The run ${quoted(id)} was changed by a newer version of this server.`,
    {
      subject: id,
      hint: t`It can be read here. To change it, update this server.`,
    },
  );
}

function leftAlone(path: string, file: string, reason: string): BmadError {
  return new BmadError(
    'unavailable',
    t`${path}/${file} ${reason}; it was left unchanged and nothing was written.`,
    {
      subject: `${path}/${file}`,
      hint: t`Repair the file, or rebuild it from the journal; the broken one is kept beside it.`,
      steps: [
        { operation: 'run_repair', args: { run_id: basename(path) }, why: t`Rebuild it from the journal` },
      ],
    },
  );
}
