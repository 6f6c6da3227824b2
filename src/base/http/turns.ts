/** Waits until it is this caller's turn to begin something. */
export type Turn = (caller: string) => Promise<void>;

/**
 * Callers take turns. What several want to begin at once begins one after the other, one in each round of the event loop,
 * and the callers alternate: however much one of them asks for, another waits for a few pieces of its work, not for all.
 * What has begun goes on as it likes; nothing waits for its end.
 */
export function createTurns(): Turn {
  /** The next caller first. */
  const waiting = new Map<string, (() => void)[]>();
  let busy = false;

  function next(): void {
    const [first] = waiting;
    if (first === undefined) {
      busy = false;
      return;
    }
    setImmediate(next);
    const [caller, queue] = first;
    const begin = queue.shift();
    waiting.delete(caller);
    if (queue.length > 0) waiting.set(caller, queue);
    begin?.();
  }

  return (caller) => {
    if (!busy) {
      busy = true;
      setImmediate(next);
      return Promise.resolve();
    }
    return new Promise((begin) => {
      const queue = waiting.get(caller);
      if (queue === undefined) waiting.set(caller, [begin]);
      else queue.push(begin);
    });
  };
}
