import { join } from 'node:path';
import { t } from '../base/text/message.ts';
import { BmadError, ours, quoted } from '../base/errors.ts';
import { pathExists } from '../base/files/files.ts';
import { fold, nearest } from '../base/text/suggest.ts';
import { connectFile, connectionsIn, disconnectFile, type FileWork, type Connections } from './connect.ts';
import { entryOf, isOurs, isSame, merged, startOf, type WrittenStart } from './entries.ts';
import { inspect } from './inspect.ts';
import {
  HOSTS,
  pathsOf,
  placeOf,
  programPaths,
  type Entry,
  type Host,
  type Scope,
  type Start,
  type Surroundings,
} from './table.ts';
import { readForeign, removeMade } from '../base/files/file-shared.ts';
import { entryIn, put } from './splice.ts';
import type { Person } from './person.ts';
import { readState, stateNames, writeAtomic } from '../base/files/file-state.ts';
import { missingFolders } from '../base/files/file-modes.ts';
import { SERVER_KEY } from '../base/product.ts';
import { sha256 } from '../base/values.ts';

export type { HostCheck } from './inspect.ts';
export type { Person as HostPerson } from './person.ts';
export type { Scope as HostScope } from './table.ts';

type Hosts = ReturnType<typeof createHosts>;

interface HostsParts {
  surroundings: Surroundings;
  /** The project, if there is one. */
  root: string | undefined;
  /** How the server is started. */
  start: Start;
  /** The user's folder for what the server keeps. */
  state: string;
}

/** A host in a scope, and the file that is written for it. */
interface HostTarget {
  host: Host;
  scope: Scope;
  file: string;
  /** What the person wants in the entry beside what every one has. */
  more?: Entry;
}

export interface HostState extends HostTarget {
  /** Whether it has been started here, or can be. */
  installed: boolean;
  /** What is under our name in its file. */
  found: 'ours' | 'other' | 'none' | 'unreadable';
}

interface Written {
  start: WrittenStart;
  mayStart: boolean;
}

