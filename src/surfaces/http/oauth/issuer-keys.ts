import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { isLoopback } from '../names.ts';
import { withoutEnd } from '../../../base/text/text.ts';

/** The issuer cannot be asked for its keys at the moment. The text of the cause is for the log only. */
export class IssuerUnavailable extends Error {}

/** The issuer may have new keys, but was asked just now. */
export class AskedJustNow extends Error {
  readonly seconds: number;

  constructor(waitMs: number) {
    super('the issuer was just asked');
    this.seconds = Math.ceil(waitMs / 1_000);
  }
}

export interface IssuerKeys {
  /** The keys as they are known; fetched first if there are none, or if they are old. */
  current(): Promise<JWTVerifyGetKey>;
  /**
   * For a token that names an unknown key: fetches the keys again if they are older than `since`. Throws if that was
   * tried too recently; false if the known keys are not older.
   */
  renewedSince(since: number): Promise<boolean>;
}

export interface IssuerOptions {
  issuer: string;
  keysUrl?: string | undefined;
  /** The clock; milliseconds. */
  now?: () => number;
  /** How long the issuer may take for an answer. */
  fetchMs?: number;
}

const FETCH_MS = 5_000;
const MOST_BYTES = 256 * 1024;
/** Keys are fetched again after this; until that works, the old ones serve on, but not forever. */
const FRESH_MS = 10 * 60_000;
const USABLE_MS = 24 * 60 * 60_000;
/** Tokens with made-up keys must not make us ask the issuer each time. */
const PAUSE_MS = 10_000;
const PAUSE_AFTER_FAILURE_MS = 5_000;

/** The public keys of an issuer, fetched when first needed and kept. */
export function issuerKeys({
  issuer,
  keysUrl,
  now = Date.now,
  fetchMs = FETCH_MS,
}: IssuerOptions): IssuerKeys {
  let known: { keys: JWTVerifyGetKey; at: number } | undefined;
  let tried = { at: -Infinity, failed: false };
  let running: Promise<void> | undefined;

  async function fetchKeys(): Promise<void> {
    tried = { at: now(), failed: true };
    const address = keysUrl ?? (await keysAddress(issuer, fetchMs));
    const keys = (await fetchJson(address, fetchMs)) as unknown as JSONWebKeySet;
    known = { keys: createLocalJWKSet(keys), at: now() };
    tried.failed = false;
  }

  /** All waiting callers share one request. */
  function renew(): Promise<void> {
    running ??= fetchKeys().finally(() => (running = undefined));
    return running;
  }

  const age = (): number => (known === undefined ? Infinity : now() - known.at);
  const pauseMs = (): number => tried.at + (tried.failed ? PAUSE_AFTER_FAILURE_MS : PAUSE_MS) - now();
  const mayTry = (): boolean => pauseMs() <= 0;

  return {
    async current() {
      if (age() > USABLE_MS) {
        if (running === undefined && !mayTry())
          throw new IssuerUnavailable('the last attempt to reach it failed');
        await renew().catch(unavailable);
      } else if (age() > FRESH_MS && mayTry()) {
        // No one has to wait for this, and no one is turned away if it fails.
        void renew().catch(() => undefined);
      }
      if (known === undefined || age() > USABLE_MS) throw new IssuerUnavailable('it has no keys');
      return known.keys;
    },
    async renewedSince(since) {
      if (known !== undefined && known.at >= since) return false;
      if (running === undefined && !mayTry()) throw new AskedJustNow(pauseMs());
      await renew().catch(unavailable);
      return true;
    },
  };
}

function unavailable(error: unknown): never {
  throw new IssuerUnavailable(error instanceof Error ? error.message : String(error));
}

/** Where the issuer says its keys are: by OpenID Connect, else by RFC 8414. */
async function keysAddress(issuer: string, fetchMs: number): Promise<string> {
  const { origin, pathname } = new URL(issuer);
  const path = withoutEnd(pathname, '/');
  const places = [
    `${origin}${path}/.well-known/openid-configuration`,
    `${origin}/.well-known/oauth-authorization-server${path}`,
  ];
  let problem: unknown;
  for (const place of places) {
    try {
      const { issuer: said, jwks_uri: address } = await fetchJson(place, fetchMs);
      if (said !== issuer) throw new Error(`${place} belongs to another issuer`);
      if (typeof address === 'string') return address;
      throw new Error(`${place} does not name any keys`);
    } catch (error) {
      problem ??= error;
    }
  }
  throw problem;
}

async function fetchJson(address: string, fetchMs: number): Promise<Record<string, unknown>> {
  const url = new URL(address);
  if (url.protocol !== 'https:' && !isLoopback(url.hostname.replace(/^\[|\]$/g, '')))
    throw new Error(`${url.origin} does not use https and is not contacted`);
  const response = await fetch(url, {
    redirect: 'error',
    // It is asked every few minutes: a kept connection would be one that the issuer is about to close.
    headers: { accept: 'application/json', connection: 'close' },
    signal: AbortSignal.timeout(fetchMs),
  });
  if (!response.ok || response.body === null)
    throw new Error(`${address} answered with status ${response.status}`);
  const value: unknown = JSON.parse(await limitedText(response.body, address));
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${address} is not a JSON object`);
  return value as Record<string, unknown>;
}

async function limitedText(body: ReadableStream<Uint8Array>, address: string): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > MOST_BYTES) throw new Error(`${address} is too long`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}
