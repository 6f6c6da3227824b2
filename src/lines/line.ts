import { randomBytes } from 'node:crypto';
import { type Caller, kindOf } from '../base/caller.ts';
import { BmadError } from '../base/errors.ts';
import { jsonObject } from '../base/parse/json.ts';
import { t } from '../base/text/message.ts';

export interface LineEvent {
  /** The entity: `memory/decisions/2f0c…`, `task/…`, `run/…`. */
  of: string;
  /** The lines about this entity that the writer had seen and that nothing had followed. Clocks do not matter to it. */
  after: readonly string[];
  do: string;
  data: Readonly<Record<string, unknown>>;
  /** What it said was forgotten for good; that it happened stays. */
  erased?: true | undefined;
}

/** What happened in one append, written once and never changed: all of its events count, or none. */
export interface Line {
  v: number;
  id: string;
  /** By the clock of the writer, which decides only where `after` does not. */
  at: string;
  machine: string;
  by: Caller;
  events: readonly LineEvent[];
}

/** For what no caller has said. */
export const NO_ONE: Caller = { kind: 'local', name: '' };

/** Raised only for what older programs must not skip: what such a line is about is read-only for them. */
const LINE_VERSION = 1;

/** What is said about the entity of such an event is removed, here and wherever the line is met. */
export const ERASE = 'erase';

/** In characters of JSON; more is refused when it is written, and skipped when it is read. */
export const MOST_LINE = 1_000_000;
const MOST_EVENTS = 10_000;

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';
const inDigits = (value: number, length: number): string =>
  Array.from({ length }, (_, at) => DIGITS[Math.floor(value / 32 ** (length - 1 - at)) % 32]).join('');

/** Sorts by time, and is never given twice: 48 bits of the clock and 50 by chance. */
export function newLineId(now = Date.now()): string {
  const random = randomBytes(7);
  return inDigits(now, 10) + inDigits(random.readUIntBE(0, 3), 5) + inDigits(random.readUIntBE(3, 4), 5);
}

export function lineJson(line: Line): string {
  const { v, id, at, machine, by, events } = line;
  return JSON.stringify({ v, id, at, machine, by, events });
}

/** A line of a file; nothing where the text is not one. What is unknown in it stays in its data and is skipped by folds. */
export function readLine(text: string): Line | undefined {
  if (text.length > MOST_LINE) return undefined;
  const { v, id, at, machine, by, events } = jsonObject(text) ?? {};
  if (!Number.isInteger(v) || Number(v) < 1 || !isName(id) || typeof at !== 'string') return undefined;
  if (!Array.isArray(events) || events.length > MOST_EVENTS || Number.isNaN(Date.parse(at))) return undefined;
  const read = events.map(readEvent);
  if (read.some((event) => event === undefined)) return undefined;
  return {
    v: Number(v),
    id,
    at: new Date(at).toISOString(),
    machine: typeof machine === 'string' ? machine : '',
    by: readAuthor(by),
    events: read as LineEvent[],
  };
}

/**
 * How many events a text has that is about entities of one noun alone, without parsing it; none when in doubt. Each key is
 * counted, so that none is missed: a key can be spelled otherwise only with an escape of that kind.
 */
export function eventsOnlyOf(noun: string, text: string): number {
  if (text.includes('\\u00')) return 0;
  const key = '"of"';
  const wanted = `${key}:"${noun}/`;
  let count = 0;
  for (let at = text.indexOf(key); at >= 0; at = text.indexOf(key, at + key.length), count += 1)
    if (!text.startsWith(wanted, at)) return 0;
  return count;
}

/** Of a conflict that git left in a file, both sides count, and these lines do not. */
export const isConflictMark = (text: string): boolean => /^(?:<{7}|={7}|>{7}|\|{7})(?: |$)/.test(text);

const isName = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= 200;

function readEvent(value: unknown): LineEvent | undefined {
  const { of, after, do: verb, data, erased } = isObject(value) ? value : {};
  if (!isName(of) || !isName(verb)) return undefined;
  const seen = after ?? [];
  if (!Array.isArray(seen) || !seen.every(isName)) return undefined;
  const event = { of, after: seen, do: verb, data: isObject(data) ? data : {} };
  return erased === true ? { ...event, erased } : event;
}

