import { t } from '../../base/text/message.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { BmadError } from '../../base/errors.ts';
import { qualifiedName, type BmadRecord } from '../../model/record.ts';

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
export interface UsedDay {
  /** How much was started. */
  starts: number;
  /** About how many tokens were delivered for it. */
  tokens: number;
}

/** What was started: `workflow bmm/bmad-prd`. Nothing else about it is kept but when, and how long its text was. */
export type UsedName = string;

export const usedName = (record: Pick<BmadRecord, 'kind' | 'moduleName' | 'name'>): UsedName =>
  `${record.kind} ${qualifiedName(record)}`;

/** Far more than anyone uses; the log of a project stays a few kilobytes. */
const NAMES_KEPT = 500;
export const NAME_LENGTH = 300;
/** A log with more lines than this is rewritten, one line per name. */
export const LINES_BEFORE_COMPACTION = 2_000;
/** Of earlier days, nothing but the sum by name is kept when a log is rewritten. */
const DAYS_KEPT = 90;
/** A process that was killed leaves half a line at most; more than a few were not written by us. */
const DAMAGED_ALLOWED = 10;

export interface Line {
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

export const useLine = ({ what, at, tokens }: Line): string =>
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
export function notALog(path: string, removable = true): BmadError {
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
