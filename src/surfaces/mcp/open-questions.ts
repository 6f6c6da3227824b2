/** After this time a question does not count as left open any more. */
const OPEN_MS = 60_000;
const MOST = 200;

/** Questions to a client that it has not come back with. */
export interface OpenQuestions {
  add(key: string): void;
  /** Whether it was open. */
  delete(key: string): boolean;
  readonly size: number;
}

/**
 * Behind a balancer the answer may go to another replica, and this one never hears of it. So an open question holds
 * others back for a while, and not for good.
 */
export function openQuestions(): OpenQuestions {
  const asked = new Map<string, number>();
  const forget = (): void => {
    const since = Date.now() - OPEN_MS;
    for (const [key, at] of asked) if (at < since || asked.size > MOST) asked.delete(key);
  };
  return {
    add(key) {
      asked.delete(key);
      asked.set(key, Date.now());
      forget();
    },
    delete(key) {
      forget();
      return asked.delete(key);
    },
    get size() {
      forget();
      return asked.size;
    },
  };
}
