import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BmadError } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { appendLog, logStamp, type LogStamp, readLog, replaceLog } from '../../base/files/file-log.ts';
import { removeTree } from '../../base/files/file-state.ts';
import { projectKey } from '../../base/files/paths.ts';
import type { Log } from '../../base/log.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { t } from '../../base/text/message.ts';
import { byteLength } from '../../base/text/text.ts';
import { type BmadRecord, recordKey } from '../../model/record.ts';

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
      const what = recordKey(record);
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

/** The lines of a usage log: what they are, and what they come to. */

const LOG = 'bmad-usage';
const VERSION = 1;

/** What is known about the use of one thing. */
export interface Use {
  /** How often it was started. */
  uses: number;
  /** When it was started last, in milliseconds since 1970. */
  last: number;
}

/** What one day came to. */
interface UsedDay {
  /** How much was started. */
  starts: number;
  /** About how many tokens were delivered for it. */
  tokens: number;
}

/** What was started: `workflow bmm/bmad-prd`. Nothing else about it is kept but when, and how long its text was. */
type UsedName = string;

/** Far more than anyone uses; the log of a project stays a few kilobytes. */
const NAMES_KEPT = 500;
const NAME_LENGTH = 300;
/** A log with more lines than this is rewritten, one line per name. */
const LINES_BEFORE_COMPACTION = 2_000;
/** Of earlier days, nothing but the sum by name is kept when a log is rewritten. */
const DAYS_KEPT = 90;
/** A process that was killed leaves half a line at most; more than a few were not written by us. */
const DAMAGED_ALLOWED = 10;

interface Line {
  what: UsedName;
  at: number;
  /** Left out for one. With a number, it is the sum of lines that are gone; their days are in the first line. */
  uses?: number;
  /** The length of what was delivered. */
  tokens?: number;
}

/** Versions that know of no days pass over them. */
export const headerLine = (days: ReadonlyMap<string, UsedDay> = new Map()): string =>
  JSON.stringify({
    log: LOG,
    version: VERSION,
    ...(days.size === 0
      ? {}
      : { days: Object.fromEntries([...days].map(([day, { starts, tokens }]) => [day, [starts, tokens]])) }),
  });

const useLine = ({ what, at, tokens }: Line): string =>
  JSON.stringify({ what, at, ...(tokens === undefined ? {} : { tokens }) } satisfies Line);

export class UsageState {
  readonly uses = new Map<UsedName, Use>();
  /** By day, such as `2026-03-01`, in universal time. */
  readonly days = new Map<string, UsedDay>();
  lines = 0;
  damaged = 0;

  clear(): void {
    this.uses.clear();
    this.days.clear();
    this.lines = 0;
    this.damaged = 0;
  }

  /** Takes in a line of the file at `path`. The first says what the file is; a later one that says nothing is counted. */
  take(path: string, text: string): void {
    const first = this.lines === 0;
    this.lines++;
    const line = jsonObject(text);
    if (first) {
      if (line?.['log'] !== LOG || typeof line['version'] !== 'number') throw notALog(path);
      if (line['version'] > VERSION) throw newerLog(path);
      for (const [day, [starts, tokens]] of daysIn(line['days'])) this.#count(day, starts, tokens);
    } else if (line === undefined || !isLine(line)) {
      this.damaged++;
      if (this.damaged > DAMAGED_ALLOWED) throw notALog(path);
    } else {
      this.#add(line);
    }
  }

  /** The same with more lines appended. Holders of this one see no change. */
  with(lines: readonly Line[]): UsageState {
    const other = new UsageState();
    for (const [what, use] of this.uses) other.uses.set(what, use);
    for (const [day, used] of this.days) other.days.set(day, used);
    other.lines = this.lines + lines.length;
    other.damaged = this.damaged;
    for (const line of lines) other.#add(line);
    return other;
  }

  #add({ what, at, uses, tokens = 0 }: Line): void {
    if (uses === undefined) this.#count(dayOf(at), 1, tokens);
    const before = this.uses.get(what);
    this.uses.set(what, {
      uses: (before?.uses ?? 0) + (uses ?? 1),
      last: Math.max(before?.last ?? 0, at),
    });
  }

  #count(day: string, starts: number, tokens: number): void {
    if (!DAY.test(day)) return;
    const before = this.days.get(day);
    this.days.set(day, {
      starts: (before?.starts ?? 0) + starts,
      tokens: (before?.tokens ?? 0) + tokens,
    });
  }

  /** Whether a clock that was ahead has left times that are still to come. */
  isAhead(now: number): boolean {
    return [...this.uses.values()].some(({ last }) => last > now + CLOCK_DIFFERENCE_MS);
  }

  /**
   * The shortest log with the same meaning: the names used last. Times that are still to come become this moment, so that
   * what was noted under a wrong clock grows old like everything else.
   */
  *compact(now: number): Generator<string> {
    const today = dayOf(now);
    const days = [...this.days]
      .filter(([day]) => day <= today)
      .sort(([a], [b]) => (a < b ? 1 : -1))
      .slice(0, DAYS_KEPT);
    yield headerLine(new Map(days));
    const kept = [...this.uses]
      .map(([what, { uses, last }]) => ({ what, at: Math.min(last, now), uses }))
      .sort((a, b) => b.at - a.at || (a.what < b.what ? -1 : 1))
      .slice(0, NAMES_KEPT);
    for (const line of kept) yield JSON.stringify(line satisfies Line);
  }
}

const DAY = /^\d{4}-\d\d-\d\d$/;

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** What a first line says of days that are gone; what is no such thing says nothing. */
function daysIn(value: unknown): [string, [number, number]][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([day, used]) => {
    const [starts, tokens] = Array.isArray(used) ? (used as unknown[]) : [];
    return isCount(starts) && isCount(tokens) ? [[day, [starts, tokens]]] : [];
  });
}

/** Machines that share a home folder do not agree on the second. */
const CLOCK_DIFFERENCE_MS = 5 * 60_000;

/** The last moment a JavaScript date can name. */
const END_OF_TIME = 8.64e15;

function isLine(line: Partial<Record<string, unknown>>): line is Partial<Record<string, unknown>> & Line {
  const { what, at, uses = 1, tokens = 0 } = line;
  return (
    typeof what === 'string' &&
    what !== '' &&
    what.length <= NAME_LENGTH &&
    typeof at === 'number' &&
    at >= 0 &&
    at <= END_OF_TIME &&
    Number.isSafeInteger(uses) &&
    (uses as number) > 0 &&
    isCount(tokens)
  );
}

/** Anything but a regular file is not removed by us either. */
function notALog(path: string, removable = true): BmadError {
  return new BmadError('unavailable', t`${path} is damaged or not a usage log. It was left unchanged.`, {
    subject: path,
    hint: t`Ranking continues without it. ${removable ? t`Move it elsewhere, or remove it` : t`This file was not created by the server; move it yourself`}.`,
    ...(removable ? { steps: [{ operation: 'usage_clear', why: t`Remove it` }] } : {}),
  });
}

function newerLog(path: string): BmadError {
  return new BmadError('unavailable', t`${path} was written by a newer version of this server.`, {
    subject: path,
    hint: t`Ranking continues without it. Update this server.`,
  });
}
