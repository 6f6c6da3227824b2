import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Outside } from '../app/app.ts';
import { SERVER_PROGRAM } from '../base/product.ts';
import { errorsAreRead, printer } from './printer.ts';

/** The folder of the built programs; the content is beside them. */
const programFolder = dirname(fileURLToPath(import.meta.url));

/** The only place that looks at the process's environment, arguments and streams for the rest of the code. */
export function outside(
  flags: Outside['flags'],
  { presets = {}, patient = false }: Partial<Pick<Outside, 'presets' | 'patient'>> = {},
): Outside {
  return {
    flags,
    presets,
    env: process.env,
    cwd: workingFolder(),
    home: homedir(),
    platform: process.platform,
    contentRoot: join(programFolder, 'content'),
    serverCommand: [process.execPath, serverFile()],
    writeError: printer.err,
    terminal: errorsAreRead(),
    patient,
  };
}

/** The file hosts start: an absolute path, so that no registry and no PATH is involved. */
export function serverFile(): string {
  return join(programFolder, `${SERVER_PROGRAM}.cjs`);
}

/** The first word of the command line that starts the server over HTTP. */
export const SERVE = 'serve';

export function programArguments(): string[] {
  return process.argv.slice(2);
}

function workingFolder(): string {
  try {
    return process.cwd();
  } catch {
    return homedir();
  }
}
