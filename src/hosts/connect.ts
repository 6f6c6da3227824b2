import { t } from '../base/text/message.ts';
import { dirname, join } from 'node:path';
import { BmadError } from '../base/errors.ts';
import { readState, writeAtomic } from '../base/files/file-state.ts';
import { readForeign, removeMade } from '../base/files/file-shared.ts';
import { missingFolders } from '../base/files/file-modes.ts';
import { removeFile } from '../base/files/open-file.ts';
import { jsonObject } from '../base/parse/json.ts';
import { sha256 } from '../base/values.ts';
import {
  addedTo,
  isOurs,
  isSame,
  type Made,
  merged,
  startOf,
  startText,
  leftOut,
  takenOver,
  withAdded,
} from './entries.ts';
import { cut, entryIn, isEmpty, put, type ConfigText } from './splice.ts';
import type { Entry, Format, Scope } from './table.ts';

/** One file of one or several hosts, and the entry that belongs into it. */
export interface FileWork {
  file: string;
  scope: Scope;
  format: Format;
  key: string;
  hosts: readonly string[];
  entry: Entry;
  /** What a person has just decided on beside it, which counts before what is there. */
  more?: Entry;
  /** The folder that nothing may lead out of, for files of a project. */
  inside: string | undefined;
  connections: Connections;
}

interface FileChange {
  outcome: 'written' | 'updated' | 'unchanged' | 'removed' | 'absent' | 'shared';
  /** The file before and after; nothing where there is no file. */
  before: string | undefined;
  after: string | undefined;
  /** What the entry had that we do not write, and whether it has stayed. */
  added: { lines: readonly string[]; stays: boolean; left?: readonly string[] };
  /** Where the file as it was before is kept. */
  copy?: string;
}

const NOTHING = { lines: [], stays: false };

interface How {
  force: boolean;
  /** Only find out what would be done. */
  dry: boolean;
}

/** Puts the entry into the file, if it is not there. */
export async function connectFile(work: FileWork, { force, dry }: How): Promise<FileChange> {
  const { file, more, connections } = work;
  const entry = merged(work.entry, more);
  const before = await readForeign(file, work.inside);
  const config = configOf(work, before ?? '');
  const found = entryIn(config);
  const known = await connections.of(file);
  const hosts = [...new Set([...(known?.hosts ?? []), ...work.hosts])];
  const ours = isOurs(found) ? found : undefined;
  if (found !== undefined && ours === undefined && !force) throw foreignEntry(file, found);
  // In their own files, what people have added stays. The file of a project comes from its author, who can have anything
  // started by a variable, a folder or an address beside our command line. Somebody else's entry is replaced, and comes back
  // in the end; in people's own files its sources and variables are taken over, and in a project's they are named.
  const stays = work.scope === 'user' || force;
  const isOwnFile = work.scope === 'user';
  const former = ours ?? takenOver(found);
  const keeps = ours === undefined ? isOwnFile : stays;
  const wanted = former !== undefined && keeps ? merged(withAdded(entry, former), more) : entry;
  const added =
    former === undefined ? NOTHING : { lines: addedTo(entry, keeps ? wanted : former), stays: keeps };
  const left = ours === undefined && found !== undefined ? leftOut(found) : [];
  if (ours !== undefined && isSame(ours, wanted)) {
    if (!dry && known !== undefined && hosts.length > known.hosts.length)
      await connections.keep({ ...known, hosts }, undefined);
    return { outcome: 'unchanged', before, after: before, added };
  }
  const base = found === undefined ? before : await baseOf(work, config, known);
  // The file as it was before may hold somebody else's entry, which ours takes the place of.
  const room = configOf(work, base ?? '');
  const free = entryIn(room) === undefined ? room : configOf(work, cut(room, undefined));
  const { text: after, made } = put(free, wanted);
  const change: FileChange = {
    outcome: found === undefined ? 'written' : 'updated',
    before,
    after,
    added: left.length === 0 ? added : { ...added, left },
  };
  if (dry) return change;
  const kept = ours !== undefined || found === undefined ? base : before;
  const connection: Connection = {
    file,
    hosts,
    scope: work.scope,
    created: before === undefined || (known?.created === true && base === undefined),
    folders: before === undefined ? missingFolders(dirname(file)) : (known?.folders ?? []),
    made,
    after: sha256(after),
  };
  // First the way back, then the change.
  await connections.keep(connection, kept);
  await replaced(work, before, after);
  return { ...change, ...(kept === undefined ? {} : { copy: connections.copy(file) }) };
}

