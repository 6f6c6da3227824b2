import { createHmac, generateKeyPairSync, sign, type KeyObject } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

const ALGORITHMS = {
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  PS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  EdDSA: () => generateKeyPairSync('ed25519'),
} as const;

export type Algorithm = keyof typeof ALGORITHMS;

interface IssuerKey {
  kid: string;
  alg: Algorithm;
  private: KeyObject;
  public: KeyObject;
}

export interface Issuer {
  url: string;
  /** Addresses it was asked for, in order. */
  asked: string[];
  /** A signed token; what is given replaces what a good one has, and `undefined` leaves it out. */
  token(claims?: Record<string, unknown>, header?: Record<string, unknown>, alg?: Algorithm): string;
  /** A token that nobody signed, and one signed with the public key as if it were a secret. */
  unsigned(): string;
  signedWithPublicKey(): string;
  /** New keys under new names; tokens are signed with them from now on. */
  rotate(): void;
  /** Answers every request like this instead. */
  answerWith(answer: ((response: ServerResponse) => void) | undefined): void;
  stop(): Promise<void>;
}

export const AUDIENCE = 'https://bmad.example/mcp';

/** A small authorization server with real keys, on this machine. */
export async function startIssuer(
  at: 'openid-configuration' | 'oauth-authorization-server',
): Promise<Issuer> {
  let generation = 0;
  let keys = makeKeys(generation);
  let instead: ((response: ServerResponse) => void) | undefined;
  const asked: string[] = [];
  const http = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (instead !== undefined) return instead(response);
    const documents: Record<string, unknown> = {
      [`/.well-known/${at}`]: { issuer: url, jwks_uri: `${url}/keys` },
      '/keys': {
        keys: keys.map((key) => ({ ...key.public.export({ format: 'jwk' }), kid: key.kid, alg: key.alg })),
      },
    };
    const document = documents[request.url ?? ''];
    response.writeHead(document === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(document ?? {}));
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;

  const bodyOf = (claims: Record<string, unknown>): Record<string, unknown> => {
    const now = Math.floor(Date.now() / 1000);
    return {
      iss: url,
      aud: AUDIENCE,
      sub: 'ada',
      scope: 'bmad:read bmad:write',
      iat: now,
      exp: now + 600,
      ...claims,
    };
  };

  return {
    url,
    asked,
    token(claims = {}, header = {}, alg = 'RS256') {
      const key = keys.find((one) => one.alg === alg) as IssuerKey;
      const text = `${part({ alg, kid: key.kid, typ: 'at+jwt', ...header })}.${part(bodyOf(claims))}`;
      return `${text}.${signature(text, key)}`;
    },
    unsigned: () => `${part({ alg: 'none' })}.${part(bodyOf({}))}.`,
    signedWithPublicKey() {
      const key = keys[0] as IssuerKey;
      const text = `${part({ alg: 'HS256', kid: key.kid })}.${part(bodyOf({}))}`;
      const secret = key.public.export({ type: 'spki', format: 'pem' });
      return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
    },
    rotate() {
      generation += 1;
      keys = makeKeys(generation);
    },
    answerWith: (answer) => void (instead = answer),
    async stop() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function makeKeys(generation: number): IssuerKey[] {
  return (Object.keys(ALGORITHMS) as Algorithm[]).map((alg) => {
    const pair = ALGORITHMS[alg]();
    return { kid: `${alg}-${generation}`, alg, private: pair.privateKey, public: pair.publicKey };
  });
}

function part(value: unknown): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}

const PSS = { padding: 6, saltLength: 32 };

function signature(text: string, { alg, private: key }: IssuerKey): string {
  const bytes = Buffer.from(text);
  if (alg === 'EdDSA') return sign(null, bytes, key).toString('base64url');
  if (alg === 'ES256') return sign('sha256', bytes, { key, dsaEncoding: 'ieee-p1363' }).toString('base64url');
  return sign('sha256', bytes, { key, ...(alg === 'PS256' ? PSS : {}) }).toString('base64url');
}
