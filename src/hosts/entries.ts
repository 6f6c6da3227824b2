import { t } from '../base/text/message.ts';
import { isTable } from '../base/parse/parse.ts';
import { maskSecretValues } from '../base/secrets/scanner.ts';
import { cut } from '../base/text/text.ts';
import type { Entry, Host, Scope, Start } from './table.ts';

const SHAPES: Record<Host['shape'], (start: Start) => Entry> = {
  standard: ({ command, args }) => ({ command, args: [...args] }),
  typed: ({ command, args }) => ({ type: 'stdio', command, args: [...args] }),
  zed: ({ command, args }) => ({ source: 'custom', command, args: [...args], env: {} }),
  opencode: ({ command, args }) => ({ type: 'local', command: [command, ...args], enabled: true }),
  goose: ({ command, args }) => ({
    name: 'bmad',
    description: t`Agents and workflows of the BMad Method`,
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
export function startOf(entry: unknown): WrittenStart | undefined {
  if (!isTable(entry)) return undefined;
  const { command, cmd, args, env, envs, environment, cwd } = entry;
  const words = [command ?? cmd, args ?? []].flat(2);
  const [program, ...rest] = words;
  if (typeof program !== 'string' || !rest.every((word) => typeof word === 'string')) return undefined;
  // Hosts put something else in the place of a variable, and only they know what.
  const folder = typeof cwd === 'string' && !cwd.includes('$') ? { cwd } : {};
  return { command: program, args: rest, env: texts(env ?? envs ?? environment), ...folder };
}

/** What an entry that is not ours starts, in a few words. */
export function startText(entry: unknown): string {
  const start = startOf(entry);
  return start === undefined
    ? t`something else`
    : cut(maskedWords([start.command, ...start.args]).join(' '), 120);
}

/** A command line as it may be shown: without credentials in addresses, tokens, and the values of flags such as `--api-key`. */
export function maskedWords(words: readonly string[]): string[] {
  return words.map((word, at) => {
    const [start = '', flag = words[at - 1] ?? ''] = /^(-[\w-]+)=/.exec(word) ?? [];
    // A word that follows no flag is looked at for what it is, and so is the next flag after one without a value.
    const name = flag.startsWith('-') && (start !== '' || !word.startsWith('-')) ? flag : '-';
    const table = maskSecretValues({ [name.replace(/^-+/, '')]: word.slice(start.length) }) as Entry;
    return start + String(Object.values(table)[0]);
  });
}

export type WrittenStart = Start & { env: Record<string, string>; cwd?: string };

function texts(table: unknown): Record<string, string> {
  if (!isTable(table)) return {};
  const pairs = Object.entries(table).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  return Object.fromEntries(pairs);
}

/** A program of ours, from a clone or a package; a package of the same name from npm is somebody else's. */
const OUR_PROGRAM = /(?:^|[\\/])bmad-mcp-server(?:\.cjs|\.cmd)?$/;

export function isOurs(entry: unknown): entry is Entry {
  const start = startOf(entry);
  if (start === undefined) return false;
  const [first = ''] = start.args;
  return OUR_PROGRAM.test(start.command) || (OUR_PROGRAM.test(first) && first.endsWith('.cjs'));
}

/** Keys of an entry of ours that say what is started; the rest may have been added by somebody. */
const START_KEYS: ReadonlySet<string> = new Set(['command', 'cmd', 'args']);
/** These say whether it is started at all, or an address is asked in its place: where we write one, it is ours that counts. */
const KIND_KEYS: ReadonlySet<string> = new Set(['type', 'source']);

/** What comes after the program on the command line of an entry of ours. */
function flagsOf(entry: Entry): readonly string[] {
  const { command = '', args = [] } = startOf(entry) ?? {};
  return OUR_PROGRAM.test(command) ? args : args.slice(1);
}

/** Our entry with all that somebody has added to the one that is there. */
export function withAdded(wanted: Entry, found: Entry): Entry {
  const words = Array.isArray(wanted['command']) ? 'command' : 'args';
  const rest = Object.entries(found).filter(
    ([key]) => !START_KEYS.has(key) && !(KIND_KEYS.has(key) && key in wanted),
  );
  return {
    ...wanted,
    [words]: [...(wanted[words] as string[]), ...flagsOf(found)],
    ...Object.fromEntries(rest),
  };
}

/** An entry with what is in another one as well, table by table; the other one counts where both say something. */
export function merged(entry: Entry, more: Entry = {}): Entry {
  const both = Object.entries(more).map(([key, value]) => {
    const own = entry[key];
    return [key, isTable(value) && isTable(own) ? merged(own, value) : value];
  });
  return { ...entry, ...(Object.fromEntries(both) as Entry) };
}

/** What only starts another program, and the words with which it does so. */
const LAUNCHER = /(?:^|[\\/])(?:npx|npm|pnpm|pnpx|yarn|bun|bunx|uv|uvx|pipx|node|deno|cmd)(?:\.cmd|\.exe)?$/i;
const LAUNCHES = /(?:npm|yarn|bun|uv|pipx|deno|tool)(?:\.cmd|\.exe)? (?:dlx|exec|x|run|tool)$/i;
/** Flags of launchers whose value is the next word; it may be the address of the program itself. */
const WITH_VALUE: ReadonlySet<string> = new Set(
  '--from -p --package --with --spec --python --registry'.split(' '),
);

/** What follows the program on a command line, whatever starts it: `npx -y bmad-mcp-server …`, `uvx --from … bmad-mcp …`. */
function afterProgram({ command, args }: Start): readonly string[] {
  const words = [command, ...args];
  const program = words.findIndex(
    (word, at) =>
      !/^-|^\/c$/i.test(word) &&
      !LAUNCHER.test(word) &&
      !LAUNCHES.test(`${words[at - 1] ?? ''} ${word}`) &&
      !WITH_VALUE.has(words[at - 1] ?? ''),
  );
  return program === -1 ? [] : words.slice(program + 1);
}

/** What other servers for BMAD call the setting of ours that says where to look. */
const MODE = /^--mode=(auto|local|user|strict)$/;
const MODE_VARIABLE = 'BMAD_DISCOVERY_MODE';

/** Words of another server's command line as ours would have them; nothing for what ours does not know. */
const ofOurs = (word: string): string | undefined =>
  word.startsWith('git+') ? word : MODE.test(word) ? word.replace('--mode', '--discovery') : undefined;

const envKey = (found: Entry): string =>
  ['env', 'envs', 'environment'].find((each) => each in found) ?? 'env';

/**
 * What an entry of another server for BMAD says that ours understands too, as an entry of ours would have it: git sources
 * and where to look on its command line, and variables.
 */
export function takenOver(found: unknown): Entry | undefined {
  const start = startOf(found);
  if (start === undefined || !isTable(found)) return undefined;
  const args = afterProgram(start).flatMap((word) => ofOurs(word) ?? []);
  const env = Object.fromEntries(
    Object.entries(start.env)
      .filter(([name]) => name.startsWith('BMAD_'))
      .map(([name, value]) => [name === MODE_VARIABLE ? 'BMAD_DISCOVERY' : name, value]),
  );
  if (args.length + Object.keys(env).length === 0) return undefined;
  return {
    command: 'bmad-mcp-server',
    args,
    ...(Object.keys(env).length === 0 ? {} : { [envKey(found)]: env }),
  };
}

/** The rest of what such an entry says, a line each: it was for the other server, and is left out. */
export function leftOut(found: unknown): string[] {
  const start = startOf(found);
  if (start === undefined || !isTable(found)) return [];
  const words = afterProgram(start).filter((word) => ofOurs(word) === undefined);
  const env = Object.entries(start.env).filter(([name]) => !name.startsWith('BMAD_'));
  const known = new Set([...START_KEYS, ...KIND_KEYS, envKey(found)]);
  const rest = Object.entries(found).filter(([key]) => !known.has(key));
  const lines = Object.entries(
    maskSecretValues({ ...Object.fromEntries(env), ...Object.fromEntries(rest) }) as Entry,
  );
  return [
    ...(words.length === 0 ? [] : [shown('args', maskedWords(words))]),
    ...lines.map(([name, value]) =>
      shown(env.some(([each]) => each === name) ? `${envKey(found)}.${name}` : name, value),
    ),
  ];
}

const LONGEST_SHOWN = 1_000;

/** All that an entry of ours has and we would not write, a line each: flags, variables, folders, addresses and the rest. */
export function addedTo(wanted: Entry, found: Entry): string[] {
  const flags = flagsOf(found);
  const rest = Object.entries(found).filter(([key]) => !(START_KEYS.has(key) && key in wanted));
  return [
    ...(flags.length === 0 ? [] : [shown('args', maskedWords(flags))]),
    ...rest.flatMap(([key, value]) => {
      if (isSame(value, wanted[key])) return [];
      const table = maskSecretValues({ [key]: value }) as Entry;
      const inner = table[key];
      return isTable(inner)
        ? Object.entries(inner).map(([name, each]) => shown(`${key}.${name}`, each))
        : [shown(key, inner)];
    }),
  ];
}

function shown(key: string, value: unknown): string {
  return cut(`${key} = ${asText(value)}`, LONGEST_SHOWN);
}

export function isSame(one: unknown, other: unknown): boolean {
  return asText(sorted(one)) === asText(sorted(other));
}

/** TOML has plain values before tables, whatever order they were given in. */
function sorted(value: unknown): unknown {
  if (!isTable(value)) return value;
  const pairs = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(pairs.map(([key, inner]) => [key, sorted(inner)]));
}

/** Dates and the like have a text; numbers that JSON has no word for have one too. */
export function asText(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'bigint' || (typeof inner === 'number' && !Number.isFinite(inner))
      ? String(inner)
      : inner,
  );
}

/** A text that is put in at a position of the text before. */
interface Insertion {
  at: number;
  text: string;
}

/** A part of a text that goes, and what comes in its place. */
export interface Removal {
  from: number;
  to: number;
  text?: string;
}

/** What the file was like where the entry was put in, so that it can be like that again. */
export interface Made {
  /** Whether the key that holds the servers was made as well. */
  key: boolean;
  /** What stood between the brackets of the servers when there were none. */
  hollow?: string | undefined;
  /** What was put before an entry at the end of the file, to set it off. */
  gap?: string | undefined;
}

export interface Spliced {
  insertions: Insertion[];
  made: Made;
}

/** What a splice works on: the text, the key that holds the servers, and the name of ours among them. */
export interface Target {
  file: string;
  text: string;
  key: string;
  name: string;
}

/** The line ending of a text: that of its first line. */
export function lineEnd(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
}

/** Where an entry begins, with what was put before it; only at the end of the file nobody else can need that. */
export function withGap(text: string, { from, to }: Removal, { gap = '' }: Made): Removal {
  const isLast = to === text.length && text.slice(0, from).endsWith(gap);
  return { from: isLast ? from - gap.length : from, to };
}
