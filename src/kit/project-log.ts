import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { isThereNow } from '../base/files/file-stamps.ts';
import { readState, writeAtomic, writeOnce } from '../base/files/file-state.ts';
import { projectKey } from '../base/files/paths.ts';
import { headAt } from '../base/files/repository.ts';
import type { ProgramEnvironment } from '../base/process/process.ts';
import { gitOrigin } from '../base/process/git.ts';
import { createBounded, sha256, shortDigest } from '../base/values.ts';
import { copyLines, lineFiles, type LinePlace, onlyThere } from '../lines/folders.ts';
import { LineFiles } from '../lines/files.ts';
import type { Log, SharedLog, Writer } from '../lines/line.ts';
import { type Noun, View } from '../lines/view.ts';
import { folderAt, linesPlace, type Kit, jailOf } from './kit.ts';

export interface LogSetup {
  kit: Kit;
  /** The user's folder for what has no place in a project, and the one for what can be made again. */
  state: string;
  cache: string;
  /** For git, which knows a project by its first commit. */
  env: ProgramEnvironment;
  /** Whether anything may be written. */
  writes: boolean;
}

/** A database that several machines write, where one is set: it has the lines of the project in place of its files. */
export interface SharedState {
  /** Tells caches of it from those of other places. */
  at: string;
  log(setup: LogSetup, writer: Writer, only?: string): SharedLog;
  /** What a thread needs to open the same. */
  copied(setup: LogSetup): Promise<CopiedState>;
}

export interface CopiedState {
  address: string;
  key: string;
  fingerprint: string;
}

/** Places that have had a log; more than a few come only where projects are renamed under a server. */
const MOST_KEPT = 16;

/**
 * The logs of a project: one for each place, so that a process writes one file for everything that it keeps, and one view of
 * it, so that each line is read once for all that is made of lines.
 */
export class ProjectLogs {
  readonly #known = createBounded<Log>(MOST_KEPT);
  readonly #shared = new Map<string, SharedLog>();
  readonly #views = new WeakMap<Log, View>();
  /** Where the lines are instead of in files. */
  readonly shared: SharedState | undefined;
  readonly #nouns: readonly Noun<object>[];

  constructor(shared?: SharedState, nouns: readonly Noun<object>[] = []) {
    this.shared = shared;
    this.#nouns = nouns;
  }

  /** All of a project's lines but memories, as they are now. What has ended is kept in the cache of one who may write. */
  view(place: LinePlace, setup: LogSetup): View {
    const log = this.at(place, setup);
    const at = this.shared === undefined ? '' : `-${shortDigest(this.shared.at)}`;
    const path = join(setup.cache, 'lines', `${projectKey(setup.kit.root)}${at}.json`);
    const of = JSON.stringify(this.shared?.at ?? place);
    const known = this.#views.get(log) ?? new View(log, setup.writes ? { path, of } : undefined, this.#nouns);
    this.#views.set(log, known);
    return known;
  }

  at(place: LinePlace, setup: LogSetup): Log {
    const shared = place.stays === true ? undefined : this.#inDatabase(place.only, setup);
    if (shared !== undefined) return shared;
    // One file for everything, whatever is asked for.
    const { only: _only, ...own } = place;
    const key = JSON.stringify([setup.state, setup.kit.user, own]);
    const log = this.#known.get(key) ?? new LineFiles(place, writerOf(setup));
    this.#known.set(key, log);
    return log;
  }

  /** Where other machines read long texts too; nothing where they are in files of the project. */
  texts(place: LinePlace, setup: LogSetup): SharedLog | undefined {
    return this.#inDatabase(place.only, setup);
  }

  #inDatabase(only: string | undefined, setup: LogSetup): SharedLog | undefined {
    if (this.shared === undefined) return undefined;
    const key = JSON.stringify([setup.kit.root, setup.kit.user, only]);
    const log = this.#shared.get(key) ?? this.shared.log(setup, writerOf(setup), only);
    this.#shared.set(key, log);
    return log;
  }
}

export const writerOf = ({ state, kit }: Pick<LogSetup, 'state' | 'kit'>): Writer => ({
  machine: () => machineName(state),
  by: { kind: 'local', name: kit.user },
});

/** Where the lines of a project are: all of it for one who reads and writes, and each folder by itself. */
export async function linePlaces(setup: LogSetup): Promise<{ all: LinePlace; each: LinePlace[] }> {
  const { kit } = setup;
  const { folder, owner, also } = linesPlace(kit);
  const users: LinePlace = { folder: folderAt(kit.places.memories.user), isPrivate: false };
  const projects = owner === 'project' ? folder : also;
  if (projects === undefined) return { all: users, each: [users] };
  const inside = jailOf(projects);
  const mirror = await mirrorOf(setup, projects, inside);
  const own: LinePlace = { folder: projects, inside, mirror, project: kit.root, isPrivate: true };
  if (owner === 'project') {
    const all = { ...own, also: [{ at: users.folder, inside: undefined }] };
    return { all, each: [all, users] };
  }
  const others = [
    { at: projects, inside },
    { at: mirror, inside: undefined },
  ];
  return { all: { ...users, also: others }, each: [users, own] };
}

