import { t } from '../../base/text/message.ts';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BmadError } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { appendLog, logStamp, readLog, replaceLog, type LogStamp } from '../../base/files/file-log.ts';
import { ensureFolder, removeTree } from '../../base/files/file-state.ts';
import type { Log } from '../../base/log.ts';
import { projectKey } from '../../base/files/project-key.ts';
import { byteLength } from '../../base/text/text.ts';
import type { BmadRecord } from '../../model/record.ts';
import {
  headerLine,
  LINES_BEFORE_COMPACTION,
  NAME_LENGTH,
  notALog,
  UsageState,
  usedName,
  useLine,
  type Line,
  type Use,
  type UsedDay,
  type UsedName,
} from './usage-lines.ts';

export interface UsageSetup {
  /** The user's folder for what has no place in a project. */
  state: string;
  /** The project; nothing where the server runs for none. */
  root: string | undefined;
  /** Whether what was noted counts. */
  reads: boolean;
  /** Whether anything is noted. */
  writes: boolean;
  now(): number;
  /** How long notes are gathered before they are written; not at all for a program that is about to end. */
  gatherMs?: number;
  log: Log;
}

export interface UsageRead {
  uses: ReadonlyMap<UsedName, Use>;
  /** Why the log could not be used, in words; ranking continues without it. */
  problem?: string;
}

/** The same with what each day came to. */
interface UsageNoted extends UsageRead {
  days: ReadonlyMap<string, UsedDay>;
}

export type Usage = ReturnType<typeof openUsage>;

const LOCK_WAIT_MS = 3_000;
/** Many times what the longest log before compaction takes; whatever is larger was not written by us. */
const LARGEST = 4 * 1024 * 1024;

/** What was started in one project, in a file of the user's. Any number of processes may read and write it. */
export function openUsage({ state, root, writes, reads, now, gatherMs = 0, log }: UsageSetup) {
  const place = join(state, 'usage', `${root === undefined ? 'no-project' : projectKey(root)}.jsonl`);
  let known: { stamp: LogStamp; state: UsageState } | undefined;
  let complained = '';
  let waiting: Line[] = [];
  /** What is being added to the file at this moment. */
  let adding: readonly Line[] = [];
  let writing: Promise<void> | undefined;

  async function load(): Promise<UsageState> {
    const stamp = logStamp(place);
    if (stamp === undefined) return new UsageState();
    if (known?.stamp.version === stamp.version) return known.state;
    const grown = withOwn(stamp);
    if (grown !== undefined) return grown;
    if (!stamp.plain || stamp.bytes > LARGEST) throw notALog(place, stamp.plain);
    const fresh = new UsageState();
    await readLog(
      place,
      undefined,
      () => fresh.clear(),
      (line) => fresh.take(place, line),
    );
    known = { stamp, state: fresh };
    return fresh;
  }

  /** What this process itself has added needs no reading, if the file has grown by exactly that. */
  function withOwn(stamp: LogStamp): UsageState | undefined {
    if (known === undefined || adding.length === 0 || stamp.file !== known.stamp.file) return undefined;
    if (stamp.bytes !== known.stamp.bytes + byteLength(adding.map((use) => `${useLine(use)}\n`).join('')))
      return undefined;
    known = { stamp, state: known.state.with(adding) };
    return known.state;
  }

  async function write(uses: readonly Line[]): Promise<void> {
    const lines = uses.map(useLine);
    await ensureFolder(dirname(place));
    await withLock(`${place}.lock`, { waitMs: LOCK_WAIT_MS }, async () => {
      const before = await load();
      // A file that is empty, or whose first line a crash has cut off, starts from the beginning.
      if (before.lines === 0) await replaceLog(place, [headerLine(), ...lines]);
      else if (before.lines > LINES_BEFORE_COMPACTION || before.isAhead(now()))
        await replaceLog(place, [...before.compact(now()), ...lines]);
      else {
        adding = uses;
        try {
          await appendLog(place, lines);
          await load();
        } finally {
          adding = [];
        }
      }
    });
  }

  async function writeAll(): Promise<void> {
    if (gatherMs > 0) await pause(gatherMs);
    while (waiting.length > 0) {
      const uses = waiting;
      waiting = [];
      await write(uses).catch(complain);
    }
    writing = undefined;
  }

  /** Once for each reason: it would come with every call. */
  function complain(error: unknown): string {
    const reason = error instanceof BmadError ? error.line : t`The usage log cannot be used.`;
    if (reason !== complained) log.warn(reason);
    complained = reason;
    return reason;
  }

  async function noted(): Promise<UsageNoted> {
    try {
      const written = await load();
      // What is still to be written counts as well.
      const { uses, days } = waiting.length === 0 ? written : written.with(waiting);
      return { uses, days };
    } catch (error) {
      return { uses: new Map(), days: new Map(), problem: complain(error) };
    }
  }

  return {
    place,
    writes,
    /** What the file says, even if usage is turned off. */
    noted,
    /** What ranking goes by: nothing where usage is switched off. */
    read: async (): Promise<UsageRead> => {
      if (!reads) return { uses: new Map() };
      const { days: _days, ...rest } = await noted();
      return rest;
    },
    /** Records a start, some time soon. No one waits for it, and nothing fails because of it. */
    note(record: Pick<BmadRecord, 'kind' | 'moduleName' | 'name'>, tokens?: number): void {
      const what = usedName(record);
      if (!writes || what.length > NAME_LENGTH) return;
      waiting.push({ what, at: now(), ...(tokens === undefined ? {} : { tokens }) });
      writing ??= writeAll();
    },
    /** Resolves when nothing is left to be noted. */
    async settled(): Promise<void> {
      await writing;
    },
    /** Removes the file, whatever is in it; answers how many names could be read in it, or nothing when there was none. */
    async clear(): Promise<number | undefined> {
      waiting = [];
      const stamp = logStamp(place);
      if (stamp === undefined) return undefined;
      if (!stamp.plain) throw notALog(place, false);
      return withLock(`${place}.lock`, { waitMs: LOCK_WAIT_MS }, async () => {
        const names = await load().then(
          ({ uses }) => uses.size,
          () => 0,
        );
        await removeTree(place);
        return names;
      });
    },
  };
}
