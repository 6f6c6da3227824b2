import { hash } from 'node:crypto';
import { SERVER_PROGRAM, VERSION } from './product.ts';

/** The same object without the keys that have no value, for types whose optional keys must be absent, not undefined. */
export function present<T extends object>(table: { [K in keyof T]: T[K] | undefined }): T {
  const all: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(table)) if (value !== undefined) all[key] = value;
  return all as T;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The items that are there, in order: of a condition that does not hold nothing, of a list what is in it. */
export function those<T>(...items: readonly (T | readonly T[] | false | undefined)[]): T[] {
  return items.flatMap((item) => (item === false || item === undefined ? [] : item));
}

/** What is made of an object, once for as long as there is that object. */
export function madeOnce<K extends object, V>(make: (of: K) => V): (of: K) => V {
  const all = new WeakMap<K, { made: V }>();
  return (of) => {
    let known = all.get(of);
    if (known === undefined) all.set(of, (known = { made: make(of) }));
    return known.made;
  };
}

/** Items by a key, each list in the order of the items. Every item is looked at once, however many share a key. */
export function grouped<T, K>(items: Iterable<T>, keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of items) push(groups, keyOf(item), item);
  return groups;
}

/** Adds to the list of a key. */
export function push<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

export function sha256(content: string | Buffer): string {
  return hash('sha256', content);
}

/** So many digits are shown to people and asked for: nobody finds a second text for them. */
const DIGITS = 16;

export const shortDigest = (content: string): string => sha256(content).slice(0, DIGITS);

const ID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** Whether a text is a memory id, and so not words to search for. */
export function isMemoryId(text: string): boolean {
  return ID.test(text.trim());
}

/**
 * What is kept for names that callers choose: at most so many, and the one that was not used for longest goes first.
 * `onLeave` gives back what it holds.
 */
export function createBounded<T>(most: number, onLeave: (left: T) => void = () => undefined) {
  const kept = new Map<string, T>();
  return {
    get(key: string): T | undefined {
      const found = kept.get(key);
      if (found === undefined) return undefined;
      kept.delete(key);
      kept.set(key, found);
      return found;
    },
    /** What was there under the same name is replaced, and does not count as left. */
    set(key: string, value: T): void {
      kept.delete(key);
      const [oldest] = kept;
      if (kept.size >= most && oldest !== undefined) {
        kept.delete(oldest[0]);
        onLeave(oldest[1]);
      }
      kept.set(key, value);
    },
    delete: (key: string): boolean => kept.delete(key),
    values: (): T[] => [...kept.values()],
    get size(): number {
      return kept.size;
    },
  };
}

/**
 * What all of this process has in common, by its name. The programs consist of several files, each with its own copy of what they
 * share, and with its own variables in it. Another version of the library has its own.
 */
export function shared<T>(name: string, make: () => T): T {
  const all = globalThis as unknown as Record<symbol, T | undefined>;
  return (all[Symbol.for(`${SERVER_PROGRAM} ${VERSION}: ${name}`)] ??= make());
}
