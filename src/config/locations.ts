import { join } from 'node:path';
import { STATE_FOLDER } from '../base/product.ts';

export const PROJECT_CONFIG_FILE = 'bmad-mcp.toml';

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
