import { systemCode } from '../base/errors.ts';
import { isOpenToOthers, makePrivate } from '../base/files/file-rights.ts';
import type { Context } from '../operations/context.ts';

/** The file with the token that is kept for a user, in the user's state folder. */
export const KEPT_FILE = 'http-token';

/** Anyone who can read a token file can call the server. The user's own file is not changed, only warned about. */
export async function guardGivenFile(file: string, { log }: Context): Promise<void> {
  if (await isOpenToOthers(file))
    log.warn('other users of this machine can read the token file; run chmod 600 on it', { file });
}

/** Ours becomes private; a start does not fail because it cannot. */
export async function guardKeptFile(file: string, { log }: Context): Promise<void> {
  if (!(await isOpenToOthers(file))) return;
  try {
    await makePrivate(file);
    log.warn(
      'other users of this machine could read the token; the file is now private, and --new-token creates a new token',
      { file },
    );
  } catch (error) {
    log.warn(
      'other users of this machine can read the token, and the file cannot be made private; its owner should run chmod 600',
      { file, code: systemCode(error) },
    );
  }
}
