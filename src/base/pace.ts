import { setImmediate } from 'node:timers/promises';
import { BmadError } from './errors.ts';
import { shared } from './under-way.ts';

/**
 * Calls that need the processor for long give way to those that do not. Of one caller, one heavy piece of work runs at a
 * time. Between the slices of such work everything else gets its turn, and calls that have just come are answered first.
 */

/** A call counts as short for so long; what takes longer, such as waiting for a person, holds nobody up. */
const SHORT_MS = 2_000;
/** Heavy work goes on after so long, whatever else is asked: it has to come to its end. */
const PATIENCE_MS = 100;
const LOOK_MS = 5;
/** More than any sensible program asks at once. */
const MOST_WAITING = 100;

/**
 * Runs the heavy part of a call when no other of the same caller runs. A caller with too many of them waiting is refused;
 * without a name, there is nobody else who could suffer. Whoever leaves while waiting never begins.
 */
export async function heavily<T>(
  { caller, signal }: { caller?: string | undefined; signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  const { short, lanes } = shared();
  const key = caller ?? '';
  // From here on it is not one of those that are answered first.
  short.delete(signal);
  const waiting = lanes.get(key);
  if (waiting === undefined) lanes.set(key, []);
  else if (caller !== undefined && waiting.length >= MOST_WAITING) throw busy();
  else await turnIn(waiting, signal);
  try {
    signal.throwIfAborted();
    await pace();
    return await work();
  } finally {
    const next = lanes.get(key)?.shift();
    if (next === undefined) lanes.delete(key);
    else next();
  }
}

/** The same for work that mostly waits: it stands back before short calls, and others of the same caller need not wait. */
export async function patiently<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  shared().short.delete(signal);
  return work();
}

function turnIn(waiting: (() => void)[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const begin = (): void => {
      signal.removeEventListener('abort', leave);
      resolve();
    };
    const leave = (): void => {
      const at = waiting.indexOf(begin);
      if (at !== -1) waiting.splice(at, 1);
      reject(signal.reason as Error);
    };
    if (signal.aborted) return leave();
    signal.addEventListener('abort', leave, { once: true });
    waiting.push(begin);
  });
}

/** Between two slices of heavy work: others get their turn, and short calls are answered first. */
export async function pace(): Promise<void> {
  await setImmediate();
  const { short } = shared();
  const until = performance.now() + PATIENCE_MS;
  while (hasShort(short) && performance.now() < until)
    await new Promise<void>((resolve) => void setTimeout(resolve, LOOK_MS));
}

/** Heavy work is divided by the clock: what a step takes depends on the disk. */
const SLICE_MS = 8;

/**
 * For work of many small steps, to be awaited between them: most of the time it goes on at once. A call that others need not be
 * answered before gives way with `setImmediate`.
 */
export function pacing(giveWay: () => Promise<unknown> = pace): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < SLICE_MS) return;
    await giveWay();
    since = performance.now();
  };
}

function hasShort(short: ReadonlyMap<AbortSignal, number>): boolean {
  const since = performance.now() - SHORT_MS;
  for (const began of short.values()) if (began > since) return true;
  return false;
}

function busy(): BmadError {
  return new BmadError('busy', `${MOST_WAITING} of your calls are waiting already; this one was not begun.`, {
    hint: 'Wait for their answers, then call again. Calls of others are not affected.',
  });
}

/** How long files are read one after the other before everyone else has a turn. */
const BREATH_MS = 5;

/** When the others had their turn, by any of the files that the programs consist of. */
const BREATH = Symbol.for('bmad-mcp-server: last turn of others while files are read');
const last = globalThis as { [BREATH]?: number };

/** Content is many small files: each is read in this thread, and now and then others come in between. */
export async function breath(): Promise<void> {
  while (performance.now() - (last[BREATH] ?? 0) >= BREATH_MS) {
    const before = last[BREATH];
    await setImmediate();
    // Of many that have waited together, the first begins the next slice, and the others see how long that is.
    if (last[BREATH] === before) last[BREATH] = performance.now();
  }
}
