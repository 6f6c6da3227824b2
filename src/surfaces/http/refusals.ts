import type { IncomingMessage } from 'node:http';
import { attempt } from '../../base/errors.ts';
import { type Caller, callerKey, type Part } from '../../base/http/http-route.ts';
import type { Log } from '../../base/log.ts';
import { createBounded } from '../../base/values.ts';
import { networkOf } from './exchange.ts';
import type { Refused } from './gate.ts';

/** Why requests are not admitted, as metrics and the log name it. */
export const REFUSALS = [
  'no_token',
  'wrong_token',
  'throttled',
  'forbidden',
  'unavailable',
  'quota',
] as const;
export type Refusal = (typeof REFUSALS)[number];

const WINDOW_MS = 60_000;
/** So many wrong tokens of one address are answered as such within the window. */
const WRONG_TOKENS = 20;
/** Addresses that are remembered; beyond them the one that was quiet for longest is forgotten. */
const ADDRESSES = 10_000;
/** So many kinds of refusals are told apart until they are told; those of further callers are counted without them. */
const TOLD_APART = 500;

/** Refusals of one kind. */
export interface ToldRefusal {
  reason: Refusal;
  count: number;
  /** Who was refused, where that is known. */
  by?: Caller | undefined;
  /** The folder that the address has named, where it is served. */
  project?: string | undefined;
}

type Asking = Pick<IncomingMessage, 'headers' | 'socket' | 'url'>;
type Answered = Pick<Refused, 'message' | 'headers'> & { status: number };

interface RefusalsOptions {
  log: Log;
  /** Addresses of proxies: what they say about where a request comes from is believed. */
  proxies?: readonly string[];
  refused?: ((reason: Refusal) => void) | undefined;
  /** Hears of all of them together, at most once a minute. */
  told?: ((refusals: readonly ToldRefusal[]) => void) | undefined;
  /** Folders of projects that may be named as what a request was about; everything else is anybody's text. */
  projects?: readonly string[] | undefined;
  /** In milliseconds. */
  clock?: () => number;
}

/**
 * Counts the requests that are not admitted. After too many wrong tokens, an address has to wait. A request with a valid
 * token never gets here, so it is admitted whatever others behind the same address have tried.
 */
export function createRefusals({
  log,
  proxies = [],
  refused,
  told: tellOthers,
  projects = [],
  clock = () => performance.now(),
}: RefusalsOptions) {
  const behind = new Set(proxies);
  const wrong = createBounded<number[]>(ADDRESSES);
  let told = -Infinity;
  let untold = new Map<string, ToldRefusal>();
  let later: NodeJS.Timeout | undefined;

  /** One line, then at most one a minute, with the number of all since the last one. */
  function tell(): void {
    const wait = told + WINDOW_MS - clock();
    if (wait > 0) later ??= setTimeout(say, Math.ceil(wait)).unref();
    else say();
  }

  function say(): void {
    clearTimeout(later);
    later = undefined;
    if (untold.size === 0) return;
    told = clock();
    const all = [...untold.values()];
    const counts: Partial<Record<Refusal, number>> = {};
    for (const { reason, count: more } of all) counts[reason] = (counts[reason] ?? 0) + more;
    log.warn('requests were refused', counts);
    tellOthers?.(all);
    untold = new Map();
  }

  function count(reason: Refusal, { url = '' }: Asking, by?: Caller): void {
    refused?.(reason);
    const named = attempt(
      () => new URL(url, 'http://door').searchParams.get('project'),
      () => null,
    );
    const one = { reason, by, project: projects.find((root) => root === named) };
    const key = JSON.stringify([reason, by && callerKey(by), one.project]);
    const [kind, kept] = untold.has(key) || untold.size < TOLD_APART ? [key, one] : [reason, { reason }];
    untold.set(kind, { ...kept, count: (untold.get(kind)?.count ?? 0) + 1 });
    tell();
  }

  /** How long to wait, in seconds, for an address with too many wrong tokens. */
  function waitOf(address: string): number | undefined {
    const since = clock() - WINDOW_MS;
    const times = (wrong.get(address) ?? []).filter((at) => at > since);
    wrong.set(address, times);
    if (times.length < WRONG_TOKENS) {
      times.push(clock());
      return undefined;
    }
    return Math.max(1, Math.ceil(((times[0] ?? 0) - since) / 1_000));
  }

  /** Requests of callers that are bounded, in the minute that has begun with the first. */
  const minutes = new Map<string, { from: number; count: number }>();

  /** How long a caller has to wait, in seconds, who may make so many requests in a minute. */
  function overBy(subject: string, most: number): number | undefined {
    const now = clock();
    const minute = minutes.get(subject);
    const own = minute === undefined || now - minute.from >= WINDOW_MS ? { from: now, count: 0 } : minute;
    minutes.set(subject, own);
    own.count += 1;
    return own.count <= most ? undefined : Math.max(1, Math.ceil((own.from + WINDOW_MS - now) / 1_000));
  }

  return {
    count,
    /** What is answered to a known caller who asks too often, or for a part that is not for it. */
    bounded(caller: Caller, part: Part | undefined, incoming: Asking): Answered | undefined {
      const { bounds, only, challenge, subject = '' } = caller;
      const seconds = bounds?.calls === undefined ? undefined : overBy(subject, bounds.calls);
      if (seconds !== undefined) {
        count('quota', incoming, caller);
        return {
          status: 429,
          message: `Your token may make ${bounds?.calls} requests a minute. Try again in ${seconds} s.`,
          headers: { 'retry-after': String(seconds) },
        };
      }
      if (only === undefined || only === part) return undefined;
      count('forbidden', incoming, caller);
      return {
        status: 403,
        message: `This ${only === 'page' ? 'session' : 'token'} is for ${PARTS[only]} only. Ask the server’s operator for a token for MCP hosts.`,
        headers: challenge === undefined ? {} : { 'www-authenticate': challenge },
      };
    },
    /** What is answered in place of a refusal: the same, or that there were too many. */
    answer(reply: Refused, incoming: Asking): Answered {
      if (reply.wrongToken !== true) {
        const reason = reply.status === 401 ? 'no_token' : reply.status === 403 ? 'forbidden' : 'unavailable';
        count(reason, incoming, reply.by);
        return reply;
      }
      const seconds = waitOf(addressOf(incoming, behind));
      count(seconds === undefined ? 'wrong_token' : 'throttled', incoming);
      if (seconds === undefined) return reply;
      return {
        status: 429,
        message: `Too many wrong tokens came from this address. Try again in ${seconds} s.`,
        headers: { ...reply.headers, 'retry-after': String(seconds) },
      };
    },
    close: say,
  };
}

const PARTS: Record<Part, string> = { a2a: 'Agent2Agent', page: 'the page' };

/** The last address that a proxy in front of this server has seen itself; what is before it is what the client said. */
function addressOf({ headers, socket }: Asking, proxies: ReadonlySet<string>): string {
  const said = headers['x-forwarded-for'];
  const hops = [...(typeof said === 'string' ? said.split(',') : []), socket.remoteAddress ?? ''].map(plain);
  return networkOf(hops.findLast((hop) => !proxies.has(hop)) ?? hops[0] ?? '');
}

const plain = (address: string): string =>
  address
    .trim()
    .replace(/^::ffff:/i, '')
    .slice(0, 64);
