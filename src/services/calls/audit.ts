import { hostname } from 'node:os';
import { join } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { appendLog, type LogPlace, readLog } from '../../base/files/file-log.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { removeFile } from '../../base/files/open-file.ts';
import type { Log } from '../../base/log.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { t } from '../../base/text/message.ts';
import { compare } from '../../base/text/text.ts';
import {
  type AuditFilter,
  type AuditLine,
  auditLineSchema,
  type AuditRow,
  type SharedAudit,
} from '../../model/client.ts';

/**
 * Who has called what, as lines in one file for each day. Nothing in them is an argument or a text: a line says that a call
 * was made and how it ended, and the project's own lines say what came of it.
 */

const FOLDER = 'audit';
const FILE = /^(\d{4}-\d{2}-\d{2})\.jsonl$/;
/** Days after which a file is removed. */
const KEPT_DAYS = 90;
const DAY_MS = 24 * 60 * 60_000;
/** An operator whose disk is full is not told of every call. */
const TOLD_MS = 60_000;
interface AuditRead {
  folder: string;
  lines: AuditLine[];
  /** How many there are beside those. */
  more: number;
  /** Lines that are not such lines. */
  bad: number;
  /** Why those of other machines are missing. */
  alone?: string;
}

export interface Audit {
  /** Waits until the line is kept; answers why it could not be, and never throws. */
  note(line: Omit<AuditLine, 'at'>): Promise<BmadError | undefined>;
  read(wanted: AuditFilter): Promise<AuditRead>;
  /** Those of all machines, where they are together. */
  readAll(wanted: AuditFilter): Promise<AuditRead>;
  /** What an operator should know. */
  trouble(): string | undefined;
}

interface Note {
  day: string;
  json: string;
  told(error: BmadError | undefined): void;
}

interface AuditSetup {
  log: Log;
  now?: () => number;
  /** Where the audits of all machines are, if anywhere. */
  shared?: () => Promise<SharedAudit | undefined>;
}

export function openAudit(state: string, { log, now = Date.now, shared }: AuditSetup): Audit {
  const folder = join(state, FOLDER);
  let waiting: Note[] = [];
  let writing = false;
  let failed: BmadError | undefined;
  let lost = 0;
  let told = -Infinity;
  let pruned: string | undefined;

  const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
  const days = async (): Promise<string[]> =>
    (await stateNames(folder)).flatMap((name) => FILE.exec(name)?.[1] ?? []);
  const fileOf = (day: string): string => join(folder, `${day}.jsonl`);

  const copy = shared === undefined ? undefined : copying(days, fileOf, shared);
  copy?.soon();

  /** What came while lines were being written is written together. */
  async function write(): Promise<void> {
    if (writing) return;
    writing = true;
    while (waiting.length > 0) {
      const notes = waiting.filter(({ day }) => day === waiting[0]?.day);
      waiting = waiting.filter((note) => !notes.includes(note));
      const error = await append(notes).catch((thrown: unknown) => BmadError.from(thrown, () => undefined));
      if (error !== undefined) tell(error, notes.length);
      failed = error;
      for (const note of notes) note.told(error);
    }
    writing = false;
  }

  async function append(notes: readonly Note[]): Promise<undefined> {
    const day = notes[0]?.day ?? '';
    await appendLog(
      fileOf(day),
      notes.map(({ json }) => json),
    );
    copy?.soon();
    if (pruned !== day) await prune();
    pruned = day;
  }

  /**
   * Old is what is old by the clock and by the files themselves: the last day but one that was written says when that was, so
   * that a clock which is wrong for a day takes nothing away.
   */
  async function prune(): Promise<void> {
    const written = await days();
    const before = Math.min(now(), Date.parse(written.at(-2) ?? '') || now());
    for (const day of written)
      if (Date.parse(day) < before - KEPT_DAYS * DAY_MS)
        await removeFile(fileOf(day)).catch((error: unknown) => log.info('audit', { error: String(error) }));
  }

  function tell(error: BmadError, count: number): void {
    lost += count;
    if (performance.now() < told + TOLD_MS) return;
    told = performance.now();
    log.warn('calls could not be audited', { count: lost, error: error.text });
    lost = 0;
  }

  async function read({ since, caller, operation, outcome, limit }: AuditFilter): Promise<AuditRead> {
    const found: AuditRead = { folder, lines: [], more: 0, bad: 0 };
    const who = caller?.toLowerCase();
    function take(json: string): void {
      const { data: line } = auditLineSchema.safeParse(jsonObject(json));
      if (line === undefined) {
        found.bad += 1;
        return;
      }
      const { by, at } = line;
      if (!(Date.parse(at) >= since) || (outcome !== undefined && outcome !== line.outcome)) return;
      if (operation !== undefined && operation !== line.operation) return;
      if (who !== undefined && ![by.kind, by.name, by.token].some((each) => each?.toLowerCase() === who))
        return;
      found.lines.push(line);
    }
    // By the end of each day, and one more for clocks that were set back while it lasted.
    for (const day of await days())
      if (Date.parse(day) + 2 * DAY_MS > since) await readLog(fileOf(day), undefined, () => undefined, take);
    found.lines.sort((a, b) => compare(a.at, b.at));
    found.more = Math.max(0, found.lines.length - limit);
    found.lines = found.lines.slice(-limit);
    return found;
  }

  return {
    note(line) {
      const at = now();
      const json = JSON.stringify({ at: new Date(at).toISOString(), ...line });
      return new Promise((resolve) => {
        waiting.push({ day: dayOf(at), json, told: resolve });
        void write();
      });
    },
    trouble: () => (failed === undefined ? undefined : t`Calls cannot be audited. ${failed.message}`),
    read,
    async readAll(wanted) {
      const there = await copy
        ?.now()
        .then(async (place) => place && { folder: place.at, bad: 0, ...(await place.read(wanted)) })
        .catch((error: unknown) => ({ alone: BmadError.from(error, () => undefined).message }));
      return there !== undefined && 'lines' in there ? there : { ...(await read(wanted)), ...there };
    },
  };
}

