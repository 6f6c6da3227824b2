import type { Entry, Host, Scope, Start } from './table.ts';

const SHAPES: Record<Host['shape'], (start: Start) => Entry> = {
  standard: ({ command, args }) => ({ command, args: [...args] }),
  typed: ({ command, args }) => ({ type: 'stdio', command, args: [...args] }),
  zed: ({ command, args }) => ({ source: 'custom', command, args: [...args], env: {} }),
  opencode: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
  goose: ({ command, args }) => ({
    name: 'bmad',
    description: 'Agents and workflows of the BMad Method',
    type: 'stdio',
    cmd: command,
    args: [...args],
    enabled: true,
    envs: {},
    timeout: 300,
  }),
};

/** The server as this host writes it. */
export function entryOf({ shape, more, user, project }: Host, scope: Scope, start: Start): Entry {
  return { ...SHAPES[shape](start), ...more, ...(scope === 'user' ? user : project)?.more };
}

/** What an entry starts, whatever host wrote it; undefined for one that starts nothing, such as an address. */
export function startOf(entry: unknown): (Start & { env: Record<string, string> }) | undefined {
  if (typeof entry !== 'object' || entry === null) return undefined;
  const { command, cmd, args, env, envs, environment } = entry as Entry;
  const words = [command ?? cmd, args ?? []].flat(2);
  const [program, ...rest] = words;
  if (typeof program !== 'string' || !rest.every((word) => typeof word === 'string')) return undefined;
  return { command: program, args: rest, env: texts(env ?? envs ?? environment) };
}

function texts(table: unknown): Record<string, string> {
  if (typeof table !== 'object' || table === null) return {};
  return Object.fromEntries(Object.entries(table).filter(([, value]) => typeof value === 'string'));
}

/** Keys of an entry that say what is started; the rest may have been added by the user. */
export const START_KEYS: ReadonlySet<string> = new Set(['command', 'cmd', 'args']);

/** A program of ours, from a clone or a package; a package of the same name from npm is somebody else's. */
const OUR_PROGRAM = /(?:^|[\\/])bmad-mcp-server(?:\.cjs|\.cmd)?$/;

export function isOurs(entry: unknown): boolean {
  const start = startOf(entry);
  if (start === undefined) return false;
  const [first = ''] = start.args;
  return OUR_PROGRAM.test(start.command) || (OUR_PROGRAM.test(first) && first.endsWith('.cjs'));
}