function readAuthor(value: unknown): Caller {
  const { kind, name, host, session, call } = isObject(value) ? value : {};
  return {
    kind: kindOf(kind),
    name: typeof name === 'string' ? name : '',
    ...(typeof host === 'string' ? { host } : {}),
    ...(typeof session === 'string' ? { session } : {}),
    ...(typeof call === 'string' ? { call } : {}),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** An event with what its line says about it. */
export interface Happened extends LineEvent {
  id: string;
  at: string;
  by: Caller;
  machine: string;
  /** Written by a newer program, whose rules are not known here. */
  newer: boolean;
}

export const happenedIn = ({ id, at, by, machine, v, events }: Line): Happened[] =>
  events.map(({ of, after, do: verb, data, erased }) => {
    // Field by field: a spread would take as long as reading the file.
    const event = { of, after, do: verb, data, id, at, by, machine, newer: v > LINE_VERSION };
    return erased === undefined ? event : { ...event, erased };
  });

export const lineOf = ({ id, at, by, machine, newer, ...event }: Happened): Line => ({
  v: newer ? LINE_VERSION + 1 : LINE_VERSION,
  id,
  at,
  machine,
  by,
  events: [event],
});

/**
 * The events of an entity, each once, though its line came from two files or two machines. Two texts under one id are nobody's
 * doing but a hand's: one that was forgotten holds against one that was not, else the smaller one, so that all readers agree.
 */
export function onceEach(events: readonly Happened[]): Happened[] {
  const known = new Map<string, Happened>();
  for (const event of events) {
    const other = known.get(event.id);
    if (other === undefined || precedes(event, other)) known.set(event.id, event);
  }
  return [...known.values()];
}

/** Most entities have a few lines, one after the other: thousands of them are read in one go. */
const isChain = (events: readonly Happened[]): boolean =>
  events.every(({ after }, at) =>
    at === 0
      ? !events.some(({ id }) => after.includes(id))
      : after.length === 1 && after[0] === (events[at - 1] as Happened).id,
  );

function precedes(event: Happened, other: Happened): boolean {
  if (event.erased !== other.erased) return event.erased === true;
  return JSON.stringify(event) < JSON.stringify(other);
}

const earlier = (a: Happened, b: Happened): number =>
  a.at === b.at ? (a.id < b.id ? -1 : 1) : a.at < b.at ? -1 : 1;

/**
 * The events of one entity in the one order that all readers have: each after those it names, else by time, then by id. One that
 * names what never came stands by its time; of several that name each other, which no writer does, the earliest begins.
 */
export function inOrder(events: readonly Happened[]): Happened[] {
  if (isChain(events)) return [...events];
  const left = new Map([...events].sort(earlier).map((event) => [event.id, event]));
  const waits = new Map<string, number>();
  const next = new Map<string, string[]>();
  for (const { id, after } of left.values()) {
    const named = [...new Set(after)].filter((other) => other !== id && left.has(other));
    waits.set(id, named.length);
    for (const other of named) next.set(other, [...(next.get(other) ?? []), id]);
  }
  const ordered: Happened[] = [];
  // The latest first, so that the next one is at the end.
  const ready = [...left.values()].filter(({ id }) => waits.get(id) === 0).toReversed();
  while (left.size > 0) {
    const first = ready.pop() ?? left.values().next().value;
    if (first === undefined) break;
    left.delete(first.id);
    ordered.push(first);
    for (const id of next.get(first.id) ?? []) {
      const open = (waits.get(id) ?? 0) - 1;
      waits.set(id, open);
      const follower = left.get(id);
      if (open !== 0 || follower === undefined) continue;
      const place = ready.findIndex((other) => earlier(other, follower) < 0);
      ready.splice(place < 0 ? ready.length : place, 0, follower);
    }
  }
  return ordered;
}

/** Whether one was written by somebody who knew of the other, however far back. */
export function followers(events: readonly Happened[]): (event: Happened, before: Happened) => boolean {
  let known: ReadonlyMap<string, Happened> | undefined;
  return (event, before) => {
    if (event.after.includes(before.id)) return true;
    known ??= new Map(events.map((each) => [each.id, each]));
    const open = [...event.after];
    const seen = new Set(open);
    for (let id = open.pop(); id !== undefined; id = open.pop()) {
      if (id === before.id) return true;
      for (const next of known.get(id)?.after ?? [])
        if (!seen.has(next)) {
          seen.add(next);
          open.push(next);
        }
    }
    return false;
  };
}

/** The lines about an entity that no other one follows. More than one is a fork: two wrote without seeing each other. */
export function headsOf(events: readonly Happened[]): string[] {
  const followed = new Set(events.flatMap(({ after }) => after));
  const heads = events.map(({ id }) => id).filter((id) => !followed.has(id));
  // Lines that name each other leave none; then the last of them stands for all.
  return heads.length > 0 ? heads.sort() : events.slice(-1).map(({ id }) => id);
}

/** In characters of a line: what is in one is taken in at once, while nothing else of the process runs. */
const EVENTS_SIZE = 100_000;

export function asMuchAsFits<E extends object>(events: readonly E[]): E[][] {
  const parts: E[][] = [];
  let size = Infinity;
  for (const event of events) {
    const { length } = JSON.stringify(event);
    if (size + length > EVENTS_SIZE) {
      parts.push([]);
      size = 0;
    }
    parts.at(-1)?.push(event);
    size += length;
  }
  return parts;
}

/** The name that all lines of a database have in place of that of a file, and the mark of who has read them. */
export const IN_DATABASE = 'database';

export type NewEvent = Pick<LineEvent, 'of' | 'after' | 'do' | 'data'>;

export interface PlacedLine {
  line: Line;
  file: string;
}

/** How far a reader has read, as short texts by name. It means nothing to the one who keeps it. */
export type Mark = ReadonlyMap<string, string>;

export interface Page {
  lines: readonly PlacedLine[];
  /** Files whose lines no longer count: they are gone, or come again from the beginning. */
  gone: readonly string[];
  /** What changes in the mark of one who has taken this in; nothing for a name that goes. */
  marks: ReadonlyMap<string, string | undefined>;
  without?: number;
}

export interface LogTrouble {
  file: string;
  what: 'conflict' | 'unreadable' | 'behind';
  count: number;
}

export const troubleText = ({ file, what, count }: LogTrouble): string =>
  what === 'conflict'
    ? t`${file} has conflict markers of git; both sides count.`
    : what === 'behind'
      ? t`The database is ${count} lines behind what this machine has seen of it: an older backup may have been restored.`
      : count === 1
        ? t`${file} has 1 line that cannot be read.`
        : t`${file} has ${count} lines that cannot be read.`;

/** What one has seen of entities that only one may change: the mark of that reading, and their heads. */
export interface Expectation {
  since: Mark;
  heads: ReadonlyMap<string, readonly string[]>;
}

export interface Lost {
  lost: readonly PlacedLine[];
}

export type Said = ReadonlyMap<string, ReadonlySet<string>>;

/** Everything that happened in a project, behind one small door. What is above it does not know where lines are kept. */
export interface Log {
  /** The time that decides whether a lease is over: that of the machine, or of the database that others share. */
  now(): number;
  /** Writes one line and returns when it is safe. With `expect` it is refused if another line about one of these has come. */
  append(events: readonly NewEvent[], expect?: Expectation): Promise<PlacedLine | Lost>;
  /** The lines after a mark, page by page; those that are about entities of one noun alone may be left out. */
  read(after: Mark, without?: string): AsyncIterable<Page>;
  /** The last lines of those who wrote last: at least so many, or all there are. Takes no longer where there are more. */
  last(least: number): Promise<PlacedLine[]>;
  /** Whether there may be more; looks at no file's content. */
  changed(since: Mark): Promise<boolean>;
  /** How much there is to read after a mark, in bytes; looks at no file's content. */
  ahead(since: Mark): Promise<number>;
  /** Removes for good what these lines say about entities; that something was said stays. Answers whether there was anything. */
  erase(said: Said): Promise<boolean>;
  /** What is in the files and is no line, as of the last reading. */
  troubles(): readonly LogTrouble[];
  /** Writes lines as others have written them. What comes twice counts once. */
  put(lines: readonly Line[]): Promise<void>;
}

/** A log that other machines write as well. */
export interface SharedLog extends Log {
  /** Long texts under names of their own, which are in no line that is folded. */
  text(name: string): Promise<string | undefined>;
  putText(name: string, text: string): Promise<void>;
  removeText(name: string): Promise<void>;
}

/** Whether only the database is why: what is known without it may be told, and nothing may be written elsewhere instead. */
export const isUnheard = (error: unknown): error is BmadError =>
  error instanceof BmadError && (error.reason === 'database' || error.reason === 'uncertain');

export interface Writer {
  /** Asked for with the first line: one who only reads needs none. */
  machine: () => Promise<string>;
  by: Caller;
}

/** A line before it is written; what cannot be one is refused. */
export function newLine(events: readonly NewEvent[], machine: string, by: Caller, at = new Date()): Line {
  const line: Line = { v: LINE_VERSION, id: newLineId(), at: at.toISOString(), machine, by, events };
  if (new Set(events.map(({ of }) => of)).size < events.length)
    throw new Error(t`A line says one thing about an entity.`);
  if (lineJson(line).length > MOST_LINE)
    throw new BmadError('invalid_input', t`That is too much for one entry: at most 1 MB fits.`, {
      hint: t`Divide it, or keep it in a file of the project and name the file.`,
    });
  return line;
}

/** Without what a tombstone covers; nothing where it has none of it. */
export function withoutSaid(line: Line, said: Said): Line | undefined {
  const isMeant = ({ of, erased }: LineEvent): boolean =>
    erased !== true && said.get(of)?.has(line.id) === true;
  if (!line.events.some(isMeant)) return undefined;
  const events = line.events.map((event) =>
    isMeant(event) ? { ...event, data: {}, erased: true as const } : event,
  );
  return { ...line, events };
}

/** Other lines about the same than those that the writer had seen. */
export const isUnseen = ({ heads }: Expectation, { id, events }: Line): boolean =>
  events.some(({ of }) => heads.get(of)?.includes(id) === false);
