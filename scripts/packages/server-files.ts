import { readdir, readFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { root } from '../bundle.ts';
import type { Files } from './product.ts';

/** The built server with its content, by paths from `dist`. What only programs that import the library need stays out. */
export async function serverFiles(): Promise<Files> {
  const dist = join(root, 'dist');
  const entries = await readdir(dist, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(dist, join(entry.parentPath, entry.name)).split(sep).join('/'))
    .filter((path) => !/^library\.|^bmad\.cjs$/.test(path))
    .sort();
  const files: Files = new Map();
  for (const path of paths) files.set(path, await readFile(join(dist, path)));
  return files;
}
