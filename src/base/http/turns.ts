/** Waits until it is this caller's turn to begin something. */
export type Turn = (caller: string) => Promise<void>;

/** The same for a call; what comes back is to be called at its end. */
export type CallTurn = (caller: string) => Promise<() => void>;

/** A caller who has asked for nothing for so long is not there any more. */
const THERE_MS = 1_000;
/** A call that takes longer waits for something else, such as a program or a person: then the next may begin. */
const COUNTS_MS = 1_000;

interface CallsOfOne {
  seen: number;
  running: number;
  next: (() => void)[];
}

/**
 * Callers take turns. What several want to begin at once begins one after the other, one in each round of the event loop,
 * and the callers alternate. While there are several, each has one call under way, and its next begins at the end of that:
 * however much one of them asks for, another waits for a few pieces of its work, not for all.
 */
export function createTurns(): { begin: Turn; call: CallTurn } {
  /** The next caller first. */
  const waiting = new Map<string, (() => void)[]>();
  let busy = false;
  const callers = new Map<string, CallsOfOne>();

  function round(): void {
    const [first] = waiting;
    if (first === undefined) {
      busy = false;
      return;
    }
    setImmediate(round);
    const [caller, queue] = first;
    const go = queue.shift();
    waiting.delete(caller);
    if (queue.length > 0) waiting.set(caller, queue);
    go?.();
  }

  const begin: Turn = (caller) => {
    if (!busy) {
      busy = true;
      setImmediate(round);
      return Promise.resolve();
    }
    return new Promise((go) => {
      const queue = waiting.get(caller);
      if (queue === undefined) waiting.set(caller, [go]);
      else queue.push(go);
    });
  };

  function isAlone(): boolean {
    const since = performance.now() - THERE_MS;
    for (const [caller, { seen, running, next }] of callers)
      if (running === 0 && next.length === 0 && seen < since) callers.delete(caller);
    return callers.size < 2;
  }

  const isAnotherRunning = (caller: string): boolean =>
    [...callers].some(([other, { running }]) => other !== caller && running > 0);

  function goOn(own: CallsOfOne): void {
    const most = isAlone() ? own.next.length : 1 - own.running;
    for (const go of own.next.splice(0, Math.max(0, most))) {
      own.running += 1;
      go();
    }
  }

  const call: CallTurn = async (caller) => {
    const own = callers.get(caller) ?? { seen: 0, running: 0, next: [] };
    callers.set(caller, own);
    own.seen = performance.now();
    if (own.next.length > 0 || (own.running > 0 && !isAlone()))
      await new Promise<void>((go) => void own.next.push(go));
    else own.running += 1;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      own.running -= 1;
      // A call that writes waits for the disk again and again, and each time then for what others do: half the time is its own.
      const pauseMs = isAnotherRunning(caller) ? performance.now() - began : 0;
      if (own.next.length > 0) setTimeout(goOn, pauseMs, own);
    };
    let isOver = false;
    const began = performance.now();
    const timer = setTimeout(over, COUNTS_MS).unref();
    await begin(caller);
    return over;
  };

  return { begin, call };
}
