import { homedir, userInfo } from 'node:os';
import { isAbsolute, join, parse } from 'node:path';
import type { Outside } from '../app/app.ts';
import { CLI_PROGRAM, SERVER_PROGRAM } from '../base/product.ts';
import { errorsAreRead, printer } from './printer.ts';
import { programFolder } from './program-place.ts';

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
    ownProgram: [process.execPath, join(programFolder, `${CLI_PROGRAM}.cjs`)],
    writeError: printer.err,
    terminal: errorsAreRead(),
    patient,
  };
}

/** The file hosts start: an absolute path, so that no registry and no PATH is involved. */
export function serverFile(): string {
  return join(programFolder, `${SERVER_PROGRAM}.cjs`);
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
