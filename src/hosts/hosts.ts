import { BmadError, quoted } from '../base/errors.ts';
import { pathExists } from '../base/files/files.ts';
import { fold, nearest } from '../base/text/suggest.ts';
import { connectFile, disconnectFile, type FileWork } from './connect.ts';
import { entryOf, isOurs, startOf } from './entries.ts';
import { inspect, isStart } from './inspect.ts';
import { pathsOf, placeOf, type Surroundings } from './places.ts';
import { connectionsIn } from './records.ts';
import { readForeign } from '../base/files/foreign-file.ts';
import { entryIn, put } from './splice.ts';
import { HOSTS, type Entry, type Host, type Scope, type Start } from './table.ts';

export type { Scope };
export type Hosts = ReturnType<typeof createHosts>;

export interface HostsParts {
  surroundings: Surroundings;
  /** The project, if there is one. */
  root: string | undefined;
  /** How the server is started. */
  start: Start;
  /** The user's folder for what the server keeps. */
  state: string;
}

/** A host in a scope, and the file that is written for it. */
export interface HostTarget {
  host: Host;
  scope: Scope;
  file: string;
}

export interface HostState extends HostTarget {
  installed: boolean;
  /** What is under our name in its file. */
  found: 'ours' | 'other' | 'none' | 'unreadable';
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
    const traces = await Promise.all(host.traces.map((trace) => pathExists(placeOf(trace, surroundings))));
    return { ...target, installed: traces.includes(true), found: await foundIn(target, file) };
  }

  async function foundIn({ host }: HostTarget, file: string): Promise<HostState['found']> {
    try {
      const text = await readForeign(file);
      const entry =
        text === undefined ? undefined : entryIn({ file, text, format: host.format, key: host.key });
      return entry === undefined ? 'none' : isOurs(entry) ? 'ours' : 'other';
    } catch (error) {
      if (error instanceof BmadError) return 'unreadable';
      throw error;
    }
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
      inside: scope === 'project' ? root : undefined,
      connections,
    };
  };

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
    connect: (targets: readonly [HostTarget, ...HostTarget[]], how: { force: boolean; dry: boolean }) =>
      connectFile(workOf(targets), how),
    disconnect: (targets: readonly [HostTarget, ...HostTarget[]], how: { force: boolean; dry: boolean }) =>
      disconnectFile(workOf(targets), how),
    /** The text that a person would write into an empty file. */
    printed({ host, scope, file }: HostTarget): string {
      return put({ file, text: '', format: host.format, key: host.key }, entryOf(host, scope, start)).text;
    },
    /**
     * What the entry in a file starts, as it is written there. The file of a project comes from its author: of the
     * variables in it only our own settings are used, since others can make Node run anything.
     */
    async written({ host, scope, file }: HostTarget): Promise<ReturnType<typeof startOf>> {
      const text = await readForeign(file);
      const found =
        text === undefined ? undefined : startOf(entryIn({ file, text, format: host.format, key: host.key }));
      return found === undefined || scope === 'user' ? found : { ...found, env: ownVariables(found.env) };
    },
    /** What the files of a host say of its entry. Nothing is started for it. */
    inspect: (target: HostTarget) => inspect(target, { surroundings, root, start }),
    /** Whether an entry starts this very server, so that nobody else's program is started for it. */
    isThisServer: (own: Start) => isStart(own, start),
  };
}

function ownVariables(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith('BMAD_')));
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
  throw new BmadError('not_found', `There is no host ${quoted(name)}.`, {
    subject: name,
    suggestions: [...new Set(near)],
    hint: `Hosts: ${HOSTS.map(({ id }) => id).join(', ')}.`,
  });
}
