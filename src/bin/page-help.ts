import { say, t } from '../base/text/message.ts';
import { CLI_PROGRAM, PRODUCT, VERSION } from '../base/product.ts';

/** The one after that of the server, so that both can run side by side. */
export const PAGE_PORT = 2624;

/** Flags of the page that are not settings. */
export const PAGE_FLAGS: readonly [flag: string, meaning: string][] = [
  ['--open', 'Also open it in the browser'],
  ['--port <port>', `Port of the server for the page, if none is running; 0 picks a free one [${PAGE_PORT}]`],
  ['--at <address>', 'Print a link for a server at this address that runs as this user'],
  ['--list', 'List the sessions of people, and the servers that are running'],
  ['--revoke <id>', 'End a session, or "all" of them'],
  ['--export <file>', 'Write board, next steps and inbox to one HTML file, for people without access'],
  ['--force', 'With --export: replace a file that exists'],
];

export function pageHelp(): string {
  return t`${PRODUCT} ${VERSION}: a page for people: what is waiting for you, how far along the project is, and why.

Usage: ${CLI_PROGRAM} page [flags]     ("page" must come first)

Prints a link that works once, within ten minutes, and lets your browser in for seven days. If no server
for the page is running, it runs here until Ctrl+C, for this machine and for you only. It shows all your
projects: those of servers that are running, and those you have opened the page for.

${PAGE_FLAGS.map(([flag, meaning]) => `  ${flag.padEnd(18)} ${say(meaning)}`).join('\n')}

All settings work here too, such as --project: "${CLI_PROGRAM} --help" lists them.
`;
}
