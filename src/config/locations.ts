import { dirname, join, posix, win32 } from 'node:path';
import { PERSON_FILE, STATE_FOLDER } from '../base/product.ts';

export const PROJECT_CONFIG_FILE = 'bmad-mcp.toml';

/** Beside each configuration file: the commit and digest of every git source it lists. */
export const PROJECT_LOCK_FILE = 'bmad-mcp.lock.json';

export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  platform: NodeJS.Platform;
}

/**
 * Our folder in one of the user's: by a variable, else in the usual place. A relative path, such as a `~` that nobody has
 * resolved, would be a place in the project, whose author could then set what only the user may.
 */
function userFolder(
  { env, home, platform }: Surroundings,
  unix: readonly [string, string],
  windows: readonly [string, string] = ['LOCALAPPDATA', 'AppData/Local'],
): string {
  const [variable, usual] = platform === 'win32' ? windows : unix;
  const named = env[variable] ?? '';
  return join(isAbsolute(named, platform) ? named : join(home, usual), STATE_FOLDER);
}

function isAbsolute(path: string, platform: NodeJS.Platform): boolean {
  return (platform === 'win32' ? win32 : posix).isAbsolute(path);
}

/** Variables that would name a folder of the user's and are ignored. */
export function ignoredVariables({ env, platform }: Surroundings): string[] {
  const names =
    platform === 'win32'
      ? ['APPDATA', 'LOCALAPPDATA']
      : ['XDG_CONFIG_HOME', 'XDG_CACHE_HOME', 'XDG_STATE_HOME'];
  return names.filter((name) => (env[name] ?? '') !== '' && !isAbsolute(env[name] ?? '', platform));
}

export function userConfigFile(surroundings: Surroundings): string {
  const windows: [string, string] = ['APPDATA', 'AppData/Roaming'];
  return join(userFolder(surroundings, ['XDG_CONFIG_HOME', '.config'], windows), 'config.toml');
}

/** What the user is called and spoken to in, in every project that does not say so itself. */
export function userPersonFile(surroundings: Surroundings): string {
  return join(dirname(userConfigFile(surroundings)), PERSON_FILE);
}

export function userLockFile(surroundings: Surroundings): string {
  return join(dirname(userConfigFile(surroundings)), 'sources.lock.json');
}

export function userCacheFolder(surroundings: Surroundings): string {
  return userFolder(surroundings, ['XDG_CACHE_HOME', '.cache']);
}

/** The file with the token that is kept for a user, in the user's state folder. */
export const KEPT_TOKEN_FILE = 'http-token';

/** For what the server keeps and cannot fetch again, of projects that have no place of their own for it. */
export function userStateFolder(surroundings: Surroundings): string {
  const folder = userFolder(surroundings, ['XDG_STATE_HOME', '.local/state']);
  return surroundings.platform === 'win32' ? join(folder, 'state') : folder;
}
