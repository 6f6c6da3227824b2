import { BmadError, quoted } from '../../base/errors.ts';
import { jsonIn } from '../../base/parse/json.ts';
import { momentOf } from '../../base/text/local-time.ts';
import { foreignCursor } from '../../base/text/paging.ts';
import { nameKey } from '../../base/text/same-name.ts';
import {
  MEMORY_TYPES,
  type MemoryEntry,
  type MemoryFilter,
  type MemoryKey,
  type MemoryRevision,
  type MemoryType,
} from '../../model/memory.ts';
import type { MemoryPage, MemoryStats, Page } from './engine.ts';

/** Filters and order, the same for every engine. */

export interface ReadyFilter {
  types: ReadonlySet<string> | undefined;
  /** As `nameKey` makes them. */
  agents: ReadonlySet<string> | undefined;
  tagsAny: readonly string[];
  tagsAll: readonly string[];
  since: string | undefined;
  until: string | undefined;
  superseded: boolean;
  forgotten: boolean;
  forgottenBefore: string | undefined;
}

const set = (items: readonly string[] | undefined): ReadonlySet<string> | undefined =>
  items === undefined || items.length === 0 ? undefined : new Set(items);

const nfc = (text: string): string => text.normalize('NFC');

export function readyFilter(filter: MemoryFilter): ReadyFilter {
  return {
    types: set(filter.types),
    agents: set(filter.agents?.map(nameKey)),
    tagsAny: (filter.tagsAny ?? []).map(nfc),
    tagsAll: (filter.tagsAll ?? []).map(nfc),
    since: filter.since === undefined ? undefined : isoTime(filter.since),
    until: filter.until === undefined ? undefined : isoTime(filter.until),
    superseded: filter.includeSuperseded ?? false,
    forgotten: (filter.includeForgotten ?? false) || filter.forgottenBefore !== undefined,
    forgottenBefore: filter.forgottenBefore === undefined ? undefined : isoTime(filter.forgottenBefore),
  };
}

/** Days or moments as people write them; a day is taken as a whole. */
export function between(
  since: string | undefined,
  until: string | undefined,
): Pick<MemoryFilter, 'since' | 'until'> {
  return {
    since: since === undefined ? undefined : momentOf(since, 'first'),
    until: until === undefined ? undefined : momentOf(until, 'last'),
  };
}

/** The filter for an engine that compares letter by letter: agents as they are spelled among those there are. */
export function spelled(filter: ReadyFilter, agents: Iterable<string>): ReadyFilter {
  if (filter.agents === undefined) return filter;
  return { ...filter, agents: new Set([...agents].filter((name) => filter.agents?.has(nameKey(name)))) };
}

export function passes(entry: MemoryEntry, filter: ReadyFilter): boolean {
  return (
    (filter.types?.has(entry.type) ?? true) &&
    (filter.agents?.has(nameKey(entry.agent)) ?? true) &&
    (filter.tagsAny.length === 0 || filter.tagsAny.some((tag) => entry.tags.includes(tag))) &&
    filter.tagsAll.every((tag) => entry.tags.includes(tag)) &&
    (filter.since === undefined || entry.updatedAt >= filter.since) &&
    (filter.until === undefined || entry.updatedAt <= filter.until) &&
    (filter.superseded || entry.supersededAt === undefined) &&
    (filter.forgotten || entry.forgottenAt === undefined) &&
    (filter.forgottenBefore === undefined ||
      (entry.forgottenAt !== undefined && entry.forgottenAt < filter.forgottenBefore))
  );
}

export const isLiving = ({ forgottenAt, supersededAt }: MemoryEntry): boolean =>
  forgottenAt === undefined && supersededAt === undefined;

export const isForgotten = ({ forgottenAt }: MemoryEntry): boolean => forgottenAt !== undefined;

/** A place in the order of lists. */
export type Position = Pick<MemoryEntry, 'createdAt' | 'type' | 'id'>;

