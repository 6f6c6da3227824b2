import { jsonIn } from '../../base/parse/json.ts';
import { momentOf } from '../../base/text/local-time.ts';
import { foreignCursor } from '../../base/text/paging.ts';
import { nameKey } from '../../base/text/same-name.ts';
import { MEMORY_TYPES, type MemoryEntry, type MemoryFilter, type MemoryKey } from '../../model/memory.ts';
import { isoTime } from './change.ts';
import { isMoment } from './sound.ts';
import type { MemoryPage, Page } from './store.ts';

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
