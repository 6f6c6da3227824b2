import { posix, win32 } from 'node:path';
import type { Host, HostFile, Scope, System } from './table.ts';

/** What paths depend on. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  home: string;
  platform: NodeJS.Platform;
}

function systemOf(platform: NodeJS.Platform): System {
  return platform === 'darwin' || platform === 'win32' ? platform : 'linux';
}

/** A path of the table on this system. A variable counts only if it is absolute, so that it cannot point into a project. */
export function placeOf(pattern: string, { env, home, platform }: Surroundings): string {
  const path = platform === 'win32' ? win32 : posix;
  const absolute = (name: string): string | undefined => {
    const value = env[name] ?? '';
    return path.isAbsolute(value) ? value : undefined;
  };
  const variable = /^\$([A-Z_]+)\|(~\/[^/]+)(.*)$/.exec(pattern);
  if (variable !== null) {
    const [, name = '', usual = '', rest = ''] = variable;
    const base = absolute(name) ?? path.join(home, usual.slice(2));
    return path.join(base, rest);
  }
  if (pattern.startsWith('~/')) return path.join(home, pattern.slice(2));
  if (!pattern.startsWith('<config>/')) return path.normalize(pattern);
  const folders: Record<System, () => string> = {
    linux: () => absolute('XDG_CONFIG_HOME') ?? path.join(home, '.config'),
    darwin: () => path.join(home, 'Library', 'Application Support'),
    win32: () => absolute('APPDATA') ?? path.join(home, 'AppData', 'Roaming'),
  };
  return path.join(folders[systemOf(platform)](), pattern.slice('<config>/'.length));
}

/** All paths that a host reads in a scope, the one it prefers first; none where it has no such scope. */
export function pathsOf(
  host: Host,
  scope: Scope,
  surroundings: Surroundings,
  root: string | undefined,
): string[] {
  const file: HostFile | undefined = host[scope];
  if (file === undefined || (scope === 'project' && root === undefined)) return [];
  const patterns = file.on?.[systemOf(surroundings.platform)] ?? file.paths;
  const path = surroundings.platform === 'win32' ? win32 : posix;
  return patterns.map((pattern) =>
    scope === 'project' ? path.join(root ?? '', pattern) : placeOf(pattern, surroundings),
  );
}
