import { KEPT_TOKEN_FILE, userStateFolder } from '../config/locations.ts';
import { hkdfSync, randomBytes } from 'node:crypto';
import { join, resolve } from 'node:path';
import type { Outside } from '../app/app.ts';
import { BmadError, quoted, systemCode } from '../base/errors.ts';
import { withLock } from '../base/files/file-lock.ts';
import { makePrivate, openToOthers } from '../base/files/file-modes.ts';
import { changeMark } from '../base/files/file-stamps.ts';
import { readState, writeAtomic } from '../base/files/file-state.ts';
import type { HttpRoute, KnownToken } from '../base/http/http-route.ts';
import { CLI_PROGRAM, PRODUCT, SERVER_PROGRAM, VERSION } from '../base/product.ts';
import { Kept, type Said, say, t } from '../base/text/message.ts';
import { settingsHelp } from '../config/flags.ts';
import { a2aSettings, DEFAULT_PORT, httpSettings, SHORTEST_TOKEN } from '../config/http-settings.ts';
import { absentProjects, readTokens, tokenLines } from '../config/token-file.ts';
import type { Context } from '../operations/context.ts';
import { type Gate, isForwarded, openGate, type Refused, tokenGate } from '../surfaces/http/gate.ts';
import { isLoopback } from '../surfaces/http/names.ts';
import { metadataRoutes } from '../surfaces/http/oauth/metadata.ts';

/** Who is admitted, and how to describe them. */
export interface Access {
  gate: Gate;
  /** Whether callers have to show who they are. */
  secured: boolean;
  routes: readonly HttpRoute[];
  /** Who is served, in words. */
  whom: Kept;
  /** Called once the server listens: creates what clients need, and returns what to tell the person who starts it. */
  settle?(): Promise<string>;
  /** Why not everyone who should be is admitted, if that is so. */
  trouble?(): Promise<string | undefined>;
  /** Seals what clients carry; nothing, if a new one may be made at each start. */
  key?: Uint8Array;
}