/** The files of lines of a project as they are: git may have taken those of the project, which the mirror still has. */
export async function linesIn(setup: LogSetup) {
  const { folder, inside, mirror } = (await linePlaces(setup)).all;
  const files = (await lineFiles(folder, inside)).length;
  if (mirror === undefined) return { files, mirror: undefined };
  const only = (await onlyThere(mirror, folder, inside)).length;
  return { files, mirror: { place: mirror, files: (await lineFiles(mirror)).length, only } };
}

/** A few letters by chance that this user's lines begin with; where nothing can be kept, others each time. */
export async function machineName(state: string): Promise<string> {
  const file = join(state, 'machine');
  const known = async (): Promise<string | undefined> =>
    /^[a-z0-9]{6}$/.exec((await readState(file).catch(() => undefined))?.trim() ?? '')?.[0];
  const before = await known();
  if (before !== undefined) return before;
  const made = randomBytes(4).readUInt32BE().toString(36).padStart(6, '0').slice(-6);
  await writeOnce(file, `${made}\n`).catch(() => undefined);
  return (await known()) ?? made;
}

/** Where a user's own lines of all projects are kept once more. */
export const mirrorsIn = (state: string): string => join(state, 'mirror');

const DIGITS = 16;
/** How long git may take to find a first commit. */
const GIT_MS = 15_000;
/** What it has found: there may be no cache, and every line that is read or written asks. */
const origins = createBounded<string>(MOST_KEPT);

/**
 * The folder of the user that has this user's lines of a project once more. It goes with what the project is called and with
 * its first commit: another project that comes to stand in the same place has another one. What was written before there was
 * a commit is taken along, if the project has some of it.
 */
export async function mirrorOf(setup: LogSetup, lines: string, inside: string | undefined): Promise<string> {
  const { kit, state, writes } = setup;
  const top = join(mirrorsIn(state), projectKey(kit.root));
  const named = (origin: string): string => join(top, sha256(`${kit.app}\0${origin}`).slice(0, DIGITS));
  const origin = await originOf(setup);
  const [own, before] = [named(origin), named('')];
  if (own === before || !isThereNow(before)) return own;
  const missing = await onlyThere(before, lines, inside);
  if (missing.length === (await lineFiles(before)).length) return own;
  if (!writes) return isThereNow(own) ? own : before;
  await copyLines(before, { folder: own, isPrivate: false });
  return own;
}

/** The first commit of a project, asked for once for each commit that it is at; empty where there is none. */
async function originOf({ kit, cache, env }: Pick<LogSetup, 'kit' | 'cache' | 'env'>): Promise<string> {
  const head = await headAt(kit.root);
  if (!/^[0-9a-f]{40,64}$/.test(head)) return '';
  const file = join(cache, 'origins', projectKey(kit.root));
  const said = origins.get(file) ?? (await readState(file).catch(() => undefined)) ?? '';
  const [known, ...found] = said.split('\n');
  if (known === head) return found.join('\n');
  const asked = { env, timeoutMs: GIT_MS, signal: AbortSignal.timeout(GIT_MS) };
  const origin = (await gitOrigin(kit.root, asked)) ?? '';
  if (origin === '') return origin;
  origins.set(file, `${head}\n${origin}`);
  await writeAtomic(file, `${head}\n${origin}`).catch(() => undefined);
  return origin;
}

/** What a project is called in a database, and what tells it from another of that name. */
export async function sharedName(
  setup: LogSetup,
  named?: string,
): Promise<{ key: string; fingerprint: string }> {
  return { key: named ?? (await serverName(setup)), fingerprint: await originOf(setup) };
}

const NAME_DIGITS = 8;

/**
 * The name of a project's memories on a server that other projects use too. The one that its page gives is what BMAD's own
 * tools call it. One of a folder or of an installer may be that of another project as well, so it goes with the first commit
 * of the repository, which clones and worktrees have in common, or with the place where there is none. Once used it stays,
 * though the project becomes a repository later.
 */
export async function serverName(setup: LogSetup): Promise<string> {
  const { isNamed, app, root } = setup.kit;
  if (isNamed) return app;
  const file = join(setup.state, 'projects', projectKey(root), 'server-name');
  const used = (await readState(file).catch(() => undefined))?.trim();
  if (used?.startsWith(`${app}-`) === true) return used;
  const from = (await originOf(setup)) || `${hostname()} ${root}`;
  const name = `${app}-${sha256(from).slice(0, NAME_DIGITS)}`;
  if (setup.writes) await writeAtomic(file, `${name}\n`);
  return name;
}
