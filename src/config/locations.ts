import { dirname, join } from 'node:path';
import { STATE_FOLDER } from '../base/product.ts';

export const PROJECT_CONFIG_FILE = 'bmad-mcp.toml';

/** Beside each configuration file: the commit and digest of every git source it lists. */
export const PROJECT_LOCK_FILE = 'bmad-mcp.lock.json';

export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  platform: NodeJS.Platform;
}

export function userConfigFile({ env, home, platform }: Surroundings): string {
  const base =
    platform === 'win32'
      ? env['APPDATA'] || join(home, 'AppData', 'Roaming')
      : env['XDG_CONFIG_HOME'] || join(home, '.config');
  return join(base, STATE_FOLDER, 'config.toml');
}

export function userLockFile(surroundings: Surroundings): string {
  return join(dirname(userConfigFile(surroundings)), 'sources.lock.json');
}

export function userCacheFolder({ env, home, platform }: Surroundings): string {
  const base =
    platform === 'win32'
      ? env['LOCALAPPDATA'] || join(home, 'AppData', 'Local')
      : env['XDG_CACHE_HOME'] || join(home, '.cache');
  return join(base, STATE_FOLDER);
}

/** For what the server keeps and cannot fetch again, of projects that have no place of their own for it. */
export function userStateFolder({ env, home, platform }: Surroundings): string {
  const base =
    platform === 'win32'
      ? env['LOCALAPPDATA'] || join(home, 'AppData', 'Local')
      : env['XDG_STATE_HOME'] || join(home, '.local', 'state');
  return join(base, STATE_FOLDER, ...(platform === 'win32' ? ['state'] : []));
}