interface AccessOptions {
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
      whom: new Kept(() => t`clients on this machine only`),
      ...sealed,
    };
  const tokens = await serverTokens(context, options.outside, options.newToken);
  const whom = new Kept(() =>
    local ? t`clients on this machine with the token` : t`clients with the token`,
  );
  const gate = changingGate(tokens);
  return {
    gate: onlyThisMachine(config) ? ownGate(gate) : gate,
    secured: true,
    routes: [],
    whom,
    settle: tokens.settle,
    trouble: tokens.trouble,
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
      const { known, mayWrite, only, bounds } = caller;
      const isFull = known === 'token' && mayWrite && only === undefined && bounds === undefined;
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
    whom: new Kept(() => t`clients with an access token from ${issuer}`),
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

const TOKEN_BYTES = 32;
const LOCK_WAIT_MS = 5_000;

interface Tokens {
  /** Those that are valid now: the same list until they change. Waits until they are settled. */
  current(): Promise<readonly KnownToken[]>;
  /** What is wrong with their file, if anything, as it is now. */
  trouble(): Promise<string | undefined>;
  /**
   * Called once the server listens, so that a failed start changes nothing. Returns what to tell the person who starts
   * it; a new token is included this one time.
   */
  settle(): Promise<string>;
}

type Followed = Pick<Tokens, 'current' | 'trouble'>;

/** The tokens that were given, else the one that is kept for this user, else a new one, which is kept. */
async function serverTokens(context: Context, outside: Outside, anew: boolean): Promise<Tokens> {
  const { config } = context;
  const own = config.httpToken === undefined ? [] : [{ token: config.httpToken, mayWrite: true }];
  if (config.httpTokenFile !== undefined || own.length > 0) {
    const given = config.httpTokenFile === undefined ? undefined : resolve(outside.cwd, config.httpTokenFile);
    if (given !== undefined) await guardGivenFile(given, context);
    const followed =
      given === undefined
        ? { current: async () => own, trouble: async () => undefined }
        : await followedFile(given, own, context);
    return { ...followed, settle: async () => t`Clients must send one of the configured tokens.` };
  }
  const file = join(userStateFolder(outside), KEPT_TOKEN_FILE);
  await guardKeptFile(file, context);
  let open: (followed: Followed) => void;
  const settled = new Promise<Followed>((resolved) => (open = resolved));
  let trouble: Tokens['trouble'] = async () => undefined;
  return {
    current: async () => (await settled).current(),
    trouble: () => trouble(),
    async settle() {
      const note = await settleKept(file, anew);
      const followed = await followedFile(file, [], context);
      ({ trouble } = followed);
      open(followed);
      return note;
    },
  };
}

/** Two servers that start at once must not make two tokens, of which one would be lost. */
function settleKept(file: string, anew: boolean): Promise<string> {
  return withLock(`${file}.lock`, { waitMs: LOCK_WAIT_MS }, async () => {
    const { tokens, bad } = tokenLines(anew ? '' : ((await readState(file, { follow: true })) ?? ''));
    if (tokens.length === 0 && bad.length > 0) throw withoutTokens(file);
    if (tokens.length > 0) return t`Clients must send the token in ${file}.`;
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    await writeAtomic(file, `${token}\n`, { mode: 0o600 });
    return t`Clients must send this token. It is shown only once and stored in ${file}:\n\n  ${token}\n`;
  });
}

/**
 * The tokens in a file and those beside it. It is looked at with each request, so a token that is taken out is not valid
 * any more; so are all of them where the file is gone.
 */
async function followedFile(
  file: string,
  beside: readonly KnownToken[],
  { secrets, log }: Context,
): Promise<Followed> {
  let mark = changeMark(file);
  /** In the language of the request that asks for it. */
  let trouble: () => string | undefined = () => undefined;
  async function read(): Promise<readonly KnownToken[]> {
    const { tokens, bad } = await readTokens(file);
    for (const { token } of tokens) secrets.add(token);
    const lines = bad.join(', ');
    trouble = () => (lines === '' ? undefined : t`The token file has lines that are not valid: ${lines}.`);
    if (lines !== '') log.warn('lines of the token file are not valid; the others count', { file, lines });
    const projects = (await absentProjects(tokens)).join(', ');
    if (projects !== '') log.warn('the token file names missing projects', { file, projects });
    return [...beside, ...tokens];
  }
  const first = await read();
  if (first.length === 0) throw withoutTokens(file);
  /** Those who come while it is read wait for it: one whose token was taken out must not slip through. */
  let known = Promise.resolve(first);
  async function again(before: readonly KnownToken[], gone: boolean): Promise<readonly KnownToken[]> {
    try {
      const now = await read();
      log.info('reloaded the tokens', { file, count: now.length });
      return now;
    } catch (error) {
      if (!gone) mark = FAILED;
      if (trouble() !== say(UNREADABLE))
        log.warn(
          gone
            ? 'the token file is gone; its tokens are not valid any more'
            : 'cannot reload the tokens; the previous ones stay valid',
          { file, error: BmadError.from(error, () => undefined).text },
        );
      trouble = () => say(UNREADABLE);
      return gone ? beside : before;
    }
  }
  function current(): Promise<readonly KnownToken[]> {
    const now = changeMark(file);
    if (now !== mark) {
      mark = now;
      known = known.then((before) => again(before, now === undefined));
    }
    return known;
  }
  return { current, trouble: () => current().then(() => trouble()) };
}

const UNREADABLE = 'The token file cannot be read.';
/** A file that could not be read is tried again with the next request, changed or not. */
const FAILED = 'FAILED';

const withoutTokens = (file: string): BmadError =>
  new BmadError('invalid_input', t`${file} has no valid token.`, {
    hint: t`Write one token per line, of at least ${SHORTEST_TOKEN} letters, digits and - . _ ~ + / =. Add "read" after a token to make it read-only, or "a2a" to limit it to Agent2Agent, and a name.`,
  });

/** Anyone who can read a token file can call the server. The user's own file is not changed, only warned about. */
async function guardGivenFile(file: string, { log }: Context): Promise<void> {
  if ((await openToOthers([file])).length > 0)
    log.warn('other users of this machine can read the token file; run chmod 600 on it', { file });
}

/** Ours becomes private; a start does not fail because it cannot. */
async function guardKeptFile(file: string, { log }: Context): Promise<void> {
  if ((await openToOthers([file])).length === 0) return;
  try {
    await makePrivate(file);
    log.warn(
      'other users of this machine could read the token; the file is now private, and --new-token creates a new token',
      { file },
    );
  } catch (error) {
    log.warn(
      'other users of this machine can read the token, and the file cannot be made private; its owner should run chmod 600',
      { file, code: systemCode(error) },
    );
  }
}

/** Flags of the HTTP server that are not settings. */
export const SERVE_FLAGS: readonly [flag: string, meaning: Said][] = [
  ['--port <port>', new Kept(() => t`Port to listen on; 0 picks a free one [${DEFAULT_PORT}]`)],
  ['--new-token', 'Replace the stored client token with a new one'],
  ['--summary', 'Also print what was found'],
  ['--test', 'Check that the server can start, print one line, and exit'],
];

/** Settings that matter over HTTP only, and the one that says what is served. */
export const SERVE_SETTINGS: readonly string[] = [
  'project',
  // Of the port, --port is shown.
  ...Object.keys(httpSettings).filter((name) => name !== 'httpPort'),
  ...Object.keys(a2aSettings),
  'contractsOverHttp',
];

export function serveHelp(): string {
  return t`${PRODUCT} ${VERSION}: serves the BMad Method over HTTP, to several hosts at once.

Usage: ${CLI_PROGRAM} serve [flags]     ("serve" must come first; same as ${SERVER_PROGRAM} --http)

It listens on this machine only, without a token, unless --host names another address.
Hosts connect to http://127.0.0.1:${DEFAULT_PORT}/mcp; Ctrl+C finishes running calls, then stops it.

${SERVE_FLAGS.map(([flag, meaning]) => `  ${flag.padEnd(25)} ${say(String(meaning))}`).join('\n')}

Settings for HTTP; all others work too (${SERVER_PROGRAM} --help lists them):
${settingsHelp({}, { only: SERVE_SETTINGS })}
`;
}

/** That of the server over stdin and stdout, which is kept here because a host never asks for it. */
export function serverHelp(): string {
  return t`${PRODUCT} ${VERSION}: serves the BMad Method to an MCP host over stdin and stdout.

Usage: ${SERVER_PROGRAM} [flags] [git source …]   (started by a host; people use the program "bmad")

  --http         Serve over HTTP instead, to this machine only unless --host says otherwise
  --port <port>  Port for --http; 0 picks a free one [${DEFAULT_PORT}]
  --new-token    With --http: replace the stored client token with a new one
  --summary      Print what was found to stderr, then serve
  --test         Check that the server can start, print one line, and exit
  --version      Print the version
  --help         Print this text

Settings, in the order flag, environment, project file, user file, default:
${settingsHelp()}
`;
}
