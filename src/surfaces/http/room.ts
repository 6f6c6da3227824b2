import { callerKey, type Caller } from '../../base/http-route.ts';
import { createShares } from '../../base/shares.ts';
import type { Limits } from './limits.ts';

/** How many exchanges are open: calls and streams apart, so that those who only listen shut out nobody who asks. */
export interface Room {
  /** Takes a place among the calls; `false` where there is none. */
  enter(who: object): boolean;
  /** Goes over to the streams; `false` where there are enough, or where the caller has its share of them. */
  stay(who: object, caller: Caller): boolean;
  leave(who: object): void;
}

export function createRoom(limits: Pick<Limits, 'requests' | 'streams'>): Room {
  const calls = new Set<object>();
  const streams = createShares<object>(limits.streams);
  return {
    enter(who) {
      if (calls.size >= limits.requests) return false;
      calls.add(who);
      return true;
    },
    stay(who, caller) {
      if (!streams.take(who, callerKey(caller))) return false;
      calls.delete(who);
      return true;
    },
    leave(who) {
      calls.delete(who);
      streams.giveBack(who);
    },
  };
}
