import { BmadError, quoted } from '../../base/errors.ts';
import { t } from '../../base/text/message.ts';
import { followers, type Happened, onceEach } from '../../lines/line.ts';
import type { Analyser } from '../../meaning/analyse.ts';
import {
  MEMORY_TYPES,
  type MemoryEntry,
  type MemoryFilter,
  type MemoryKey,
  type MemoryRevision,
  type MemoryType,
} from '../../model/memory.ts';

/** Which vectors can be compared with each other: those of one embedder with one number of dimensions. */
export interface VectorSpace {
  embedder: string;
  dim: number;
}

export interface StoreOptions {
  project: string;
  analyser: Analyser;
  /** The embedder in use; without one the store compares words only. */
  space?: VectorSpace | undefined;
}

export interface NewMemory extends MemoryKey {
  agent: string;
  text: string;
  tags: readonly string[];
  at: string;
  /** When it was first written, for imports; otherwise `at`. Never changes an existing memory's. */
  createdAt?: string | undefined;
  vector?: Float32Array | undefined;
  /**
   * Whether remembering a forgotten or superseded text brings it back, which is the default. Copying from files says
   * no, so that what was forgotten stays so.
   */
  revive?: boolean | undefined;
}

export type WriteOutcome = 'created' | 'updated' | 'unchanged';

export interface Upserted {
  outcome: WriteOutcome;
  entry: MemoryEntry;
  previous: MemoryRevision | undefined;
  /** Whether it had been forgotten or superseded, and is back. */
  revived?: boolean | undefined;
}

export interface MemoryChange {
  text?: string | undefined;
  tags?: readonly string[] | undefined;
  agent?: string | undefined;
  at: string;
  /** For a changed text; without one the memory waits for its vector. */
  vector?: Float32Array | undefined;
}

export interface Page {
  limit: number;
  after?: string | undefined;
}

export interface MemoryPage {
  entries: MemoryEntry[];
  next: string | undefined;
}

export interface MemoryQuery {
  terms: readonly string[];
  /** The ways to say it in these words, the caller's own first: a memory that has one of them has all that was asked for. */
  ways?: readonly (readonly string[])[] | undefined;
  vector?: Float32Array | undefined;
  filter: MemoryFilter;
  limit: number;
  minScore?: number | undefined;
  /** What passes the filter and has nothing in common with the query comes last, newest first. */
  all?: boolean | undefined;
}

export interface VectorFor {
  key: MemoryKey;
  /** What was embedded. A memory that says something else by now keeps waiting. */
  text: string;
  vector: Float32Array;
}

export interface MemoryStats {
  total: number;
  live: number;
  superseded: number;
  forgotten: number;
  byType: Record<MemoryType, number>;
  byAgent: Record<string, number>;
  oldest: string | undefined;
  newest: string | undefined;
}

export interface StoreHealth {
  engine: 'sqlite' | 'qdrant' | 'memory';
  place: string;
  details: Record<string, string>;
  damaged?: boolean | undefined;
  /** Works, but not as well as it should; `notes` say why and what to do. */
  degraded: boolean;
  notes: string[];
}

export const REVISIONS_KEPT = 50;

export interface Stored {
  entry: MemoryEntry;
  revisions: readonly MemoryRevision[];
}

/** What a memory becomes, nothing where it stays, with the vector of the text as it is now. */
export interface Decided<T> {
  next: MemoryEntry | undefined;
  /** What it said before it came here, newest first. */
  earlier?: readonly MemoryRevision[];
  vector?: Float32Array | undefined;
  answer: T;
}

export type Decide<T> = (current: MemoryEntry | undefined, index: number) => Decided<T>;

/** Only those that have no vector of the embedder in use; superseded and forgotten ones as in any filter. */
export interface IndexFilter extends MemoryFilter {
  unembedded?: boolean;
}

export const spaceText = ({ embedder, dim }: VectorSpace): string => `${embedder}#${dim}`;

export const isLiving = ({ forgottenAt, supersededAt }: MemoryEntry): boolean =>
  forgottenAt === undefined && supersededAt === undefined;

export const isForgotten = ({ forgottenAt }: MemoryEntry): boolean => forgottenAt !== undefined;

