/** A body of more bytes than this is answered with 413 and not read to its end. */
export const BODY_LIMIT = 4 * 1024 * 1024;

/** A part of what is served that a caller can be confined to. */
export type Part = 'a2a' | 'page';

/** What a token reaches and uses up at most; what is not named is not bounded. */
export interface Bounds {
  /** Folders of projects, with those below them. */
  projects?: readonly string[];
  toolsets?: readonly string[];
  /** A project with so many open tasks, or memories, gets no more by this token. */
  tasks?: number;
  memories?: number;
  /** Requests in a minute. */
  calls?: number;
}

/** What the front door has found out about the caller. */
export interface Caller {
  /** `anonymous` callers were not identified: only a server that this machine alone can reach serves them. */
  known: 'anonymous' | 'token' | 'oauth' | 'person';
  /** Distinguishes known callers; what one has opened is not available to another. */
  subject?: string;
  /** Who the operator says has the token. */
  name?: string;
  /** Whether they may change something; a read-only server refuses all writes. */
  mayWrite: boolean;
  bounds?: Bounds;
  /** Whether they have the full token of a server that only its own machine can reach. */
  own?: true;
  /** Whether a person has shown that they are one: what agents have to call with never says so. */
  person?: true;
  /** The one part they may reach; without it, everything. */
  only?: Part;
  /** The WWW-Authenticate header of a refusal, for a caller who could ask the issuer for more. */
  challenge?: string;
}

/** A token that is admitted, with what it may do and whose it is. */
export type KnownToken = Pick<Caller, 'mayWrite' | 'only' | 'name' | 'person' | 'bounds'> & { token: string };

/** Whether two requests come from the same caller, as far as that is known. */
export function sameCaller(one: Caller, other: Caller): boolean {
  return one.known === other.known && one.subject === other.subject;
}

/** What distinguishes a caller from others in counts; undefined if callers are not identified. */
export function callerKey({ known, subject = '' }: Caller): string | undefined {
  return known === 'anonymous' ? undefined : `${known} ${subject}`;
}

/** One HTTP exchange, in the web's own types, with a signal for its end. */
export interface Exchange {
  request: Request;
  /** What was sent, parsed, for a route that takes messages: the request then has no body. */
  message?: object;
  path: string;
  caller: Caller;
  /** The address and the port of this machine at which the request has arrived. */
  place: string;
  /** Fires when the exchange ends, however it ended. */
  over: AbortSignal;
  /**
   * Marks this exchange as one that stays open until it is ended, so that it no longer counts as a call. `false` if
   * there are enough of those, or if this caller has its share.
   */
  stays?(): boolean;
}

/** Runs a function when the exchange ends: immediately if the client has already disconnected. */
export function whenOver(over: AbortSignal, act: () => void): void {
  if (over.aborted) act();
  else over.addEventListener('abort', act, { once: true });
}

/** An answer to a request that never reached a route, or that a route does not accept. */
export type Refuse = (status: number, message: string, headers?: Record<string, string>) => Response;

/**
 * A part of what is served over HTTP. The front door has checked where a request comes from, who sent it and how long it
 * is before a route sees it.
 */
export interface HttpRoute {
  /** `/mcp` is that path alone, `/api/*` every path below. */
  path: string;
  methods: readonly string[];
  /** Also served without a token: for routes that reveal nothing about the project, such as `/healthz`. */
  open?: true;
  /** Checks the nesting depth of a message itself, and reports it in the terms of its protocol. */
  checksDepth?: true;
  /** What is sent to it are messages in JSON, which are parsed once. */
  takesMessage?: true;
  /** The part it belongs to: callers that are confined to it reach this route. */
  part?: Part;
  /** Also answered during shutdown, on connections that are still open: for status routes. */
  whileEnding?: true;
  /** The methods of one path, if not all paths of the route accept the same. */
  methodsAt?(path: string): Promise<readonly string[]>;
  /** How its clients expect a refusal. */
  refuse: Refuse;
  handle(exchange: Exchange): Promise<Response>;
  /** The server has received a stop signal. Work may still arrive for a while, until `close`. */
  ending?(): void;
  /**
   * No new work comes; running work finishes or, when the signal fires, is ended. Without it, the front door waits for
   * the exchanges of the route in the same way.
   */
  close?(now: AbortSignal): Promise<void>;
  /** How many calls are worth waiting for; without it, every exchange of the route counts. */
  running?(): number;
}

export function matches({ path: pattern }: HttpRoute, path: string): boolean {
  return pattern.endsWith('/*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
}

/** For clients that speak JSON-RPC: what never became a message has no id. */
export const refuseAsRpc: Refuse = (status, message, headers = {}) =>
  Response.json({ jsonrpc: '2.0', error: { code: -32_000, message }, id: null }, { status, headers });

/** For all other clients (RFC 9457). */
export const refuseAsProblem: Refuse = (status, message, headers = {}) =>
  Response.json(
    { type: 'about:blank', title: titleOf(status), status, detail: message },
    { status, headers: { ...headers, 'content-type': 'application/problem+json' } },
  );

export function titleOf(status: number): string {
  return TITLES[status] ?? 'Refused';
}

const TITLES: Record<number, string> = {
  400: 'Bad request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not found',
  405: 'Method not allowed',
  406: 'Not acceptable',
  413: 'Content too large',
  415: 'Unsupported media type',
  408: 'Request timeout',
  422: 'Unprocessable content',
  429: 'Too many requests',
  431: 'Request header fields too large',
  500: 'Internal error',
  503: 'Unavailable',
};
