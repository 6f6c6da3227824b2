import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Caller, KnownToken } from '../../base/http/http-route.ts';
import type { Catalogue } from '../../base/text/message.ts';

/** Why a caller is not admitted, with the headers that say what to do about it. */
export interface Refused {
  status: 401 | 403 | 503;
  message: string;
  headers: Record<string, string>;
  /** Whether a token was sent that is not one of this server's. */
  wrongToken?: true;
  /** Who it is, where that is known all the same. */
  by?: Caller;
}

/** The rest of a request: what browsers send by themselves counts only where all of it fits. */
export interface Asked {
  method: string;
  headers: IncomingHttpHeaders;
}

/** Identifies the caller. */
export interface Gate {
  admit(authorization: string | undefined, asked?: Asked): Promise<Caller | Refused>;
  /** The words that a person is spoken to in; nothing for English, and for programs. */
  wordsFor?(headers: IncomingHttpHeaders): Promise<Catalogue | undefined>;
}

/** What proxies add: then the request comes from somewhere else, whatever address it was sent from. */
const FORWARDED = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

export function isForwarded(asked: Asked | undefined): boolean {
  return FORWARDED.some((name) => asked?.headers[name] !== undefined);
}

/** No identification: for a server that only its own machine can reach. */
export const openGate: Gate = { admit: async () => ({ known: 'anonymous', mayWrite: true }) };

/** Admits callers that have one of the tokens. */
export function tokenGate(tokens: readonly KnownToken[]): Gate {
  const known = tokens.map(({ token, ...rights }) => ({ digest: digestOf(token), rights }));
  return {
    async admit(authorization) {
      const sent = bearerOf(authorization);
      if (sent === undefined)
        return unauthorized('Send this server’s token in the header Authorization: Bearer <token>.');
      const digest = digestOf(sent);
      // All are compared, each in constant time: how long it takes says nothing about any of them.
      let found: (typeof known)[number] | undefined;
      for (const one of known) if (timingSafeEqual(one.digest, digest)) found = one;
      if (found === undefined)
        return unauthorized('The token is not valid. Ask the server’s operator for one.', 'invalid_token');
      const subject = digest.toString('hex').slice(0, 16);
      return { known: 'token', subject, ...found.rights };
    },
  };
}

export function bearerOf(authorization: string | undefined): string | undefined {
  return /^bearer +([\w.~+/=-]+) *$/i.exec(authorization ?? '')?.[1];
}

/** A challenge by RFC 6750; `more` are parameters that come before the error. */
export function unauthorized(message: string, error?: string, more: readonly string[] = []): Refused {
  return {
    status: 401,
    message,
    headers: { 'www-authenticate': challenge([...more, ...named(error)]) },
    ...(error === 'invalid_token' ? { wrongToken: true } : {}),
  };
}

export function challenge(parameters: readonly string[]): string {
  return parameters.length === 0 ? 'Bearer' : `Bearer ${parameters.join(', ')}`;
}

const named = (error: string | undefined): string[] => (error === undefined ? [] : [`error="${error}"`]);

/** Of equal length whatever was sent, so that a comparison tells nothing about the length either. */
export function digestOf(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}
