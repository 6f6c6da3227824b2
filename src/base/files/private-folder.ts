import { mkdirSync } from 'node:fs';

/** Makes a folder that only the user may enter, before anything else of the program is loaded; false if it cannot be. */
export function madePrivate(folder: string): boolean {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}
