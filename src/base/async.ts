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
