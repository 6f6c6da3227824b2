import { setImmediate } from 'node:timers';

/**
 * How calls share this thread. A short call runs straight through. Work of many steps awaits `breath` between them: for a few
 * milliseconds it goes on, then everything else has its turn, and of several such works the next goes on.
 */
interface Shared {
  /** How many calls are being answered. */
  calls: number;
  /** When work of many steps has begun in this round of the event loop. */
  began: number | undefined;
  /** Those whose time in this round is over, the first first. */
  waiting: (() => void)[];
}

/** The programs consist of several files, each with its own copy of this one: the calls of all of them are meant. */
const SHARED = Symbol.for('bmad-mcp-server: calls under way');

function shared(): Shared {
  const all = globalThis as { [SHARED]?: Shared };
  return (all[SHARED] ??= { calls: 0, began: undefined, waiting: [] });
}

/** Runs a call. */
export async function underWay<T>(work: () => Promise<T>): Promise<T> {
  const all = shared();
  all.calls += 1;
  try {
    return await work();
  } finally {
    all.calls -= 1;
  }
}

/** Whether any call is being answered. */
export function isCallUnderWay(): boolean {
  return shared().calls > 0;
}

/** Divided by the clock: what a step takes depends on the disk. */
const BREATH_MS = 5;

/** To be awaited between the steps of long work; most of the time it goes on immediately. */
export async function breath(): Promise<void> {
  const all = shared();
  const now = performance.now();
  if (all.began === undefined) {
    all.began = now;
    setImmediate(round, all);
  } else if (now - all.began >= BREATH_MS) await new Promise<void>((go) => void all.waiting.push(go));
}

/** In each round of the event loop one of those that wait goes on. */
function round(all: Shared): void {
  const next = all.waiting.shift();
  all.began = next === undefined ? undefined : performance.now();
  if (next === undefined) return;
  setImmediate(round, all);
  next();
}