/**
 * What a memory may be like that comes out of a file. Stores are in projects, which others write: one memory of many
 * megabytes would hold up everyone, and a time that is none would fail far from here. What does not hold is left out.
 */
const MOST_BYTES = {
  /** Twice what a text may have when it is remembered: masking makes some longer. */
  text: 200_000,
  tags: 100_000,
  name: 4_000,
} as const;

/** As `isoTime` writes it. The days of a month are not counted: any time with this form can be worked with. */
const MOMENT = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

export const isMoment = (value: unknown): value is string => typeof value === 'string' && MOMENT.test(value);

const isText = (value: unknown, most: number): value is string =>
  // No character is shorter than a byte, so most need not be counted.
  typeof value === 'string' && value.length <= most && Buffer.byteLength(value) <= most;

const isName = (value: unknown): value is string => isText(value, MOST_BYTES.name);

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1;

const areTags = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every(isName) && value.join().length <= MOST_BYTES.tags;

export function isSoundEntry(value: unknown): value is MemoryEntry {
  const entry = (value ?? {}) as Partial<Record<keyof MemoryEntry, unknown>>;
  return (
    MEMORY_TYPES.some((type) => type === entry.type) &&
    isName(entry.id) &&
    isName(entry.agent) &&
    isText(entry.text, MOST_BYTES.text) &&
    areTags(entry.tags) &&
    isName(entry.project) &&
    isMoment(entry.createdAt) &&
    isMoment(entry.updatedAt) &&
    isCount(entry.revision) &&
    (entry.forgottenAt === undefined || isMoment(entry.forgottenAt)) &&
    (entry.supersededBy === undefined || isName(entry.supersededBy)) &&
    (entry.supersededAt === undefined || isMoment(entry.supersededAt))
  );
}

export function isSoundRevision(value: unknown): value is MemoryRevision {
  const revision = (value ?? {}) as Partial<Record<keyof MemoryRevision, unknown>>;
  return (
    isCount(revision.revision) &&
    isText(revision.text, MOST_BYTES.text) &&
    areTags(revision.tags) &&
    isName(revision.agent) &&
    isMoment(revision.at)
  );
}

export function isoTime(text: string): string {
  const time = Date.parse(text);
  const moment = Number.isFinite(time) ? new Date(time).toISOString() : '';
  // Years of five digits are written with a sign, and would be sorted before all others.
  if (isMoment(moment)) return moment;
  throw new BmadError('invalid_input', t`${quoted(text)} is not a date.`, {
    hint: t`Use a form such as 2026-03-01 or 2026-03-01T09:30:00Z.`,
  });
}

/** What the names of points of a server begin with, among those of files. */
export const POINT = 'point';
export const isPoint = (file: string): boolean => file.startsWith(POINT);

/** What was said, and the file or the point that says it. */
export interface Heard {
  file: string;
  event: Happened;
}

export const eventsIn = (heard: readonly Heard[]): Happened[] => onceEach(heard.map(({ event }) => event));

/** All that was said about a memory, without what was removed for good. */
export const saidIn = (heard: readonly Heard[]): Happened[] => withoutCovered(eventsIn(heard));

export const isInLines = (heard: readonly Heard[]): boolean => heard.some(({ file }) => !isPoint(file));

/** Whether a line says what no point says. */
export function isOwed(heard: readonly Heard[]): boolean {
  const same = ({ id, erased }: Happened): string => `${id} ${erased}`;
  const there = new Set(heard.filter(({ file }) => isPoint(file)).map(({ event }) => same(event)));
  return heard.some(({ file, event }) => !isPoint(file) && !there.has(same(event)));
}

/** The lines about a memory that have to lose what they say: somebody who did not know of them, or did, removed it for good. */
export function coveredBy(events: readonly Happened[]): string[] {
  const stones = events.filter((event) => event.do === 'erase');
  if (stones.length === 0) return [];
  const follows = followers(events);
  return events
    .filter((event) => event.do !== 'erase' && event.erased !== true)
    .filter((event) => stones.some((stone) => !follows(event, stone)))
    .map(({ id }) => id);
}

function withoutCovered(events: readonly Happened[]): Happened[] {
  const covered = new Set(coveredBy(events));
  return events.map((event) =>
    covered.has(event.id) ? { ...event, data: {}, erased: true as const } : event,
  );
}