/** Newest first, then by type, then by id. */
export function byPosition(a: Position, b: Position): number {
  if (a.createdAt !== b.createdAt) return a.createdAt > b.createdAt ? -1 : 1;
  if (a.type !== b.type) return typeIndex(a) - typeIndex(b);
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

const typeIndex = ({ type }: Pick<MemoryKey, 'type'>): number => MEMORY_TYPES.indexOf(type);

export const keyText = ({ type, id }: MemoryKey): string => `${type}/${id}`;

/** One page of sorted entries that begin after the page's mark; there may be more of them than the page takes. */
export function pageOf(sorted: readonly MemoryEntry[], limit: number): MemoryPage {
  const entries = sorted.slice(0, limit);
  const last = entries.at(-1);
  if (sorted.length <= limit || last === undefined) return { entries, next: undefined };
  const mark = JSON.stringify([last.createdAt, last.type, last.id]);
  return { entries, next: Buffer.from(mark).toString('base64url') };
}

export function positionOf(after: string): Position {
  const value = jsonIn(Buffer.from(after, 'base64url').toString('utf8'));
  if (Array.isArray(value) && value.length === 3 && value.every((part) => typeof part === 'string')) {
    const [createdAt, type, id] = value as [string, string, string];
    const known = MEMORY_TYPES.find((name) => name === type);
    if (known !== undefined && isMoment(createdAt)) return { createdAt, type: known, id };
  }
  throw foreignCursor();
}

export function listed(entries: readonly MemoryEntry[], page: Page): MemoryPage {
  const from = page.after === undefined ? undefined : positionOf(page.after);
  const rest = from === undefined ? [...entries] : entries.filter((entry) => byPosition(from, entry) < 0);
  return pageOf(rest.sort(byPosition), page.limit);
}

/**
 * What a memory may be like that comes out of a file. Stores are in projects, which others write: one memory of many
 * megabytes would hold up everyone, and a time that is none would fail far from here. What does not hold is left out.
 */
const MOST_BYTES = {
  /** Twice what a text may have when it is remembered: masking makes some longer. */
  text: 200_000,
  tags: 100_000,
  name: 4_000,
  terms: 2_000_000,
  vector: 1_000_000,
} as const;

/** As `isoTime` writes it. The days of a month are not counted: any time with this form can be worked with. */
const MOMENT = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

const isMoment = (value: unknown): value is string => typeof value === 'string' && MOMENT.test(value);

const isText = (value: unknown, most: number): value is string =>
  // No character is shorter than a byte, so most need not be counted.
  typeof value === 'string' && value.length <= most && Buffer.byteLength(value) <= most;

const isName = (value: unknown): value is string => isText(value, MOST_BYTES.name);

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 1;

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
    isNumber(entry.revision) &&
    (entry.forgottenAt === undefined || isMoment(entry.forgottenAt)) &&
    (entry.supersededBy === undefined || isName(entry.supersededBy)) &&
    (entry.supersededAt === undefined || isMoment(entry.supersededAt))
  );
}

export function isSoundRevision(value: unknown): value is MemoryRevision {
  const revision = (value ?? {}) as Partial<Record<keyof MemoryRevision, unknown>>;
  return (
    isNumber(revision.revision) &&
    isText(revision.text, MOST_BYTES.text) &&
    areTags(revision.tags) &&
    isName(revision.agent) &&
    isMoment(revision.at)
  );
}

/** Whether products with it are numbers, and no greater than those with what an embedder has made. */
export function isSoundVector(vector: Float32Array): boolean {
  let sum = 0;
  for (let at = 0; at < vector.length; at++) sum += (vector[at] as number) ** 2;
  return isSoundSquare(sum);
}

export const isSoundSquare = (square: number): boolean => square <= LONGEST_SQUARE;

/** Vectors are stored with length one; they are rounded. */
const LONGEST_SQUARE = 1.01;

export function noneOfEachType(): Record<MemoryType, number> {
  return Object.fromEntries(MEMORY_TYPES.map((type) => [type, 0])) as Record<MemoryType, number>;
}

export function sortedCounts(counts: ReadonlyMap<string, number>): Record<string, number> {
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The figures of a store whose entries are all at hand. */
export function tally(entries: Iterable<MemoryEntry>, spaces: MemoryStats['spaces']): MemoryStats {
  const stats: MemoryStats = {
    total: 0,
    live: 0,
    superseded: 0,
    forgotten: 0,
    byType: noneOfEachType(),
    byAgent: {},
    spaces,
    oldest: undefined,
    newest: undefined,
  };
  const agents = new Map<string, number>();
  for (const entry of entries) {
    stats.total++;
    if (entry.forgottenAt !== undefined) stats.forgotten++;
    else if (entry.supersededAt !== undefined) stats.superseded++;
    else {
      stats.live++;
      stats.byType[entry.type]++;
      agents.set(entry.agent, (agents.get(entry.agent) ?? 0) + 1);
    }
    if (stats.oldest === undefined || entry.createdAt < stats.oldest) stats.oldest = entry.createdAt;
    if (stats.newest === undefined || entry.updatedAt > stats.newest) stats.newest = entry.updatedAt;
  }
  stats.byAgent = sortedCounts(agents);
  return stats;
}

export function isoTime(text: string): string {
  const time = Date.parse(text);
  const moment = Number.isFinite(time) ? new Date(time).toISOString() : '';
  // Years of five digits are written with a sign, and would be sorted before all others.
  if (isMoment(moment)) return moment;
  throw new BmadError('invalid_input', `${quoted(text)} is not a date.`, {
    hint: 'Use a form such as 2026-03-01 or 2026-03-01T09:30:00Z.',
  });
}
