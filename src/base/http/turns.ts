import { BmadError } from '../errors.ts';
import { t } from '../text/message.ts';

/** Waits until it is this caller's turn to begin something. */
export type Turn = (caller: string) => Promise<void>;

/** The same for a call; what comes back is to be called at its end. */
type CallTurn = (caller: string, writes: boolean) => Promise<() => void>;

/** A caller who has asked for nothing for so long is not there any more. */
const THERE_MS = 1_000;
/** A call that takes longer waits for something else, such as a program or a person: then the next may begin. */
const COUNTS_MS = 1_000;
/** So many times as long as its last call took, a caller's next waits beside another who asks for one thing at a time. */
const LEFT_TO_OTHERS = 2;

/** So long a change waits in the line. */
const LINE_MS = 60_000;
/** So many changes of one caller are made at once; more would only wait for each other at the disk. */
const CHANGES = 8;
const RETRY_SECONDS = 5;

/** Calls of one caller that follow each other: those that read, or those that write. */
interface Lane {
  running: number;
  /** How many of them may run where their caller is alone. */
  most: number;
  next: (() => void)[];
}

interface CallsOfOne {
  seen: number;
  reads: Lane;
  writes: Lane;
}

/**
 * Callers take turns. What several want to begin at once begins one after the other, one in each round of the event loop,
 * and the callers alternate. While there are several, each has one call under way that reads and one that writes, and the next
 * begins at its end: however much one of them asks for, another waits for a few pieces of its work, not for all.
 */
export function createTurns({ lineMs = LINE_MS } = {}): {
  begin: Turn;
  call: CallTurn;
  /** How many changes wait in the line. */
  waiting(): number;
} {
  /** The next caller first. */
  const waiting = new Map<string, (() => void)[]>();
  let busy = false;
  const callers = new Map<string, CallsOfOne>();
  /** Lanes that leave their time to others. */
  const resting = new Map<Lane, NodeJS.Timeout>();

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
    for (const [caller, { seen, reads, writes }] of callers)
      if (seen < since && isIdle(reads) && isIdle(writes)) callers.delete(caller);
    return callers.size < 2;
  }

  /** Not for one who has more to ask than is answered: to that one, it only matters how much is answered in all. */
  const isAnotherServed = (own: CallsOfOne): boolean =>
    [...callers.values()].some(
      ({ reads, writes }) =>
        reads !== own.reads &&
        reads.running + writes.running > 0 &&
        reads.next.length + writes.next.length === 0,
    );

  function goOn(lane: Lane): void {
    clearTimeout(resting.get(lane));
    resting.delete(lane);
    const most = (isAlone() ? lane.most : 1) - lane.running;
    for (const go of lane.next.splice(0, Math.max(0, most))) {
      lane.running += 1;
      go();
    }
  }

  /**
   * A call waits for the disk, if it writes again and again, and each time then for what others do: most of the time is its own
   * until it is over, where those others have more to ask.
   */
  function goOnLater(own: CallsOfOne, lane: Lane, tookMs: number): void {
    for (const other of callers.values())
      for (const each of [other.reads, other.writes])
        if (resting.has(each) && !isAnotherServed(other)) setImmediate(goOn, each);
    if (lane.next.length === 0) return;
    if (isAnotherServed(own)) resting.set(lane, setTimeout(goOn, tookMs * LEFT_TO_OTHERS, lane));
    else setImmediate(goOn, lane);
  }

  /** A place in the line. A server that is asked for more than it can do says so, and does not make everybody wait for ever. */
  function place(lane: Lane): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        lane.next.splice(lane.next.indexOf(go), 1);
        reject(
          new BmadError('unavailable', t`Too much is being changed at the moment; this call was not made.`, {
            reason: 'busy',
            seconds: RETRY_SECONDS,
            hint: t`Try again in a few seconds.`,
          }),
        );
      }, lineMs).unref();
      const go = (): void => {
        clearTimeout(timer);
        resolve();
      };
      lane.next.push(go);
    });
  }

  const call: CallTurn = async (caller, writes) => {
    const own = callers.get(caller) ?? { seen: 0, reads: newLane(Infinity), writes: newLane(CHANGES) };
    callers.set(caller, own);
    own.seen = performance.now();
    const lane = writes ? own.writes : own.reads;
    const isFull = lane.running >= (isAlone() ? lane.most : 1);
    if (lane.next.length > 0 || isFull) await place(lane);
    else lane.running += 1;
    const over = (): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      lane.running -= 1;
      goOnLater(own, lane, performance.now() - began);
    };
    let isOver = false;
    const began = performance.now();
    const timer = setTimeout(over, COUNTS_MS).unref();
    await begin(caller);
    return over;
  };

  const waits = (): number => [...callers.values()].reduce((sum, { writes }) => sum + writes.next.length, 0);
  return { begin, call, waiting: waits };
}

const newLane = (most: number): Lane => ({ running: 0, most, next: [] });
const isIdle = ({ running, next }: Lane): boolean => running === 0 && next.length === 0;

/** Places shared by several callers. No caller can take all of them: one gets half, two get a third each. Unidentified callers count as one. */
export function createShares<T>(most: number) {
  const taken = new Map<T, string | undefined>();
  const held = new Map<string, number>();
  return {
    /** `false` if no place is left, or if the caller has as many as are left for all others. */
    take(who: T, caller: string | undefined): boolean {
      const left = most - taken.size;
      if (left <= 0) return false;
      if (caller !== undefined) {
        const own = held.get(caller) ?? 0;
        if (own >= left) return false;
        held.set(caller, own + 1);
      }
      taken.set(who, caller);
      return true;
    },
    giveBack(who: T): void {
      const caller = taken.get(who);
      if (!taken.delete(who) || caller === undefined) return;
      const own = (held.get(caller) ?? 0) - 1;
      if (own <= 0) held.delete(caller);
      else held.set(caller, own);
    },
  };
}