/** The hosts of this machine: where they are configured, and how our entry gets there and away again. */
export function createHosts({ surroundings, root, start, state }: HostsParts) {
  const connections = connectionsIn(state);

  async function targetOf(host: Host, scope: Scope): Promise<HostTarget | undefined> {
    const paths = pathsOf(host, scope, surroundings, root);
    const [first] = paths;
    if (first === undefined) return undefined;
    for (const file of paths) if (await pathExists(file)) return { host, scope, file };
    return { host, scope, file: first };
  }

  async function stateOf(target: HostTarget): Promise<HostState> {
    const { host, file } = target;
    const places = [
      ...host.traces.map((trace) => placeOf(trace, surroundings)),
      ...programPaths(host, surroundings),
    ];
    const traces = await Promise.all(places.map(pathExists));
    return { ...target, installed: traces.includes(true), found: await foundIn(target, file) };
  }

  async function foundIn({ host }: HostTarget, file: string): Promise<HostState['found']> {
    try {
      const entry = await entryOfFile(host, file);
      return entry === undefined ? 'none' : isOurs(entry) ? 'ours' : 'other';
    } catch (error) {
      if (error instanceof BmadError) return 'unreadable';
      throw error;
    }
  }

  /** Some hosts read several files of a project and put together what is in them. */
  async function refuseEntryElsewhere({ host, scope, file }: HostTarget): Promise<void> {
    if (scope === 'user') return;
    for (const other of pathsOf(host, scope, surroundings, root).filter((path) => path !== file))
      if ((await entryOfFile(host, other)) !== undefined)
        throw new BmadError('conflict', t`${host.name} reads ${other} too, which has an entry "bmad".`, {
          subject: other,
          hint: t`Remove that entry first, or write this one all the same with --force.`,
        });
  }

  const workOf = (targets: readonly [HostTarget, ...HostTarget[]]): FileWork => {
    const [{ file, scope, host }] = targets;
    return {
      file,
      scope,
      format: host.format,
      key: host.key,
      hosts: targets.map(({ host: { id } }) => id),
      // Hosts that share a file share the entry.
      entry: Object.assign({}, ...targets.map((each) => entryOf(each.host, each.scope, start))) as Entry,
      more: Object.assign({}, ...targets.map(({ more }) => more)) as Entry,
      inside: scope === 'project' ? root : undefined,
      connections,
    };
  };

  /** The folder of a host's commands; only what people keep for themselves has one outside a project. */
  function commandsOf({ host: { id, commands }, scope }: HostTarget): CommandFolder | undefined {
    if (commands === undefined) return undefined;
    const inside = scope === 'project' ? root : undefined;
    const folder =
      inside === undefined ? placeOf(commands.user, surroundings) : join(inside, commands.project);
    return { folder, host: id, scope, inside, connections };
  }

  return {
    start,
    root,
    all: HOSTS,
    /** The hosts that names stand for, each once. */
    named(names: readonly string[]): Host[] {
      return [...new Set(names.map(hostNamed))];
    },
    /** What every host of the table is like here. */
    async states(hosts: readonly Host[], scope: Scope): Promise<HostState[]> {
      const targets = await Promise.all(hosts.map((host) => targetOf(host, scope)));
      return Promise.all(targets.filter((target) => target !== undefined).map(stateOf));
    },
    /** Puts the entry into the file of these hosts, which is the same for all of them. */
    async connect(targets: readonly [HostTarget, ...HostTarget[]], how: { force: boolean; dry: boolean }) {
      if (!how.force) for (const target of targets) await refuseEntryElsewhere(target);
      return connectFile(workOf(targets), how);
    },
    disconnect: (targets: readonly [HostTarget, ...HostTarget[]], how: { force: boolean; dry: boolean }) =>
      disconnectFile(workOf(targets), how),
    /** Writes the commands of a host that has a folder for them, or takes them away; answers with what people type. */
    async commands(
      target: HostTarget,
      agents: readonly CommandAgent[] | 'none',
      dry: boolean,
    ): Promise<string[]> {
      const folder = commandsOf(target);
      if (folder === undefined) return [];
      return agents === 'none' ? removeCommands(folder, dry) : writeCommands(folder, agents, dry);
    },
    /** Whether the entry allows what its host refuses where it cannot ask. */
    async isApproved({ host, file }: HostTarget): Promise<boolean> {
      const entry = await entryOfFile(host, file).catch(ours(() => undefined));
      return isOurs(entry) && isSame(entry, merged(entry, host.approval));
    },
    /** The text that a person would write into an empty file. */
    printed({ host, scope, file }: HostTarget): string {
      return put({ file, text: '', format: host.format, key: host.key }, entryOf(host, scope, start)).text;
    },
    /**
     * What the entry in a file starts, exactly as it is written there, and whether that is what we write and nothing more.
     * The file of a project comes from its author: what it has added can make Node run anything, so that such an entry is not
     * started for being looked at.
     */
    async written({ host, scope, file }: HostTarget): Promise<Written | undefined> {
      const entry = await entryOfFile(host, file);
      const found = startOf(entry);
      if (found === undefined || !isOurs(entry)) return undefined;
      const wanted = entryOf(host, scope, start);
      return { start: found, mayStart: scope === 'user' || isSame({ ...wanted, ...entry }, wanted) };
    },
    /** What the files of a host say of its entry. Nothing is started for it. */
    inspect: (target: HostTarget) => inspect(target, { surroundings, root, start }),
  };
}

/** What is under our name in a file of a host. */
async function entryOfFile({ format, key }: Host, file: string): Promise<unknown> {
  const text = await readForeign(file);
  return text === undefined ? undefined : entryIn({ file, text, format, key });
}

function hostNamed(name: string): Host {
  const wanted = fold(name);
  const found = HOSTS.find(
    ({ id, name: spoken, aliases = [] }) =>
      id === wanted || fold(spoken) === wanted || aliases.includes(wanted),
  );
  if (found !== undefined) return found;
  const known = HOSTS.flatMap(({ id, aliases = [] }) => [id, ...aliases]);
  const near = nearest(name, known).map(
    (each) => HOSTS.find(({ id, aliases = [] }) => id === each || aliases.includes(each))?.id ?? each,
  );
  throw new BmadError('not_found', t`There is no host ${quoted(name)}.`, {
    subject: name,
    suggestions: [...new Set(near)],
    hint: t`Hosts: ${HOSTS.map(({ id }) => id).join(', ')}.`,
  });
}

