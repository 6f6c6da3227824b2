/** After this time a question does not count as left open any more. */
const OPEN_MS = 60_000;

/** Questions to a client that it has not come back with. */
export interface OpenQuestions {
  add(key: string): void;
  delete(key: string): void;
  readonly size: number;
}

/**
 * Behind a balancer the answer may go to another replica, and this one never hears of it. So an open question holds
 * others back for a while, and not for good.
 */
export function openQuestions(): OpenQuestions {
  const asked = new Map<string, number>();
  return {
    add: (key) => void asked.set(key, Date.now()),
    delete: (key) => void asked.delete(key),
    get size() {
      const since = Date.now() - OPEN_MS;
      for (const [key, at] of asked) if (at < since) asked.delete(key);
      return asked.size;
    },
  };
}
