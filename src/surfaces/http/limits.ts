/** What one server bears; more is refused, slower is cut. */
export interface Limits {
  /** Calls that may be open at once. */
  requests: number;
  /** Streams that may be open at once; what is served without a token is in neither number. */
  streams: number;
  /** Connections that may be open at once; more are closed without a word. */
  connections: number;
  /** Bytes and number of headers. */
  headerBytes: number;
  headers: number;
  /** Time for the headers to come, and for the whole request. */
  headerMs: number;
  requestMs: number;
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
  connections: 4_000,
  headerBytes: 16_384,
  headers: 100,
  headerMs: 10_000,
  requestMs: 60_000,
  stalledMs: 30_000,
  drainMs: 0,
  shutdownMs: 10_000,
};
