import { createRequire, syncBuiltinESMExports } from 'node:module';
import { extname, relative } from 'node:path';

type Open = (path: unknown, ...more: unknown[]) => unknown;

const require = createRequire(import.meta.url);
const promises = require('node:fs/promises') as { open: Open };
const plain = require('node:fs') as { openSync: Open };

/**
 * The files below a folder that some work opens, in order: what is read more than once is there more than once. Folders
 * that are held open to work in them do not count.
 */
export async function filesOpened(folder: string, work: () => Promise<unknown>): Promise<string[]> {
  const found: string[] = [];
  const [{ open }, { openSync }] = [promises, plain];
  const noting =
    (opener: Open): Open =>
    (path, ...more) => {
      if (typeof path === 'string' && path.startsWith(folder)) found.push(relative(folder, path));
      return opener(path, ...more);
    };
  promises.open = noting(open);
  plain.openSync = noting(openSync);
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    promises.open = open;
    plain.openSync = openSync;
    syncBuiltinESMExports();
  }
  return found.filter((path) => extname(path) !== '');
}
