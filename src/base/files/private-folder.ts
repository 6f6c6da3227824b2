import { lstatSync, mkdirSync } from 'node:fs';

/**
 * Makes a folder that only the user may change, before anything else of the program is loaded; false if it cannot be. An
 * existing one may belong to someone else, who would then choose what runs: it must be a folder, not a link to one, and
 * the user's own.
 */
export function madePrivate(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const info = lstatSync(folder);
    if (!info.isDirectory()) return false;
    return process.platform === 'win32' || (info.uid === process.getuid?.() && (info.mode & 0o022) === 0);
  } catch {
    return false;
  }
}
