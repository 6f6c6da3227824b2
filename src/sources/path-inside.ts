import { join, sep } from 'node:path';
import { normalize } from 'node:path/posix';
import { realFolder } from '../base/files/files.ts';

/** A folder named by a file in another folder: its path from there, or why it cannot be used. */
export type PathInside = { path: string } | 'outside' | 'missing';

/** Where a written path leads, links included. `root` is a real path. */
export async function folderInside(root: string, written: string): Promise<PathInside> {
  if (/^(?:\/|~|[A-Za-z]:)|[\\\0]/.test(written)) return 'outside';
  const path = normalize(written)
    .replace(/^\.\//, '')
    .replace(/^\.?\/?$|\/$/, '');
  if (path === '..' || path.startsWith('../')) return 'outside';
  const real = await realFolder(join(root, path));
  if (real === undefined) return 'missing';
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep) ? { path } : 'outside';
}
