import { say, t } from '../base/text/message.ts';
import { CLI_PROGRAM, PRODUCT, SERVER_PROGRAM, VERSION } from '../base/product.ts';
import { a2aSettings, httpSettings } from '../config/http-settings.ts';
import { settingsHelp } from '../config/flags.ts';
import { DEFAULT_PORT } from './http-port.ts';

/** Flags of the HTTP server that are not settings. */
export const SERVE_FLAGS: readonly [flag: string, meaning: string][] = [
  ['--port <port>', `Port to listen on; 0 picks a free one [${DEFAULT_PORT}]`],
  ['--new-token', 'Replace the stored client token with a new one'],
  ['--summary', 'Also print what was found'],
  ['--test', 'Check that the server can start, print one line, and exit'],
];

/** Settings that matter over HTTP only, and the one that says what is served. */
export const SERVE_SETTINGS: readonly string[] = [
  'project',
  ...Object.keys(httpSettings),
  ...Object.keys(a2aSettings),
  'contractsOverHttp',
];

export function serveHelp(): string {
  return t`${PRODUCT} ${VERSION}: serves the BMad Method over HTTP, to several hosts at once.

Usage: ${CLI_PROGRAM} serve [flags]     ("serve" must come first; same as ${SERVER_PROGRAM} --http)

It listens on this machine only, without a token, unless --host names another address.
Hosts connect to http://127.0.0.1:${DEFAULT_PORT}/mcp; Ctrl+C finishes running calls, then stops it.

${SERVE_FLAGS.map(([flag, meaning]) => `  ${flag.padEnd(25)} ${say(meaning)}`).join('\n')}

Settings for HTTP, with their environment variables:
${settingsHelp({}, { only: SERVE_SETTINGS })}

All other settings work here too: "${SERVER_PROGRAM} --help" lists them.
`;
}
