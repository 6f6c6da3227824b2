import { join, sep } from 'node:path';
import { ours } from '../../base/expected.ts';
import { readState, removeTree, stateNames, writeAtomic } from '../../base/files/file-state.ts';
import { projectKey } from '../../base/files/project-key.ts';
import { jsonObject } from '../../base/parse/json.ts';
import { isTable } from '../../base/parse/parse.ts';
import type { Programs } from './programs.ts';

/** That a person allowed the programs of a project, as they were then. */
export interface TrustRecord {
  /** The real path of the project. */
  root: string;
  /** When it was allowed. */
  trusted: string;
  /** The digests of the files that say what is run. */
  files: Readonly<Record<string, string>>;
}

/** What the user's own settings say about the programs of projects. */
export interface TrustPolicy {
  rule: 'ask' | 'always' | 'never';
  /** Folders whose projects are trusted, by their real paths. */
  folders: readonly string[];
  /** Where the rule comes from, in words. */
  from: string;
}

export type Standing =
  | { allowed: true }
  /** `changed` names files that are other than when a person allowed them; nothing if nobody ever did. */
  | { allowed: false; changed: string[] | undefined };

/** Whether these programs may run: by the settings of the user, or because a person has allowed the very same ones. */
export async function standingOf(
  programs: Programs,
  { rule, folders }: TrustPolicy,
  state: string,
): Promise<Standing> {
  const { root, commands, files } = programs;
  if (commands.length === 0) return { allowed: true };
  if (rule === 'never') return { allowed: false, changed: undefined };
  if (rule === 'always' || folders.some((folder) => isBelow(root, folder))) return { allowed: true };
  const record = await trustedRecord(root, state);
  if (record === undefined) return { allowed: false, changed: undefined };
  const changed = files
    .filter(({ path, sha256, unread }) => unread === true || record.files[path] !== sha256)
    .map(({ path }) => path);
  return changed.length === 0 ? { allowed: true } : { allowed: false, changed };
}

function isBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

const FOLDER = 'trust';
const MOST = 2_000;

const placeOf = (state: string, root: string): string => join(state, FOLDER, `${projectKey(root)}.json`);

/** The record of a project. One that cannot be read is none: then a person is asked again. */
async function trustedRecord(root: string, state: string): Promise<TrustRecord | undefined> {
  const record = await recordIn(placeOf(state, root));
  return record?.root === root ? record : undefined;
}

async function recordIn(path: string): Promise<TrustRecord | undefined> {
  const text = await readState(path).catch(ours(() => undefined));
  const { root, trusted, files } = jsonObject(text ?? '') ?? {};
  if (typeof root !== 'string' || typeof trusted !== 'string' || !isTable(files)) return undefined;
  const digests = Object.entries(files).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return { root, trusted, files: Object.fromEntries(digests) };
}

/** Notes that a person allowed these programs; what was allowed of other folders of the project stays. */
export async function recordTrust({ root, files }: Programs, state: string): Promise<TrustRecord> {
  const before = await trustedRecord(root, state);
  const now = Object.fromEntries(files.map(({ path, sha256 }) => [path, sha256]));
  const record = { root, trusted: new Date().toISOString(), files: { ...before?.files, ...now } };
  await writeAtomic(placeOf(state, root), `${JSON.stringify(record, null, 2)}\n`);
  return record;
}

/** What people have allowed on this machine. */
export type Trust = ReturnType<typeof openTrust>;

export function openTrust(state: string) {
  return { all: () => allTrusted(state), revoke: (root: string) => revokeTrust(root, state) };
}

/** All projects that were allowed, by their paths. */
async function allTrusted(state: string): Promise<TrustRecord[]> {
  const folder = join(state, FOLDER);
  const names = (await stateNames(folder)).filter((name) => name.endsWith('.json')).slice(0, MOST);
  const records = await Promise.all(names.map((name) => recordIn(join(folder, name))));
  return records.filter((record) => record !== undefined).sort((a, b) => (a.root < b.root ? -1 : 1));
}

/** Takes it back; whether there was something to take back. */
async function revokeTrust(root: string, state: string): Promise<boolean> {
  if ((await trustedRecord(root, state)) === undefined) return false;
  await removeTree(placeOf(state, root));
  return true;
}
