import { join, resolve } from 'node:path';
import type { Outside } from '../app.ts';
import { isOpenToOthers, makePrivate } from '../base/file-rights.ts';
import { userStateFolder } from '../config/locations.ts';
import type { Context } from '../operations/context.ts';

/** The file with the token that is kept for a user, in the user's state folder. */
export const KEPT_FILE = 'http-token';

/** Whoever can read a file with tokens can call the server: ours becomes private, of one that was given it is said. */
export async function guardTokenFiles({ config, log }: Context, outside: Outside): Promise<void> {
  if (config.httpTokenFile !== undefined) {
    const file = resolve(outside.cwd, config.httpTokenFile);
    if (await isOpenToOthers(file))
      log.warn('other users of this machine can read the file with the tokens; chmod 600 ends that', {
        file,
      });
    return;
  }
  const file = join(userStateFolder(outside), KEPT_FILE);
  if (!(await isOpenToOthers(file))) return;
  await makePrivate(file);
  log.warn(
    'other users of this machine could read the token; the file is private now, --new-token makes another',
    {
      file,
    },
  );
}
