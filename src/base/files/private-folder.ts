import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname } from 'node:path';

const OTHERS_WRITE = 0o002;
const STICKY = 0o1000;
/** Whom a sandbox takes the owner of the machine's folders for. */
const NOBODY = 65_534;

/**
 * Makes a folder that only the user may change, before anything else of the program is loaded; false if it cannot be. An
 * existing one may belong to someone else, who would then choose what runs: it must be a folder, not a link to one, and
 * the user's own.
 */
export function madePrivate(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const info = lstatSync(folder);
    const user = process.getuid?.();
    if (!info.isDirectory()) return false;
    if (user === undefined) return true;
    return (
      info.uid === user && (info.mode & 0o022) === 0 && !isReplaceable(realpathSync.native(folder), user)
    );
  } catch {
    return false;
  }
}

/** Whether someone else may put another folder in the place of this one, or of one above it. */
function isReplaceable(folder: string, user: number): boolean {
  for (let place = folder; place !== dirname(place);) {
    place = dirname(place);
    const { uid, mode } = lstatSync(place);
    if (![user, 0, NOBODY].includes(uid) || (mode & (OTHERS_WRITE | STICKY)) === OTHERS_WRITE) return true;
  }
  return false;
}
