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

/** Our folder in one of the user's: by a variable, else in the usual place. */
function userFolder(
  { env, home, platform }: Surroundings,
  [variable, usual]: readonly [string, string],
  [windowsVariable, windowsUsual] = ['LOCALAPPDATA', 'AppData/Local'],
): string {
  const base =
    platform === 'win32'
      ? env[windowsVariable] || join(home, windowsUsual)
      : env[variable] || join(home, usual);
  return join(base, STATE_FOLDER);
}

export function userConfigFile(surroundings: Surroundings): string {
  const windows: [string, string] = ['APPDATA', 'AppData/Roaming'];
  return join(userFolder(surroundings, ['XDG_CONFIG_HOME', '.config'], windows), 'config.toml');
}

export function userLockFile(surroundings: Surroundings): string {
  return join(dirname(userConfigFile(surroundings)), 'sources.lock.json');
}

export function userCacheFolder(surroundings: Surroundings): string {
  return userFolder(surroundings, ['XDG_CACHE_HOME', '.cache']);
}

/** For what the server keeps and cannot fetch again, of projects that have no place of their own for it. */
export function userStateFolder(surroundings: Surroundings): string {
  const folder = userFolder(surroundings, ['XDG_STATE_HOME', '.local/state']);
  return surroundings.platform === 'win32' ? join(folder, 'state') : folder;
}
