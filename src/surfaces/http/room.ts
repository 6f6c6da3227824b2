import { callerKey, type Caller } from '../../base/http/http-route.ts';
import { createShares } from '../../base/http/shares.ts';
import type { Limits } from './limits.ts';

/** How many exchanges are open: calls and streams are counted separately, so that listeners do not shut out callers. */
export interface Room {
  /** Takes a place among the calls; `false` where there is none, or where the caller has its share of them. */
  enter(who: object, caller: Caller): boolean;
  /** Goes over to the streams; `false` where there are enough, or where the caller has its share of them. */
  stay(who: object, caller: Caller): boolean;
  leave(who: object): void;
}

export function createRoom(limits: Pick<Limits, 'requests' | 'streams'>): Room {
  const calls = createShares<object>(limits.requests);
  const streams = createShares<object>(limits.streams);
  return {
    enter: (who, caller) => calls.take(who, callerKey(caller)),
    stay(who, caller) {
      if (!streams.take(who, callerKey(caller))) return false;
      calls.giveBack(who);
      return true;
    },
    leave(who) {
      calls.giveBack(who);
      streams.giveBack(who);
    },
  };
}
