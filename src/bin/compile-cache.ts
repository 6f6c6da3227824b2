import * as nodeModule from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { madePrivate } from '../base/files/private-folder.ts';
import { STATE_FOLDER } from '../base/product.ts';

/** Not in the types of Node 20, which has no compile cache. */
interface WithCompileCache {
  enableCompileCache?: (folder: string) => unknown;
}

/** Lets Node keep the compiled program between starts, where it can (22.1 and later). */
export function useCompileCache(): void {
  const base =
    process.platform === 'win32'
      ? process.env['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local')
      : process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  const { enableCompileCache } = nodeModule as WithCompileCache;
  if (enableCompileCache === undefined) return;
  const folder = join(base, STATE_FOLDER, 'compile-cache');
  // Node itself would make it readable for everyone.
  if (madePrivate(folder)) enableCompileCache(folder);
}
