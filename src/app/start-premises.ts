import { join, resolve } from 'node:path';
import { type Premises, withParents } from '../base/files/user-cache.ts';
import { PROJECT_CONFIG_FILE, type Surroundings, userConfigFile } from '../config/locations.ts';
import { BMAD_MARKERS, CUSTOM_AGENTS, MANIFESTS, MARKERS } from '../sources/project-marks.ts';

interface Start extends Surroundings {
  cwd: string;
  args: readonly string[];
  /** The program itself, and the file that does its work. */
  programs: readonly string[];
}

/** Our own variables, and those that say where something is. */
const COUNT = /^(?:BMAD_\w+|XDG_(?:CONFIG|CACHE|STATE)_HOME|APPDATA|LOCALAPPDATA|CLAUDE_PROJECT_DIR)$/;
/** Keys and tokens decide about no tool, and are written nowhere. */
const SECRET = /KEY|TOKEN|SECRET|PASSWORD/;
const CREDENTIALS = /:\/\/[^/\s]*@/;

/**
 * Everything that the names and descriptions of the tools, and what the server says of itself, are made from: the
 * command line, variables, the configuration of the user and of the project, which folder is the project, which
 * BMAD it has, and which agents of its own. None of it is read here. Where something in it is secret, there is nothing that could be kept.
 */
export function startPremises({ env, home, platform, cwd, args, programs }: Start): Premises | undefined {
  const told = Object.entries(env)
    .map(([name, value]) => [spelled(name, platform), value] as const)
    .filter(([name]) => COUNT.test(name) && !SECRET.test(name))
    .sort(([one], [other]) => (one < other ? -1 : 1));
  if ([...args, ...told.map(([, value]) => value ?? '')].some(isSecret)) return undefined;
  const named = [
    ...args.map((arg) => arg.replace(/^--[\w-]+=/, '')),
    ...told.map(([, value]) => value ?? ''),
  ];
  const places = new Set([cwd, ...named.filter(Boolean).map((folder) => resolve(cwd, folder)), home]);
  const folders = [...new Set([...places].flatMap(withParents))];
  return {
    values: [process.version, platform, cwd, home, args, told],
    files: [
      ...programs,
      userConfigFile({ env, home, platform }),
      ...folders.flatMap((folder) =>
        [PROJECT_CONFIG_FILE, ...MANIFESTS, ...CUSTOM_AGENTS].map((name) => join(folder, name)),
      ),
    ],
    folders: folders.flatMap((folder) => [folder, ...MARKERS.map((marker) => join(folder, marker))]),
  };
}

/** Windows finds a variable however its name is spelled. */
const spelled = (name: string, platform: NodeJS.Platform): string =>
  platform === 'win32' ? name.toUpperCase() : name;

/** Whether there is nothing that could make the answers others than those of a folder without BMAD, on a machine without settings. */
export function isPlain(start: Start, { files }: Premises, there: readonly string[]): boolean {
  const isMarker = (path: string): boolean => BMAD_MARKERS.some((marker) => path.endsWith(join('/', marker)));
  const isOther = (path: string): boolean =>
    files.includes(path) ? !start.programs.includes(path) : isMarker(path);
  const isSetting = (name: string): boolean => spelled(name, start.platform).startsWith('BMAD_');
  return start.args.length === 0 && !Object.keys(start.env).some(isSetting) && !there.some(isOther);
}

function isSecret(text: string): boolean {
  return CREDENTIALS.test(text) || (text.startsWith('--') && SECRET.test(text.toUpperCase()));
}
