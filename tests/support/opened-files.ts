import { createRequire, syncBuiltinESMExports } from 'node:module';
import { relative } from 'node:path';

type Open = (path: unknown, ...more: unknown[]) => unknown;

const promises = createRequire(import.meta.url)('node:fs/promises') as { open: Open };

/** The files below a folder that some work opens, in order: what is read more than once is there more than once. */
export async function filesOpened(folder: string, work: () => Promise<unknown>): Promise<string[]> {
  const found: string[] = [];
  const { open } = promises;
  promises.open = (path, ...more) => {
    if (typeof path === 'string' && path.startsWith(folder)) found.push(relative(folder, path));
    return open(path, ...more);
  };
  syncBuiltinESMExports();
  try {
    await work();
  } finally {
    promises.open = open;
    syncBuiltinESMExports();
  }
  return found;
}
