import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** A token of fewer characters could be guessed. */
export const SHORTEST_TOKEN = 12;

const address = (): z.ZodString =>
  z.string().regex(/^https?:\/\/[^\s?#@]+$/i, 'It has to be an address with http:// or https://.');

/**
 * Who may reach a server over HTTP. All of it is personal and binding: a project must not open a door, and a value that
 * was passed over could leave one open.
 */
export const httpSettings = {
  httpHost: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe(
      'Address to listen on with --http. Any other than this machine’s own (127.0.0.1, ::1) needs a token or OAuth.',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_HOST',
      personal: true,
      binding: true,
      flag: '--host',
      placeholder: 'address',
      summary: 'Address for --http',
      rare: true,
    }),
  httpToken: z
    .string()
    .min(SHORTEST_TOKEN, `It needs at least ${SHORTEST_TOKEN} characters.`)
    .regex(/^[\w.~+/=-]+$/, 'Letters, digits and - . _ ~ + / = only.')
    .optional()
    .describe(
      'Token that clients over HTTP have to send. Best given in the environment, where no list of processes shows it.',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_TOKEN',
      personal: true,
      binding: true,
      flag: '--http-token',
      placeholder: 'token',
      summary: 'Token of clients over HTTP',
      rare: true,
    }),
  httpTokenFile: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with the tokens of clients over HTTP, one a line; the word "read" after one lets it only read, "a2a" reach Agent2Agent only. Read again when it changes.',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_TOKEN_FILE',
      personal: true,
      binding: true,
      flag: '--http-token-file',
      placeholder: 'file',
      summary: 'File with such tokens',
      rare: true,
    }),
  httpAuth: z
    .enum(['auto', 'token'])
    .default('auto')
    .describe(
      'Whether clients on this machine need a token too: auto (if one is given, or the address is not this machine’s own), token (always; one is made if none is given).',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_AUTH',
      personal: true,
      binding: true,
      flag: '--http-auth',
      placeholder: 'mode',
      summary: 'Who needs a token: auto, token',
      rare: true,
    }),
  allowHosts: z
    .array(z.string().regex(/^[\w.-]+$/, 'It has to be the name of a machine, without a port.'))
    .default([])
    .describe('Further names that requests over HTTP may be sent to, such as the one of a proxy.')
    .register(settingMeta, {
      env: 'BMAD_ALLOW_HOSTS',
      personal: true,
      binding: true,
      flag: '--allow-hosts',
      placeholder: 'names',
      summary: 'Further names it is served under',
      separator: ',',
      rare: true,
    }),
  allowOrigins: z
    .array(
      z.string().regex(/^https?:\/\/[^\s/?#@]+$/i, 'It has to be an origin such as https://app.example.com.'),
    )
    .default([])
    .describe('Origins whose pages may call the server from a browser. None is allowed without it.')
    .register(settingMeta, {
      env: 'BMAD_ALLOW_ORIGINS',
      personal: true,
      binding: true,
      flag: '--allow-origins',
      placeholder: 'origins',
      summary: 'Origins of pages that may call',
      separator: ',',
      rare: true,
    }),
  allowProjects: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Further folders that calls over HTTP may name as their project, each with what is below it. Without it: the project the server was started for.',
    )
    .register(settingMeta, {
      env: 'BMAD_ALLOW_PROJECTS',
      personal: true,
      binding: true,
      flag: '--allow-project',
      placeholder: 'folder',
      summary: 'Project for calls over HTTP (repeatable)',
      rare: true,
    }),
  publicUrl: address()
    .optional()
    .describe('Address that clients know the server by, where a proxy stands before it.')
    .register(settingMeta, {
      env: 'BMAD_PUBLIC_URL',
      personal: true,
      binding: true,
      flag: '--public-url',
      placeholder: 'url',
      summary: 'Address behind a proxy',
      rare: true,
    }),
  httpSecret: z
    .string()
    .min(32, 'It needs at least 32 characters.')
    .optional()
    .describe(
      'Secret that seals what clients carry for the server from one request to the next; the same for all replicas. Without it: made from the token, else anew at each start.',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_SECRET',
      personal: true,
      binding: true,
      flag: '--http-secret',
      placeholder: 'secret',
      summary: 'Secret that replicas share',
      rare: true,
    }),
  oauthIssuer: address()
    .optional()
    .describe('Issuer of the access tokens of clients over HTTP. With it the server asks for OAuth tokens.')
    .register(settingMeta, {
      env: 'BMAD_OAUTH_ISSUER',
      personal: true,
      binding: true,
      flag: '--oauth-issuer',
      placeholder: 'url',
      summary: 'Issuer of access tokens',
      rare: true,
    }),
  oauthAudience: z
    .string()
    .min(1)
    .optional()
    .describe('Audience that access tokens must have. Without it: the address of the MCP endpoint.')
    .register(settingMeta, {
      env: 'BMAD_OAUTH_AUDIENCE',
      personal: true,
      binding: true,
      flag: '--oauth-audience',
      placeholder: 'name',
      summary: 'Audience of access tokens',
      rare: true,
    }),
  oauthKeysUrl: address()
    .optional()
    .describe('Address of the issuer’s keys (JWKS). Without it, the issuer’s metadata says where they are.')
    .register(settingMeta, {
      env: 'BMAD_OAUTH_KEYS_URL',
      personal: true,
      binding: true,
      flag: '--oauth-keys-url',
      placeholder: 'url',
      summary: 'Keys of the issuer',
      rare: true,
    }),
  oauthReadScope: scope('bmad:read')
    .describe('Scope that an access token needs for everything that only reads.')
    .register(settingMeta, {
      env: 'BMAD_OAUTH_READ_SCOPE',
      personal: true,
      binding: true,
      flag: '--oauth-read-scope',
      placeholder: 'scope',
      summary: 'Scope for reading',
      rare: true,
    }),
  oauthWriteScope: scope('bmad:write')
    .describe('Scope that an access token needs for everything that writes; it includes reading.')
    .register(settingMeta, {
      env: 'BMAD_OAUTH_WRITE_SCOPE',
      personal: true,
      binding: true,
      flag: '--oauth-write-scope',
      placeholder: 'scope',
      summary: 'Scope for writing',
      rare: true,
    }),
  oauthA2aScope: scope('bmad:a2a')
    .describe('Scope of an access token that may ask for work over Agent2Agent and do nothing else.')
    .register(settingMeta, {
      env: 'BMAD_OAUTH_A2A_SCOPE',
      personal: true,
      binding: true,
      flag: '--oauth-a2a-scope',
      placeholder: 'scope',
      summary: 'Scope for Agent2Agent only',
      rare: true,
    }),
  httpRequests: z
    .int()
    .min(10)
    .max(100_000)
    .default(1_000)
    .describe('Requests and streams over HTTP that may be open at once; those above are answered with 503.')
    .register(settingMeta, {
      env: 'BMAD_HTTP_REQUESTS',
      personal: true,
      flag: '--http-requests',
      placeholder: 'count',
      summary: 'Open requests over HTTP',
      rare: true,
    }),
  httpDrainMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(0)
    .describe(
      'How long a server that is told to end goes on serving first, with /readyz at 503: for balancers that have to notice.',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_DRAIN_MS',
      personal: true,
      flag: '--http-drain-ms',
      placeholder: 'ms',
      summary: 'Time for balancers to notice the end',
      rare: true,
    }),
  httpShutdownMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(10_000)
    .describe('How long calls over HTTP that still run may take to finish when the server is told to end.')
    .register(settingMeta, {
      env: 'BMAD_HTTP_SHUTDOWN_MS',
      personal: true,
      flag: '--http-shutdown-ms',
      placeholder: 'ms',
      summary: 'Time to finish when told to end',
      rare: true,
    }),
};

function scope(usual: string) {
  return z
    .string()
    .regex(/^[!#-[\]-~]+$/, 'It has to be one scope, without spaces and quotes.')
    .default(usual);
}
