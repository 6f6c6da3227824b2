import { MEMORY_TYPES, type MemoryEntry, type MemoryRevision } from '../../model/memory.ts';

/**
 * What a memory may be like that comes out of a file. Stores are in projects, which others write: one memory of many
 * megabytes would hold up everyone, and a time that is none would fail far from here. What does not hold is left out.
 */
export const MOST_BYTES = {
  /** Twice what a text may have when it is remembered: masking makes some longer. */
  text: 200_000,
  tags: 100_000,
  name: 4_000,
  terms: 2_000_000,
  vector: 1_000_000,
} as const;

/** As `isoTime` writes it. The days of a month are not counted: any time with this form can be worked with. */
const MOMENT = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

export const isMoment = (value: unknown): value is string => typeof value === 'string' && MOMENT.test(value);

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
