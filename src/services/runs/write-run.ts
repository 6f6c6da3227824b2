import { basename } from 'node:path/posix';
import { BmadError } from '../../base/errors.ts';
import { appendLine, replaceShared } from '../../base/files/file-shared.ts';
import type { Table } from '../../base/parse/parse.ts';
import { stateDigest } from '../../kit/runs/checkpoint-id.ts';
import { applied, JOURNAL_FILE, lastEntryIn, standingOf } from '../../kit/runs/journal.ts';
import { jsonLike } from '../../kit/runs/json-form.ts';
import { readJson, readText } from '../../kit/runs/json-file.ts';
import { STATE_FILE } from '../../kit/runs/state-file.ts';
import type { JournalEntry, RunPlace } from '../../model/run.ts';
import { OPEN_RUN } from './find.ts';

/** What a writer adds; number, time and digest are put in here. */
export type Change = Omit<JournalEntry, 'seq' | 'at' | 'after'>;

export interface Before {
  state: Table;
  text: string | undefined;
  seq: number;
  /** The latest time that anything in the run has. */
  latest: string | undefined;
  /** Whether state and journal tell the same story. */
  level: boolean;
  /** Whether a crash kept the last change from being written into the state file. */
  behind: boolean;
}

/** What a run is before a change. A file that cannot be understood is left as it is, and so is the run. */
export async function beforeChange({ base, path }: RunPlace): Promise<Before> {
  const { table, broken, conflict } = await readJson(base, `${path}/${STATE_FILE}`);
  const journal = await readText(base, `${path}/${JOURNAL_FILE}`);
  if (typeof journal === 'object') throw leftAlone(path, JOURNAL_FILE, journal.broken);
  const { standing, state } = standingOf(journal, table);
  // One with a conflict is made again, if the journal has what both sides did.
  if (broken !== undefined && (conflict !== true || state === undefined))
    throw leftAlone(path, STATE_FILE, broken);
  if (state === undefined)
    throw new BmadError('not_found', `${path} has no state to continue from.`, {
      subject: path,
      steps: [OPEN_RUN],
    });
  const last = journal === undefined ? undefined : lastEntryIn(journal);
  return {
    state,
    text: journal,
    seq: last?.seq ?? 0,
    latest:
      [last?.at, state['last_checkpoint'], state['started_at']].map(momentOf).sort().at(-1) || undefined,
    level: standing === 'level' || standing === 'behind',
    behind: standing === 'behind',
  };
}

/** A moment in one form, so that moments can be compared as texts. */
function momentOf(value: unknown): string {
  const date = new Date(typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString();
}

/**
 * Adds a change: first the line in the journal, then the state as a whole. A crash in between leaves a journal that is
 * ahead, from which the state is made again. Whoever calls holds the lock.
 */
export async function writeChange(
  place: RunPlace,
  before: Before,
  change: Change,
  now: Date,
): Promise<{ clockBack: boolean }> {
  const { base, path } = place;
  const clockBack = before.latest !== undefined && now.toISOString() < before.latest;
  // Clocks are set back; what happened later never gets an earlier time.
  const at = clockBack && before.latest !== undefined ? before.latest : now.toISOString();
  const lines: JournalEntry[] = [];
  if (!before.level && change.event !== 'opened' && change.event !== 'adopted')
    lines.push({
      seq: before.seq + 1,
      at,
      event: 'adopted',
      state: before.state,
      after: stateDigest(before.state),
    });
  const entry = { ...change, seq: before.seq + lines.length + 1, at };
  const state = applied(before.state, entry);
  lines.push({ ...entry, after: stateDigest(state) });
  await appendLine(base, `${path}/${JOURNAL_FILE}`, lines.map(asLine).join('\n'));
  await writeState(place, state);
  return { clockBack };
}

/** Number, time and event first: that is what people look for. */
function asLine({ seq, at, event, ...rest }: JournalEntry): string {
  return JSON.stringify({ seq, at, event, ...rest });
}

export async function writeState({ base, path }: RunPlace, state: Table): Promise<void> {
  const before = await readText(base, `${path}/${STATE_FILE}`);
  await replaceShared(
    base,
    `${path}/${STATE_FILE}`,
    jsonLike(typeof before === 'string' ? before : '', state),
  );
}

function leftAlone(path: string, file: string, reason: string): BmadError {
  return new BmadError(
    'unavailable',
    `${path}/${file} ${reason}; it was left unchanged and nothing was written.`,
    {
      subject: `${path}/${file}`,
      hint: 'Repair the file, or rebuild it from the journal; the broken one is kept beside it.',
      steps: [
        { operation: 'run_repair', args: { run_id: basename(path) }, why: 'Rebuild it from the journal' },
      ],
    },
  );
}
