import * as z from 'zod';
import { intBetween, meta, PERSONAL, settingMeta, text } from './settings.ts';

/** Where hosts look for a server over HTTP. */
export const DEFAULT_PORT = 2623;

/** A token of fewer characters could be guessed. */
export const SHORTEST_TOKEN = 12;

const address = (): z.ZodString =>
  z.string().regex(/^https?:\/\/[^\s?#@]+$/i, 'Use an address that starts with http:// or https://.');

const DOOR = { ...PERSONAL, binding: true } as const;

/**
 * Who may reach a server over HTTP. All of it is personal and binding: a project must not open a door, and an ignored
 * value could leave one open.
 */
export const httpSettings = {
  httpHost: text
    .default('127.0.0.1')
    .describe(
      'Address to listen on with --http. Anything other than a loopback address (127.0.0.1, ::1) requires a token or OAuth.',
    )
    .register(settingMeta, meta('address', 'Address for --http', { ...DOOR, flag: '--host' })),
  httpPort: intBetween(0, 65_535)
    .default(DEFAULT_PORT)
    .describe('Port to listen on with --http; 0 picks a free one. The flag --port says the same.')
    .register(settingMeta, meta('port', 'Port for --http', DOOR)),
  httpToken: z
    .string()
    .min(SHORTEST_TOKEN, `Use at least ${SHORTEST_TOKEN} characters.`)
    .regex(/^[\w.~+/=-]+$/, 'Use only letters, digits and - . _ ~ + / =.')
    .optional()
    .describe(
      'Token that HTTP clients must send. Set it in the environment, where process lists do not show it.',
    )
    .register(settingMeta, meta('token', 'Token for HTTP clients', DOOR)),
  httpTokenFile: text
    .optional()
    .describe(
      'File with client tokens for HTTP, one per line. Add "read" after a token to make it read-only, "a2a" to limit it to Agent2Agent, or "person" for a person; project=, toolset=, tasks=, memories= and calls= bound it. A comment after # names who has it. Reloaded when it changes.',
    )
    .register(settingMeta, meta('file', 'File with client tokens, one per line', DOOR)),
  httpAuth: z
    .enum(['auto', 'token'])
    .default('auto')
    .describe(
      'Whether clients on this machine need a token: auto (if one is set, or the address is not a loopback address) or token (always; one is created if none is set).',
    )
    .register(settingMeta, meta('mode', 'When a token is required: auto, token', DOOR)),
  allowHosts: z
    .array(z.string().regex(/^[\w.-]+$/, 'Use a host name without a port.'))
    .default([])
    .describe('Additional host names that HTTP requests may use, such as the name of a proxy.')
    .register(settingMeta, meta('names', 'Additional host names', { ...DOOR, separator: ',' })),
  allowOrigins: z
    .array(z.string().regex(/^https?:\/\/[^\s/?#@]+$/i, 'Use an origin such as https://app.example.com.'))
    .default([])
    .describe('Origins whose pages may call the server from a browser. Without it, none may.')
    .register(
      settingMeta,
      meta('origins', 'Web origins allowed to call the server', { ...DOOR, separator: ',' }),
    ),
  allowProjects: z
    .array(text)
    .default([])
    .describe(
      'Additional folders that calls may name as their project, including subfolders: over HTTP, and where a project is set. Without it, only the server’s own project.',
    )
    .register(
      settingMeta,
      meta('folder', 'Project that calls may name (repeatable)', {
        ...DOOR,
        flag: '--allow-project',
      }),
    ),
  publicUrl: address()
    .optional()
    .describe('Public address of the server when it runs behind a proxy.')
    .register(settingMeta, meta('url', 'Address behind a proxy', DOOR)),
  httpProxies: z
    .array(z.string().regex(/^[\d.]+$|^[\da-f:]+$/i, 'Use an IP address.'))
    .default([])
    .describe(
      'IP addresses of proxies in front of the server. What they say in X-Forwarded-For counts as the address of a client.',
    )
    .register(settingMeta, meta('addresses', 'Addresses of proxies', { ...DOOR, separator: ',' })),
  httpSecret: z
    .string()
    .min(32, 'Use at least 32 characters.')
    .optional()
    .describe(
      'Secret that seals the state clients carry between requests; use the same one for all replicas. Without it, it is derived from the token, or a new one is created at each start.',
    )
    .register(settingMeta, meta('secret', 'Secret shared by replicas', DOOR)),
  oauthIssuer: address()
    .optional()
    .describe('Issuer of access tokens for HTTP clients. Setting it makes the server require OAuth tokens.')
    .register(settingMeta, meta('url', 'Issuer of access tokens', DOOR)),
  oauthAudience: text
    .optional()
    .describe('Audience that access tokens must have. Without it, the address of the MCP endpoint.')
    .register(settingMeta, meta('name', 'Audience of access tokens', DOOR)),
  oauthKeysUrl: address()
    .optional()
    .describe(
      'Address of the issuer’s keys (JWKS). Without it, the address comes from the issuer’s metadata.',
    )
    .register(settingMeta, meta('url', 'Keys of the issuer', DOOR)),
  oauthReadScope: scope('bmad:read')
    .describe('Scope an access token needs to read.')
    .register(settingMeta, meta('scope', 'Scope for reading', DOOR)),
  oauthWriteScope: scope('bmad:write')
    .describe('Scope an access token needs to write; it includes reading.')
    .register(settingMeta, meta('scope', 'Scope for writing', DOOR)),
  oauthA2aScope: scope('bmad:a2a')
    .describe('Scope of an access token that may send work over Agent2Agent and nothing else.')
    .register(settingMeta, meta('scope', 'Scope for Agent2Agent only', DOOR)),
  oauthPersonScope: scope('bmad:person')
    .describe(
      'Scope of an access token that a person holds: with it, what only people may decide can be decided. Never give it to agents.',
    )
    .register(settingMeta, meta('scope', 'Scope for decisions of people', DOOR)),
  audit: z
    .array(z.enum(['all', 'required']))
    .default([])
    .describe(
      'What the HTTP server’s audit has beside writes and refusals: "all" adds reads; "required" refuses a change that cannot be audited.',
    )
    .register(settingMeta, meta('words', 'Audit: all, required', { ...DOOR, separator: ',' })),
  page: z
    .enum(['loopback', 'on', 'off'])
    .default('loopback')
    .describe(
      'Whether the HTTP server has the page for people at /: loopback (if only this machine can reach it), on, or off.',
    )
    .register(settingMeta, meta('mode', 'The page at /: loopback, on, off', DOOR)),
  httpRequests: intBetween(10, 100_000)
    .default(1_000)
    .describe('How many HTTP requests and streams may be open at once; any more get status 503.')
    .register(settingMeta, meta('count', 'Open HTTP requests', PERSONAL)),
  httpDrainMs: intBetween(0, 600_000)
    .default(0)
    .describe(
      'How long the server keeps serving after a stop signal, with /readyz at 503, so that load balancers notice.',
    )
    .register(settingMeta, meta('ms', 'Drain time for load balancers', PERSONAL)),
  httpShutdownMs: intBetween(0, 600_000)
    .default(10_000)
    .describe('How long running HTTP calls may take to finish after a stop signal.')
    .register(settingMeta, meta('ms', 'Time for running calls to finish', PERSONAL)),
};

function scope(usual: string) {
  return z
    .string()
    .regex(/^[!#-[\]-~]+$/, 'Use one scope, without spaces or quotes.')
    .default(usual);
}

/** Agent2Agent: programs of others that ask the agents for work. */
export const a2aSettings = {
  a2a: z
    .boolean()
    .default(false)
    .describe('With --http: let other programs send work to the agents over Agent2Agent.')
    .register(settingMeta, { ...PERSONAL, binding: true, summary: 'Agent2Agent, with --http' }),
  a2aWithoutApproval: z
    .boolean()
    .default(false)
    .describe(
      'Queue work requested over Agent2Agent immediately. Without it, a person must approve the work first.',
    )
    .register(settingMeta, { ...PERSONAL, binding: true, summary: 'Agent2Agent without approval' }),
};