/** The hosts of this machine, and what is asked when they are connected. */
export interface HostSetup {
  hosts: Hosts;
  /** Starts exactly what an entry says and asks it for its tools; `trouble` says in words what went wrong. */
  handshake(
    start: { command: string; args: readonly string[]; env: Readonly<Record<string, string>>; cwd?: string },
    /** The folder that a host starts it in, unless the entry names one. */
    folder: string,
    signal: AbortSignal,
  ): Promise<{ ok: boolean; tools: string[]; trouble?: string }>;
  /** The settings that a server started like this has; undefined if it would not start with them. */
  settingsOf(start: {
    command: string;
    args: readonly string[];
    env: Record<string, string>;
  }): Promise<{ answerBytes: number; prompts: string; output: string } | undefined>;
  /** What the user wants to be called and spoken to in, in all projects. */
  person(): Promise<Person>;
  /** Answers with the file that holds it. */
  setPerson(person: Person): Promise<string>;
  /** Those of some lines that a file at the top of a project does not have. */
  lacking(root: string, file: string, lines: readonly string[]): Promise<string[]>;
  /** Adds lines to it. */
  addLines(root: string, file: string, lines: readonly string[]): Promise<void>;
  /** A name that the system knows the user by. */
  systemName: string | undefined;
  home: string;
}

export interface HostsPort {
  /** What connects hosts; only the command line has a use for it. */
  hostSetup(): Promise<HostSetup>;
}

/** An agent that a command of a host starts. */
export interface CommandAgent {
  /** What it is called by: `architect`. */
  name: string;
  /** `Winston, System Architect`. */
  who: string;
}

/** The call with which an agent begins, in words that every host understands. */
export const agentCall = ({ name }: CommandAgent, message: string): string =>
  `Call the tool \`bmad\` of the MCP server \`${SERVER_KEY}\` with operation "execute", agent "${name}" and message "${message}". Leave the message out if it is empty. Then follow the answer: become the agent it describes, and stay in character until you are asked to stop.`;

/** A command of the Gemini CLI. */
export const geminiCommand = (agent: CommandAgent): string =>
  `description = ${JSON.stringify(`Talk to ${agent.who} (BMAD)`)}\nprompt = ${JSON.stringify(agentCall(agent, '{{args}}'))}\n`;

/** A folder of commands of a host, and the notes by which they are known as ours. */
interface CommandFolder {
  folder: string;
  host: string;
  scope: Scope;
  inside: string | undefined;
  connections: Connections;
}

const SUFFIX = '.toml';

/** Whether a text is ours: the one that was written, or that before it, if it was not written in the end. */
function isWritten(text: string, known: Awaited<ReturnType<Connections['of']>>): boolean {
  return [known?.after, known?.former].includes(sha256(text));
}

/**
 * Writes a command for each agent, and answers with what people type. A file of that name that is not ours, or that
 * people have changed since, stays as it is.
 */
export async function writeCommands(
  { folder, host, scope, inside, connections }: CommandFolder,
  agents: readonly CommandAgent[],
  dry: boolean,
): Promise<string[]> {
  const typed: string[] = [];
  const missing = missingFolders(folder);
  for (const agent of agents) {
    const file = join(folder, `${agent.name}${SUFFIX}`);
    const [before, known] = [await readState(file, { inside }), await connections.of(file)];
    if (before !== undefined && !isWritten(before, known)) continue;
    typed.push(`/${SERVER_KEY}:${agent.name}`);
    const text = geminiCommand(agent);
    if (dry || text === before) continue;
    const folders = known?.folders ?? missing;
    // First the way back, then the change.
    await connections.keep(
      {
        file,
        hosts: [host],
        scope,
        created: true,
        folders,
        made: { key: false },
        after: sha256(text),
        ...(before === undefined ? {} : { former: sha256(before) }),
      },
      undefined,
    );
    await writeAtomic(file, text, { inside });
  }
  return typed;
}

/** Takes away those that are as they were written, and the folders that were made for them. */
export async function removeCommands(
  { folder, inside, connections }: CommandFolder,
  dry: boolean,
): Promise<string[]> {
  const typed: string[] = [];
  for (const name of await stateNames(folder, inside)) {
    const file = join(folder, name);
    const known = await connections.of(file);
    if (known === undefined) continue;
    const isUnchanged = isWritten((await readState(file, { inside })) ?? '', known);
    if (isUnchanged) typed.push(`/${SERVER_KEY}:${name.slice(0, -SUFFIX.length)}`);
    if (dry) continue;
    if (isUnchanged) await removeMade(file, known.folders, inside);
    await connections.forget(file);
  }
  return typed;
}
