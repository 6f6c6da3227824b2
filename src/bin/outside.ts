import { homedir, userInfo } from 'node:os';
import { dirname, isAbsolute, join, parse } from 'node:path';
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
    home: homeFolder(),
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
    return homeFolder();
  }
}

/**
 * HOME may be empty, or hold a `~` that nobody has resolved. It would then be a place in the project, which must not pass
 * for the user's own: what the system knows counts, else the root of the disk, which is never a project.
 */
function homeFolder(): string {
  for (const told of [homedir, () => userInfo().homedir]) {
    try {
      const home = told();
      if (isAbsolute(home)) return home;
    } catch {
      // The system does not know this user.
    }
  }
  return parse(programFolder).root;
}
