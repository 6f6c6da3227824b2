import { callerKey, type Caller } from '../../base/http/http-route.ts';
import { createShares } from '../../base/http/shares.ts';

/** What one server bears; more is refused, slower is cut. */
export interface Limits {
  /** Calls that may be open at once. */
  requests: number;
  /** Streams that may be open at once; what is served without a token is in neither number. */
  streams: number;
  /** Connections that may be open at once without a call that was admitted; for one more, another is closed. */
  waiting: number;
  /** Bytes and number of headers. */
  headerBytes: number;
  headers: number;
  /** Time for the headers to come, and for the whole request. */
  headerMs: number;
  requestMs: number;
  /** How long a connection is kept for the next request: longer than clients and proxies usually want to use it again. */
  keptMs: number;
  /** How long a client may go without reading what it was sent. */
  stalledMs: number;
  /** How long the server keeps serving after a stop signal, so that load balancers notice in time. */
  drainMs: number;
  /** How long what runs may take to finish when the server ends. */
  shutdownMs: number;
}

export const USUAL_LIMITS: Limits = {
  requests: 1_000,
  streams: 1_000,
  // Above what the system hands over at once, so that one that has just come is looked at before it can be closed.
  waiting: 2_000,
  headerBytes: 16_384,
  headers: 100,
  headerMs: 10_000,
  requestMs: 60_000,
  keptMs: 75_000,
  stalledMs: 30_000,
  drainMs: 0,
  shutdownMs: 10_000,
};

/** How many exchanges are open: calls and streams are counted separately, so that listeners do not shut out callers. */
export function createRoom({ requests, streams: most }: Limits) {
  const calls = createShares<object>(requests);
  const streams = createShares<object>(most);
  return {
    /** Takes a place among the calls; `false` where there is none, or where the caller has its share of them. */
    enter: (who: object, caller: Caller): boolean => calls.take(who, callerKey(caller)),
    /** Goes over to the streams; `false` where there are enough, or where the caller has its share of them. */
    stay(who: object, caller: Caller): boolean {
      if (!streams.take(who, callerKey(caller))) return false;
      calls.giveBack(who);
      return true;
    },
    leave(who: object): void {
      calls.giveBack(who);
      streams.giveBack(who);
    },
  };
}
