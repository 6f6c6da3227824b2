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
