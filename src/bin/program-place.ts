import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the built programs; the content is beside them. */
export const programFolder = dirname(fileURLToPath(import.meta.url));

/** The first word of the command line that starts the server over HTTP. */
export const SERVE = 'serve';
/** The first word of the command line that opens the page for people. */
export const PAGE = 'page';

export function programArguments(): string[] {
  return process.argv.slice(2);
}
