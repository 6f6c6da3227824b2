import { errors, jwtVerify, type JWTPayload } from 'jose';
import type { Caller } from '../../../base/http/http-route.ts';
import type { Log } from '../../../base/log.ts';
import { bearerOf, challenge, unauthorized, type Gate, type Refused } from '../gate.ts';
import {
  AskedJustNow,
  issuerKeys,
  IssuerUnavailable,
  type IssuerKeys,
  type IssuerOptions,
} from './issuer-keys.ts';
import { metadataAddress, type MetadataOptions } from './metadata.ts';

/** Signatures with a secret that both sides share, and no signature at all, are not among them. */
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519'];
/** What an access token may call itself; others, such as a logout token, are signed by the same keys. */
const TYPES = new Set(['jwt', 'at+jwt', 'application/jwt', 'application/at+jwt']);
const LEEWAY_S = 60;
const LONGEST = 16_384;

export interface OauthOptions extends IssuerOptions, MetadataOptions {
  audience(): string;
  log: Log;
}

/** Admits callers with an access token (a signed JWT) from the issuer that is meant for this server. */
export function oauthGate(options: OauthOptions): Gate {
  const { scopes, resource, log } = options;
  const keys = issuerKeys(options);
  const where = (): string => `resource_metadata="${metadataAddress(resource())}"`;
  const wrong = (message: string): Refused => unauthorized(message, 'invalid_token', [where()]);

  return {
    async admit(authorization) {
      const token = bearerOf(authorization);
      if (token === undefined)
        return unauthorized('An access token is required: Authorization: Bearer <token>.', undefined, [
          where(),
          `scope="${scopes.read}"`,
        ]);
      if (token.length > LONGEST) return wrong('The access token is too long.');
      try {
        return callerOf(await verified(token, keys, options));
      } catch (error) {
        if (error instanceof AskedJustNow)
          return {
            status: 503,
            message: `The access token is signed with an unknown key, and the issuer’s keys have just been fetched. Try again in ${error.seconds} s.`,
            headers: { 'retry-after': String(error.seconds) },
          };
        if (!(error instanceof IssuerUnavailable)) return wrong(reasonOf(error));
        log.warn('cannot fetch the issuer’s keys', { error: error.message });
        return {
          status: 503,
          message: 'The token issuer cannot be reached, so access tokens cannot be checked. Try again soon.',
          headers: { 'retry-after': '5' },
        };
      }
    },
  };

  function callerOf({ sub, iss, client_id: client, azp, ...claims }: JWTPayload): Caller | Refused {
    const granted = new Set(scopesIn(claims));
    const mayWrite = granted.has(scopes.write);
    const lacks = (scope: string): string =>
      challenge([where(), 'error="insufficient_scope"', `scope="${scope}"`]);
    const subject = JSON.stringify([iss ?? '', sub ?? '', client ?? azp ?? '']);
    const mayRead = mayWrite || granted.has(scopes.read);
    if (!mayRead && granted.has(scopes.a2a))
      return { known: 'oauth', subject, mayWrite: true, only: 'a2a', challenge: lacks(scopes.read) };
    if (!mayRead)
      return {
        status: 403,
        message: `The access token needs the scope ${scopes.read}.`,
        headers: { 'www-authenticate': lacks(scopes.read) },
        by: { known: 'oauth', subject, mayWrite: false },
      };
    const more = mayWrite ? {} : { challenge: lacks(`${scopes.read} ${scopes.write}`) };
    const person = granted.has(scopes.person) ? { person: true as const } : {};
    return { known: 'oauth', subject, mayWrite, ...person, ...more };
  }
}

/** An unknown key may be a new one. */
async function verified(token: string, keys: IssuerKeys, options: OauthOptions): Promise<JWTPayload> {
  const { now = Date.now } = options;
  const since = now();
  try {
    return await verifiedBy(await keys.current(), token, options);
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey) || !(await keys.renewedSince(since))) throw error;
    return verifiedBy(await keys.current(), token, options);
  }
}

async function verifiedBy(
  keys: Awaited<ReturnType<IssuerKeys['current']>>,
  token: string,
  { issuer, audience, now = Date.now }: OauthOptions,
): Promise<JWTPayload> {
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer,
    audience: audience(),
    algorithms: ALGORITHMS,
    clockTolerance: LEEWAY_S,
    requiredClaims: ['exp'],
    currentDate: new Date(now()),
  });
  const { typ = 'JWT' } = protectedHeader;
  if (!TYPES.has(typ.toLowerCase())) throw new NoAccessToken();
  return payload;
}

class NoAccessToken extends Error {}

/** In our words: the library's own may repeat what was sent. */
function reasonOf(error: unknown): string {
  if (error instanceof errors.JWTExpired) return 'The access token has expired.';
  if (error instanceof errors.JWTClaimValidationFailed) {
    const claims: Record<string, string> = {
      aud: 'The access token is not meant for this server (aud).',
      iss: 'The access token is from another issuer (iss).',
      nbf: 'The access token is not valid yet (nbf).',
      exp: 'The access token has no expiry time (exp).',
    };
    return claims[error.claim] ?? 'The access token is not valid.';
  }
  if (error instanceof errors.JOSEAlgNotAllowed)
    return 'The access token’s signature algorithm is not accepted.';
  if (error instanceof errors.JWKSNoMatchingKey)
    return 'The access token is signed with a key that is not the issuer’s.';
  if (error instanceof errors.JWSSignatureVerificationFailed)
    return 'The access token’s signature is not valid.';
  if (error instanceof NoAccessToken) return 'This token is not an access token (typ).';
  return 'The access token is not valid.';
}

/** `scope` is a text with spaces (RFC 9068); some issuers say `scp`, as a text or a list. */
function scopesIn({ scope, scp }: Record<string, unknown>): string[] {
  return [scope, scp].flat().flatMap((value) => (typeof value === 'string' ? value.split(' ') : []));
}