/** What comes together is copied together; where the place is out of reach, it is tried again. */
const SOON_MS = 1_000;
const AGAIN_MS = 30_000;
const AT_ONCE = 1_000;

/**
 * Brings the audit of one machine to where those of all are. Its files stay what a call waits for: a line is known there by
 * its day and its number in the file, so that one that was copied twice is there once, and the place itself says what it has.
 */
function copying(
  days: () => Promise<readonly string[]>,
  fileOf: (day: string) => string,
  open: () => Promise<SharedAudit | undefined>,
) {
  /** How far each file is copied. */
  const done = new Map<string, { place: LogPlace | undefined; number: number }>();
  let isBegun = false;
  let isWaiting = false;
  let last: Promise<unknown> = Promise.resolve();

  function soon(after = SOON_MS): void {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      now().catch(() => soon(AGAIN_MS));
    }, after).unref();
  }

  /** All that is written so far; answers the place, where there is one. */
  function now(): Promise<SharedAudit | undefined> {
    const turn = last.then(async () => {
      const shared = await open();
      if (shared === undefined) return undefined;
      if (!isBegun)
        for (const [day, number] of await shared.kept()) done.set(day, { place: undefined, number });
      isBegun = true;
      for (const day of await days()) await copyDay(shared, day);
      return shared;
    });
    last = turn.catch(() => undefined);
    return turn;
  }

  async function copyDay(shared: SharedAudit, day: string): Promise<void> {
    const { place, number: copied } = done.get(day) ?? { place: undefined, number: 0 };
    const rows: AuditRow[] = [];
    let number = copied;
    const read = await readLog(
      fileOf(day),
      place,
      () => (number = 0),
      (json) => {
        number += 1;
        const { data: line } = auditLineSchema.safeParse(jsonObject(json));
        const isTimed = line !== undefined && !Number.isNaN(Date.parse(line.at));
        if (isTimed && number > copied) rows.push({ day, number, host: hostname(), line });
      },
    );
    for (let from = 0; from < rows.length; from += AT_ONCE)
      await shared.add(rows.slice(from, from + AT_ONCE));
    done.set(day, { place: read?.place, number: Math.max(number, copied) });
  }

  return { soon, now };
}
