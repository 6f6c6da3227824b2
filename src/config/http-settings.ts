import * as z from 'zod';
import { settingMeta } from './setting-meta.ts';

/** A token of fewer characters could be guessed. */
export const SHORTEST_TOKEN = 12;

const address = (): z.ZodString =>
  z.string().regex(/^https?:\/\/[^\s?#@]+$/i, 'Use an address that starts with http:// or https://.');

/**
 * Who may reach a server over HTTP. All of it is personal and binding: a project must not open a door, and an ignored
 * value could leave one open.
 */
export const httpSettings = {
  httpHost: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe(
      'Address to listen on with --http. Anything other than a loopback address (127.0.0.1, ::1) requires a token or OAuth.',
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
    .min(SHORTEST_TOKEN, `Use at least ${SHORTEST_TOKEN} characters.`)
    .regex(/^[\w.~+/=-]+$/, 'Use only letters, digits and - . _ ~ + / =.')
    .optional()
    .describe(
      'Token that HTTP clients must send. Set it in the environment, where process lists do not show it.',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_TOKEN',
      personal: true,
      binding: true,
      flag: '--http-token',
      placeholder: 'token',
      summary: 'Token for HTTP clients',
      rare: true,
    }),
  httpTokenFile: z
    .string()
    .min(1)
    .optional()
    .describe(
      'File with client tokens for HTTP, one per line. Add "read" after a token to make it read-only, or "a2a" to limit it to Agent2Agent. Reloaded when it changes.',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_TOKEN_FILE',
      personal: true,
      binding: true,
      flag: '--http-token-file',
      placeholder: 'file',
      summary: 'File with client tokens, one per line',
      rare: true,
    }),
  httpAuth: z
    .enum(['auto', 'token'])
    .default('auto')
    .describe(
      'Whether clients on this machine need a token: auto (if one is set, or the address is not a loopback address) or token (always; one is created if none is set).',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_AUTH',
      personal: true,
      binding: true,
      flag: '--http-auth',
      placeholder: 'mode',
      summary: 'When a token is required: auto, token',
      rare: true,
    }),
  allowHosts: z
    .array(z.string().regex(/^[\w.-]+$/, 'Use a host name without a port.'))
    .default([])
    .describe('Additional host names that HTTP requests may use, such as the name of a proxy.')
    .register(settingMeta, {
      env: 'BMAD_ALLOW_HOSTS',
      personal: true,
      binding: true,
      flag: '--allow-hosts',
      placeholder: 'names',
      summary: 'Additional host names',
      separator: ',',
      rare: true,
    }),
  allowOrigins: z
    .array(z.string().regex(/^https?:\/\/[^\s/?#@]+$/i, 'Use an origin such as https://app.example.com.'))
    .default([])
    .describe('Origins whose pages may call the server from a browser. Without it, none may.')
    .register(settingMeta, {
      env: 'BMAD_ALLOW_ORIGINS',
      personal: true,
      binding: true,
      flag: '--allow-origins',
      placeholder: 'origins',
      summary: 'Web origins allowed to call the server',
      separator: ',',
      rare: true,
    }),
  allowProjects: z
    .array(z.string().min(1))
    .default([])
    .describe(
      'Additional folders that HTTP calls may name as their project, including subfolders. Without it, only the project the server was started for.',
    )
    .register(settingMeta, {
      env: 'BMAD_ALLOW_PROJECTS',
      personal: true,
      binding: true,
      flag: '--allow-project',
      placeholder: 'folder',
      summary: 'Project for HTTP calls (repeatable)',
      rare: true,
    }),
  publicUrl: address()
    .optional()
    .describe('Public address of the server when it runs behind a proxy.')
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
    .min(32, 'Use at least 32 characters.')
    .optional()
    .describe(
      'Secret that seals the state clients carry between requests; use the same one for all replicas. Without it, it is derived from the token, or a new one is created at each start.',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_SECRET',
      personal: true,
      binding: true,
      flag: '--http-secret',
      placeholder: 'secret',
      summary: 'Secret shared by replicas',
      rare: true,
    }),
  oauthIssuer: address()
    .optional()
    .describe('Issuer of access tokens for HTTP clients. Setting it makes the server require OAuth tokens.')
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
    .describe('Audience that access tokens must have. Without it, the address of the MCP endpoint.')
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
    .describe(
      'Address of the issuer’s keys (JWKS). Without it, the address comes from the issuer’s metadata.',
    )
    .register(settingMeta, {
      env: 'BMAD_OAUTH_KEYS_URL',
      personal: true,
      binding: true,
      flag: '--oauth-keys-url',
      placeholder: 'url',
      summary: 'Keys of the issuer',
      rare: true,
    }),
  oauthReadScope: scope('bmad:read').describe('Scope an access token needs to read.').register(settingMeta, {
    env: 'BMAD_OAUTH_READ_SCOPE',
    personal: true,
    binding: true,
    flag: '--oauth-read-scope',
    placeholder: 'scope',
    summary: 'Scope for reading',
    rare: true,
  }),
  oauthWriteScope: scope('bmad:write')
    .describe('Scope an access token needs to write; it includes reading.')
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
    .describe('Scope of an access token that may send work over Agent2Agent and nothing else.')
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
    .describe('How many HTTP requests and streams may be open at once; any more get status 503.')
    .register(settingMeta, {
      env: 'BMAD_HTTP_REQUESTS',
      personal: true,
      flag: '--http-requests',
      placeholder: 'count',
      summary: 'Open HTTP requests',
      rare: true,
    }),
  httpDrainMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(0)
    .describe(
      'How long the server keeps serving after a stop signal, with /readyz at 503, so that load balancers notice.',
    )
    .register(settingMeta, {
      env: 'BMAD_HTTP_DRAIN_MS',
      personal: true,
      flag: '--http-drain-ms',
      placeholder: 'ms',
      summary: 'Drain time for load balancers',
      rare: true,
    }),
  httpShutdownMs: z
    .int()
    .min(0)
    .max(600_000)
    .default(10_000)
    .describe('How long running HTTP calls may take to finish after a stop signal.')
    .register(settingMeta, {
      env: 'BMAD_HTTP_SHUTDOWN_MS',
      personal: true,
      flag: '--http-shutdown-ms',
      placeholder: 'ms',
      summary: 'Time for running calls to finish',
      rare: true,
    }),
};

function scope(usual: string) {
  return z
    .string()
    .regex(/^[!#-[\]-~]+$/, 'Use one scope, without spaces or quotes.')
    .default(usual);
}