/** Takes the entry out of the file; what was made for it goes with it. */
export async function disconnectFile(work: FileWork, { force, dry }: How): Promise<FileChange> {
  const { file, connections } = work;
  const before = await readForeign(file, work.inside);
  const known = await connections.of(file);
  const config = configOf(work, before ?? '');
  const found = before === undefined ? undefined : entryIn(config);
  if (found === undefined) {
    // Somebody has removed it by hand.
    if (!dry && known !== undefined) await connections.forget(file);
    return { outcome: 'absent', before, after: before, added: NOTHING };
  }
  if (!isOurs(found) && !force) throw foreignEntry(file, found);
  const others = (known?.hosts ?? []).filter((id) => !work.hosts.includes(id));
  if (known !== undefined && others.length > 0) {
    if (!dry) await connections.keep({ ...known, hosts: others }, undefined);
    return { outcome: 'shared', before, after: before, added: NOTHING };
  }
  const after = await baseOf(work, config, known);
  if (dry) return { outcome: 'removed', before, after, added: NOTHING };
  if (after === undefined) await removeMade(file, known?.folders ?? [], work.inside);
  else await replaced(work, before, after);
  await connections.forget(file);
  return { outcome: 'removed', before, after, added: NOTHING };
}

/** The file without the entry: as it was before, if nothing else has changed since; nothing if it was made for it. */
async function baseOf(
  { connections }: FileWork,
  config: ConfigText,
  known: Connection | undefined,
): Promise<string | undefined> {
  if (known !== undefined && known.after === sha256(config.text))
    return known.created ? undefined : await connections.before(config.file);
  const text = cut(config, known?.made);
  return known?.created === true && isEmpty({ ...config, text }) ? undefined : text;
}

/** A host that is running writes its file too. */
async function replaced(work: FileWork, before: string | undefined, after: string): Promise<void> {
  const { file, inside } = work;
  if ((await readForeign(file, inside)) !== before)
    throw new BmadError('conflict', t`${file} has just been changed by another program; it is unchanged.`, {
      subject: file,
      hint: t`Close the host, then try again.`,
    });
  await writeAtomic(file, after, { inside });
}

const configOf = ({ file, format, key }: FileWork, text: string): ConfigText => ({ file, format, key, text });

function foreignEntry(file: string, found: unknown): BmadError {
  const { env = {} } = startOf(found) ?? {};
  const names = Object.keys(env);
  const what = t`"bmad" in ${file} is not ours: it starts ${startText(found)}${names.length === 0 ? '' : t` with ${names.join(', ')}`}. It is unchanged.`;
  return new BmadError('conflict', what, {
    subject: file,
    hint: t`Rename that entry, or replace it with --force.`,
  });
}

/** What was done to a file, so that it can be undone to the byte. */
interface Connection {
  file: string;
  /** The hosts that read it and were asked for. */
  hosts: string[];
  scope: 'user' | 'project';
  /** Whether the file did not exist before. */
  created: boolean;
  /** The folders that were made for it, the outermost first. */
  folders: string[];
  made: Made;
  /** Digest of the file as it was written: only if it is still that, the copy of what was before can be put back. */
  after: string;
  /** That of a file that is wholly ours, as it was written the time before. */
  former?: string;
}

export type Connections = ReturnType<typeof connectionsIn>;

/** Notes and copies are in the user's own folder: configurations of hosts hold tokens. */
export function connectionsIn(state: string) {
  const folder = join(state, 'hosts');
  const note = (file: string): string => join(folder, `${sha256(file).slice(0, 24)}.json`);
  const copy = (file: string): string => join(folder, `${sha256(file).slice(0, 24)}.before`);
  return {
    copy,
    async of(file: string): Promise<Connection | undefined> {
      const found = jsonObject((await readState(note(file))) ?? '');
      return found?.['file'] === file ? (found as unknown as Connection) : undefined;
    },
    /** What the file was before, as it will be again. */
    before: (file: string): Promise<string | undefined> => readState(copy(file)),
    async keep(connection: Connection, before: string | undefined): Promise<void> {
      if (before !== undefined) await writeAtomic(copy(connection.file), before, { mode: 0o600 });
      await writeAtomic(note(connection.file), `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600 });
    },
    async forget(file: string): Promise<void> {
      await removeFile(note(file));
      await removeFile(copy(file));
    },
  };
}
