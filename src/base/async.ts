import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers';
import { setImmediate as turn } from 'node:timers/promises';
import { shared } from './values.ts';

/** Runs `make` on first use and hands the same promise to everyone; a failed attempt is not kept. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  // An error that `make` throws synchronously becomes a rejection too.
  const attempt = async (): Promise<T> => make();
  return () => {
    made ??= attempt().catch((error: unknown) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}

/** The same for each of several keys. */
export function onceEach<K, T>(make: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const made = new Map<K, () => Promise<T>>();
  return (key) => {
    const known = made.get(key) ?? once(() => make(key));
    made.set(key, known);
    return known();
  };
}

/**
 * The same for long work that callers may give up: it stops once nobody is waiting for it, and the next
 * caller starts it again.
 */
export function onceWanted<T>(
  make: (signal: AbortSignal) => Promise<T>,
): (signal?: AbortSignal) => Promise<T> {
  let current: { work: Promise<T>; waiting: number; stop: AbortController } | undefined;
  const start = (): NonNullable<typeof current> => {
    const stop = new AbortController();
    // Begins when the caller listens: it may give up at once.
    const started = { waiting: 0, stop, work: Promise.resolve().then(() => make(stop.signal)) };
    started.work.catch(() => forget(started));
    return started;
  };
  const forget = (which: typeof current): void => {
    if (current === which) current = undefined;
  };
  return async (signal) => {
    signal?.throwIfAborted();
    const mine = (current ??= start());
    mine.waiting += 1;
    let leave = (): void => undefined;
    const left = new Promise<never>((_, reject) => {
      leave = () => {
        mine.waiting -= 1;
        if (mine.waiting === 0) {
          forget(mine);
          mine.stop.abort(signal?.reason);
        }
        reject(signal?.reason as Error);
      };
    });
    signal?.addEventListener('abort', leave, { once: true });
    try {
      return await Promise.race([mine.work, left]);
    } finally {
      signal?.removeEventListener('abort', leave);
    }
  };
}

/**
 * Maps with at most `limit` promises in flight, so that a large tree cannot use up the file handles. After a failure no
 * new work is started.
 */
export async function mapLimited<T, R>(
  items: readonly T[],
  limit: number,
  map: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const results: R[] = [];
  results.length = items.length;
  let next = 0;
  async function worker(): Promise<void> {
    while (next < items.length) {
      const index = next++;
      try {
        results[index] = await map(items[index] as T, index);
      } catch (error) {
        next = items.length;
        throw error;
      }
    }
  }
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, worker));
  return results;
}

/** Waits for something that may take long, and reports progress now and then. */
export async function telling<T>(work: Promise<T>, tell: () => void, everyMs: number): Promise<T> {
  const timer = setInterval(tell, everyMs);
  // Does not keep an otherwise idle process alive.
  timer.unref();
  try {
    return await work;
  } finally {
    clearInterval(timer);
  }
}

/** Runs one piece of work after the other, in the order in which they came; one that fails stops none after it. */
export function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const mine = last.then(work, work);
    last = mine.catch(() => undefined);
    return mine;
  };
}

/** Does the work in turn; one that has not begun yet serves all who ask meanwhile. */
export function onceForAll<T>(work: () => Promise<T>, queue = inTurn()): () => Promise<T> {
  let next: Promise<T> | undefined;
  return () =>
    (next ??= queue(() => {
      next = undefined;
      return work();
    }));
}

/** Something that all that runs within it can ask for. */
interface Around<T> {
  now(): T | undefined;
  within<R>(value: T, work: () => Promise<R>): Promise<R>;
}

/**
 * The one of this name. To follow it makes every step of the program slower, so it is not followed while nothing runs within it.
 */
export function around<T>(name: string): Around<T> {
  return shared(name, () => {
    const storage = new AsyncLocalStorage<T>();
    let running = 0;
    return {
      now: () => storage.getStore(),
      async within(value, work) {
        running += 1;
        try {
          return await storage.run(value, work);
        } finally {
          running -= 1;
          if (running === 0) storage.disable();
        }
      },
    };
  });
}

/**
 * How calls share this thread. A short call runs straight through. Work of many steps awaits `breath` between them: for a few
 * milliseconds it goes on, then everything else has its turn, and of several such works the next goes on.
 */
interface Calls {
  /** How many are being answered. */
  running: number;
  /** When work of many steps has begun in this round of the event loop. */
  began: number | undefined;
  /** Those whose time in this round is over, the first first. */
  waiting: (() => void)[];
}

const calls = /* @__PURE__ */ shared<Calls>('calls under way', () => ({
  running: 0,
  began: undefined,
  waiting: [],
}));

/** Runs a call. */
export async function underWay<T>(work: () => Promise<T>): Promise<T> {
  calls.running += 1;
  try {
    return await work();
  } finally {
    calls.running -= 1;
  }
}

/** Whether any call is being answered. */
export function isCallUnderWay(): boolean {
  return calls.running > 0;
}

/** Divided by the clock: what a step takes depends on the disk. A short call beside it waits so long at each of its many steps. */
const BREATH_MS = { alone: 5, besideOthers: 1 };

/** To be awaited between the steps of long work; most of the time it goes on immediately. */
export async function breath(): Promise<void> {
  const time = performance.now();
  if (calls.began === undefined) {
    calls.began = time;
    setImmediate(round);
  } else if (time - calls.began >= (calls.running > 1 ? BREATH_MS.besideOthers : BREATH_MS.alone))
    await new Promise<void>((go) => void calls.waiting.push(go));
}

/** In each round of the event loop one of those that wait goes on. */
function round(): void {
  const next = calls.waiting.shift();
  calls.began = next === undefined ? undefined : performance.now();
  if (next === undefined) return;
  setImmediate(round);
  next();
}

/**
 * What it makes is settled when all that had happened on disk before it was called has been told, on systems that tell at
 * once. There, an event is queued together with the change, and Node takes the whole queue in each round of its loop, when it
 * takes the input of the round. A call may have come with the input of this round after the queue was looked at, so that of
 * the next round is waited for: one turn leads to the end of this round, the second to the end of the next.
 */
export function createCatchingUp(): () => Promise<void> {
  let next: Promise<void> | undefined;
  async function twoRounds(): Promise<void> {
    await turn();
    // Whoever comes from now on may come with the input of the next round.
    next = undefined;
    await turn();
  }
  return () => (next ??= twoRounds());
}
