import { t } from '../base/text/message.ts';
import { hkdfSync } from 'node:crypto';
import type { Outside } from '../app/app.ts';
import { BmadError, quoted } from '../base/errors.ts';
import type { HttpRoute } from '../base/http/http-route.ts';
import type { Context } from '../operations/context.ts';
import {
  isForwarded,
  openGate,
  tokenGate,
  type Gate,
  type KnownToken,
  type Refused,
} from '../surfaces/http/gate.ts';
import { isLoopback } from '../surfaces/http/names.ts';
import { metadataRoutes } from '../surfaces/http/oauth/metadata.ts';
import { serverTokens, type Tokens } from './http-token.ts';

/** Who is admitted, and how to describe them. */
export interface Access {
  gate: Gate;
  /** Whether callers have to show who they are. */
  secured: boolean;
  routes: readonly HttpRoute[];
  /** Who is served, in words. */
  whom: string;
  /** Called once the server listens: creates what clients need, and returns what to tell the person who starts it. */
  settle?(): Promise<string>;
  /** Seals what clients carry; nothing, if a new one may be made at each start. */
  key?: Uint8Array;
}

export interface AccessOptions {
  outside: Outside;
  /** Whether to replace the stored token. */
  newToken: boolean;
  /** The address of the MCP endpoint for clients; known once the server listens. */
  resource(): string;
}

/** On a loopback address no token is required, unless a setting says so; on every other address one is. */
export async function decideAccess(context: Context, options: AccessOptions): Promise<Access> {
  const { config } = context;
  const local = isLoopback(config.httpHost);
  const given = config.httpToken !== undefined || config.httpTokenFile !== undefined;
  const sealed = sealingKey(config.httpSecret ?? config.httpToken);
  if (options.newToken && (given || config.oauthIssuer !== undefined))
    throw new BmadError('invalid_input', t`--new-token replaces the stored token, which is not in use.`, {
      hint: t`Remove --new-token, or unset http_token, http_token_file and oauth_issuer.`,
    });
  if (config.oauthIssuer !== undefined) {
    if (given)
      throw new BmadError('invalid_input', t`Use either a server token or OAuth, not both.`, {
        hint: t`Set either oauth_issuer, or http_token or http_token_file.`,
      });
    return { ...(await oauthAccess(context, config.oauthIssuer, options)), secured: true, ...sealed };
  }
  if (local && !given && config.httpAuth === 'auto' && !options.newToken)
    return {
      gate: onlyThisMachine(config) ? ownGate(openGate) : openGate,
      secured: false,
      routes: [],
      whom: t`clients on this machine only`,
      ...sealed,
    };
  const tokens = await serverTokens(context, options.outside, options.newToken);
  const whom = local ? t`clients on this machine with the token` : t`clients with the token`;
  const gate = changingGate(tokens);
  return {
    gate: onlyThisMachine(config) ? ownGate(gate) : gate,
    secured: true,
    routes: [],
    whom,
    settle: tokens.settle,
    ...sealed,
  };
}

/** A gate for tokens that come and go. */
function changingGate({ current }: Tokens): Gate {
  let made: { known: readonly KnownToken[]; gate: Gate } | undefined;
  return {
    async admit(authorization) {
      const known = await current();
      if (made?.known !== known) made = { known, gate: tokenGate(known) };
      return made.gate.admit(authorization);
    },
  };
}

/** Behind a proxy, clients of other machines come from this one too. */
export function onlyThisMachine({ httpHost, publicUrl, allowHosts }: Context['config']): boolean {
  return isLoopback(httpHost) && publicUrl === undefined && allowHosts.length === 0;
}

/**
 * Anyone who has the full token of such a server is the user, or was given it by the user. What a proxy has forwarded comes from
 * somewhere else all the same.
 */
function ownGate(gate: Gate): Gate {
  return {
    async admit(authorization, asked) {
      const caller = await gate.admit(authorization, asked);
      if ('status' in caller) return caller;
      if (isForwarded(asked)) return caller.known === 'anonymous' ? FORWARDED : caller;
      const isFull = caller.known === 'token' && caller.mayWrite && caller.only === undefined;
      return isFull ? { ...caller, own: true } : caller;
    },
  };
}

const FORWARDED: Refused = {
  status: 403,
  message:
    'A proxy has forwarded this request, and this server is for its own machine only. Its operator can require a token with --http-auth token, and name the proxy with --public-url.',
  headers: {},
};

async function oauthAccess(
  { config, log }: Context,
  issuer: string,
  { resource }: AccessOptions,
): Promise<Pick<Access, 'gate' | 'routes' | 'whom'>> {
  if (config.publicUrl === undefined && !isLoopback(config.httpHost))
    throw new BmadError('invalid_input', t`OAuth requires a public address that clients can use.`, {
      hint: t`Set public_url, or --public-url, to the address clients use.`,
    });
  refuseWithoutTls('oauth_issuer', issuer);
  if (config.oauthKeysUrl !== undefined) refuseWithoutTls('oauth_keys_url', config.oauthKeysUrl);
  const { oauthGate } = await import('../surfaces/http/oauth/gate.ts');
  const scopes = {
    read: config.oauthReadScope,
    write: config.oauthWriteScope,
    a2a: config.oauthA2aScope,
    person: config.oauthPersonScope,
  };
  return {
    gate: oauthGate({
      issuer,
      scopes,
      resource,
      log,
      audience: () => config.oauthAudience ?? resource(),
      ...(config.oauthKeysUrl === undefined ? {} : { keysUrl: config.oauthKeysUrl }),
    }),
    routes: metadataRoutes({ issuer, scopes, resource }),
    whom: t`clients with an access token from ${issuer}`,
  };
}

/** Anyone in between could substitute their own keys. */
function refuseWithoutTls(setting: string, address: string): void {
  const { protocol, hostname } = new URL(address);
  if (protocol === 'https:' || isLoopback(hostname.replace(/^\[|\]$/g, ''))) return;
  throw new BmadError('invalid_input', t`${setting}: ${quoted(address)} must use https.`, {
    hint: t`An issuer’s keys are fetched over https, or from this machine.`,
  });
}

function sealingKey(secret: string | undefined): { key?: Uint8Array } {
  if (secret === undefined) return {};
  return { key: new Uint8Array(hkdfSync('sha256', secret, '', 'state that clients carry', 32)) };
}
