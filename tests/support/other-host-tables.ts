import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { entryOf } from '../../src/hosts/entries.ts';
import { type Host, HOSTS, pathsOf, type Scope, type System } from '../../src/hosts/table.ts';
import { runToEnd } from './programs.ts';

/** What two other packages say of the hosts that we know, in words that can be compared. */

const SYSTEMS: readonly System[] = ['linux', 'darwin', 'win32'];
const HOME = '/home/ada';
const START = { command: 'node', args: ['server.cjs'] };

/** By what it is about, such as `user file on darwin`; entries without their order. */
type Said = Record<string, string>;

const require = createRequire(import.meta.url);

/** Ours, for one host, with the file that is written if there is none. */
export function ownTable(host: Host): Said {
  const file = (scope: Scope, platform: System): string =>
    plain(pathsOf(host, scope, { env: {}, home: HOME, platform }, '/shop')[0] ?? '');
  return {
    ...Object.fromEntries(SYSTEMS.map((system) => [`user file on ${system}`, file('user', system)])),
    ...ofProject(file('project', 'linux'), entryOf(host, 'project', START)),
    format: host.format,
    key: host.key,
    'user entry': entryText(entryOf(host, 'user', START)),
    'names in an entry': namesText(
      Object.keys(entryOf(host, 'user', START)).filter((name) => NAMES.has(name)),
    ),
  };
}

const ofProject = (file: string | undefined, entry: object): Said =>
  file === undefined || file === '' ? {} : { 'project file': plain(file), 'project entry': entryText(entry) };

interface AddMcpHost {
  user: string;
  project?: string;
  key: string;
  format: string;
  userEntry: object;
  projectEntry: object;
}

/** It looks at the system it runs on when it is loaded, so that each system takes a process. */
const PRINT = `
Object.defineProperty(process, 'platform', { value: process.argv[1] });
const { agents } = await import(process.argv[2]);
const server = ${JSON.stringify(START)};
const told = Object.entries(agents).map(([id, a]) => [id, {
  user: a.configPath, project: a.localConfigPath, key: a.configKey, format: a.format,
  userEntry: a.transformConfig('bmad', server, { local: false }),
  projectEntry: a.transformConfig('bmad', server, { local: true }),
}]);
process.stdout.write(JSON.stringify(Object.fromEntries(told)));
`;

/** What add-mcp says, by its own names. */
export async function addMcpTable(): Promise<Record<string, Said>> {
  const url = pathToFileURL(join(dirname(require.resolve('add-mcp/package.json')), 'dist/lib.js')).href;
  const env = { HOME, USERPROFILE: HOME, SystemRoot: process.env['SystemRoot'] ?? '' };
  const all = await Promise.all(
    SYSTEMS.map(async (system) => {
      const args = ['--input-type=module', '-e', PRINT, system, url];
      const { stdout } = await runToEnd(process.execPath, args, { cwd: process.cwd(), env });
      return JSON.parse(stdout.toString('utf8')) as Record<string, AddMcpHost>;
    }),
  );
  return Object.fromEntries(
    Object.entries(all[0] ?? {}).map(([id, host]) => [
      id,
      {
        ...Object.fromEntries(
          SYSTEMS.map((system, at) => [`user file on ${system}`, plain(all[at]?.[id]?.user ?? '')]),
        ),
        ...ofProject(host.project === undefined ? '' : `/shop/${host.project}`, host.projectEntry),
        format: host.format,
        key: host.key,
        'user entry': entryText(host.userEntry),
      },
    ]),
  );
}

interface GleanHost {
  id: string;
  configPath?: Partial<Record<System, string>>;
  configFormat?: string;
  configStructure?: {
    serversPropertyName: string;
    stdioPropertyMapping?: { typeProperty?: string; commandProperty: string; argsProperty: string };
  };
}

/** What @gleanwork/mcp-config-schema says; it has no files of projects, and of entries only the names in them. */
export async function gleanTable(): Promise<Record<string, Said>> {
  const folder = join(dirname(require.resolve('@gleanwork/mcp-config-schema')), '../configs');
  const hosts = await Promise.all(
    (await readdir(folder)).map(
      async (name) => JSON.parse(await readFile(join(folder, name), 'utf8')) as GleanHost,
    ),
  );
  return Object.fromEntries(
    hosts.map(({ id, configPath = {}, configFormat, configStructure: structure }) => {
      const stdio = structure?.stdioPropertyMapping;
      return [
        id,
        {
          ...Object.fromEntries(
            Object.entries(configPath).map(([system, path]) => [`user file on ${system}`, plain(path)]),
          ),
          ...(configFormat === undefined ? {} : { format: configFormat }),
          ...(structure === undefined ? {} : { key: structure.serversPropertyName }),
          ...(stdio === undefined
            ? {}
            : {
                'names in an entry': namesText([
                  stdio.typeProperty,
                  stdio.commandProperty,
                  stdio.argsProperty,
                ]),
              }),
        },
      ];
    }),
  );
}

/** The names in an entry that the other table has words for. */
const NAMES = new Set(['type', 'command', 'cmd', 'args']);

const namesText = (names: readonly (string | undefined)[]): string =>
  [...new Set(names.filter((name) => name !== undefined))].sort().join(' ');

/** Paths of all systems in one form. */
function plain(path: string): string {
  return path
    .replaceAll('\\', '/')
    .replace(/^(?:\$HOME|%USERPROFILE%)(?=\/)/, HOME)
    .replace(/^%APPDATA%/, `${HOME}/AppData/Roaming`)
    .replace(HOME, '~');
}

function entryText(entry: object): string {
  const sorted = Object.entries(entry).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(Object.fromEntries(sorted));
}

export const hostOf = (id: string): Host | undefined =>
  HOSTS.find((host) => host.id === id || host.aliases?.includes(id) === true);
