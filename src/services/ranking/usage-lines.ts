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

/** What was started: `workflow bmm/bmad-prd`. Nothing else about it is kept but when. */
export type UsedName = string;

export const usedName = (record: Pick<BmadRecord, 'kind' | 'moduleName' | 'name'>): UsedName =>
  `${record.kind} ${qualifiedName(record)}`;

/** Far more than anyone uses; the log of a project stays a few kilobytes. */
const NAMES_KEPT = 500;
export const NAME_LENGTH = 300;
/** A log with more lines than this is rewritten, one line per name. */
export const LINES_BEFORE_COMPACTION = 2_000;
/** A process that was killed leaves half a line at most; more than a few were not written by us. */
const DAMAGED_ALLOWED = 10;

export interface Line {
  what: UsedName;
  at: number;
  /** Left out for one. */
  uses?: number;
}

export const headerLine = (): string => JSON.stringify({ log: LOG, version: VERSION });

export const useLine = ({ what, at }: Line): string => JSON.stringify({ what, at } satisfies Line);

export class UsageState {
  readonly uses = new Map<UsedName, Use>();
  lines = 0;
  damaged = 0;

  clear(): void {
    this.uses.clear();
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
    other.lines = this.lines + lines.length;
    other.damaged = this.damaged;
    for (const line of lines) other.#add(line);
    return other;
  }

  #add({ what, at, uses = 1 }: Line): void {
    const before = this.uses.get(what);
    this.uses.set(what, {
      uses: (before?.uses ?? 0) + uses,
      last: Math.max(before?.last ?? 0, at),
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
    yield headerLine();
    const kept = [...this.uses]
      .map(([what, { uses, last }]) => ({ what, at: Math.min(last, now), uses }))
      .sort((a, b) => b.at - a.at || (a.what < b.what ? -1 : 1))
      .slice(0, NAMES_KEPT);
    for (const line of kept) yield JSON.stringify(line satisfies Line);
  }
}

/** Machines that share a home folder do not agree on the second. */
const CLOCK_DIFFERENCE_MS = 5 * 60_000;

/** The last moment a JavaScript date can name. */
const END_OF_TIME = 8.64e15;

function isLine(line: Partial<Record<string, unknown>>): line is Partial<Record<string, unknown>> & Line {
  const { what, at, uses = 1 } = line;
  return (
    typeof what === 'string' &&
    what !== '' &&
    what.length <= NAME_LENGTH &&
    typeof at === 'number' &&
    at >= 0 &&
    at <= END_OF_TIME &&
    Number.isSafeInteger(uses) &&
    (uses as number) > 0
  );
}

/** Anything but a regular file is not removed by us either. */
export function notALog(path: string, removable = true): BmadError {
  return new BmadError('unavailable', `${path} is damaged or not a usage log. It was left unchanged.`, {
    subject: path,
    hint: `Ranking continues without it. ${removable ? 'Move it elsewhere, or remove it' : 'This file was not created by the server; move it yourself'}.`,
    ...(removable ? { steps: [{ operation: 'usage_clear', why: 'Remove it' }] } : {}),
  });
}

function newerLog(path: string): BmadError {
  return new BmadError('unavailable', `${path} was written by a newer version of this server.`, {
    subject: path,
    hint: 'Ranking continues without it. Update this server.',
  });
}
