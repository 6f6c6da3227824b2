import { join, sep } from 'node:path';
import { mapLimited } from '../../base/async.ts';
import { orElse } from '../../base/errors.ts';
import { changeMark } from '../../base/files/file-stamps.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { type FolderEntry, listInside, realFolder } from '../../base/files/files.ts';
import { tableOf, textField } from '../../base/parse/parse.ts';
import { OUTPUT_FOLDERS } from '../../base/product.ts';
import { t } from '../../base/text/message.ts';
import type { RunPlace } from '../../model/run.ts';
import { folderAt, type Kit, type StateFolder, strayPart } from '../kit.ts';
import { insideProject, readConfiguration } from '../configuration.ts';
import { RUN_FILES } from './read-run.ts';

export const ARCHIVE = 'archive';
const AT_ONCE = 16;

/** Run ids are folder names, nothing more: existing ones need not follow a pattern. */
export function isRunId(id: string): boolean {
  return (
    id.length <= 120 &&
    /^[\p{L}\p{N}_][\p{L}\p{N}_. -]*$/u.test(id) &&
    !id.includes('..') &&
    !/[. ]$/.test(id)
  );
}

export const hasFile = ({ base, path }: RunPlace, file: string): boolean =>
  changeMark(join(base, path, file)) !== undefined;

export const hasRunFile = (place: RunPlace): boolean => RUN_FILES.some((file) => hasFile(place, file));

/** The folder of this very name: some disks find it by another spelling too. */
export async function namedFolder(place: RunPlace, id: string): Promise<string[]> {
  if (!isRunId(id)) return [];
  const folder = join(place.base, place.path, id);
  if (changeMark(folder) === undefined) return [];
  const isExact = (await realFolder(folder))?.endsWith(`${sep}${id}`) === true;
  return isExact || (await namesIn(place)).includes(id) ? [id] : [];
}

/** Whether a folder in a branch may hold a run. */
export const mayHoldRun = (name: string): boolean => !name.startsWith('.');

/** Those that do: they have one of its files. */
export async function runFoldersIn(place: RunPlace): Promise<string[]> {
  const names = (await foldersIn(place.base, place.path)).filter(mayHoldRun);
  const held = await mapLimited(names, AT_ONCE, async (name) =>
    (await entriesOf({ base: place.base, path: `${place.path}/${name}` })).some((entry) =>
      RUN_FILES.includes(entry.name),
    ),
  );
  return names.filter((_, index) => held[index]);
}

async function namesIn({ base, path }: RunPlace): Promise<string[]> {
  return stateNames(join(base, path), base).catch(orElse<string[]>([]));
}

async function entriesOf({ base, path }: RunPlace, leftOut?: (name: string) => void): Promise<FolderEntry[]> {
  return listInside(base, path, { leftOut }).catch(orElse([]));
}

/** The folders in a folder. The jail leaves out links that point outside; they are reported. */
export async function foldersIn(base: string, path: string, problems?: string[]): Promise<string[]> {
  return problems === undefined
    ? namesOf(await entriesOf({ base, path }))
    : (await listFolders(base, path, problems)).names;
}

/** The same, and whether nothing in it leads anywhere else: then only a change of the folder changes the names. */
export async function listFolders(
  base: string,
  path: string,
  problems: string[],
): Promise<{ names: string[]; plain: boolean }> {
  const left: string[] = [];
  const entries = await entriesOf({ base, path }, (name) => left.push(name));
  // Drafts and locks of writers come and go between two looks.
  for (const name of left.filter((each) => !each.startsWith('.') && !each.endsWith('.tmp')).sort())
    problems.push(t`${path}/${JSON.stringify(name).slice(1, -1)} points elsewhere and is not read.`);
  return { names: namesOf(entries), plain: left.length === 0 && entries.every(({ link }) => link !== true) };
}

const namesOf = (entries: readonly FolderEntry[]): string[] =>
  entries.filter(({ kind }) => kind === 'folder').map(({ name }) => name);

const RUNS = '.runs';

export interface RunsFolders {
  /** All that exist, the one in use first. */
  read: StateFolder[];
  /** Where new runs go; it may have to be made. */
  write: StateFolder;
  /** The one in the project, there or not. */
  own: StateFolder;
  problems: string[];
  /** The branch that project-context.yaml names. */
  sessionBranch: string | undefined;
}

/** Where a project keeps its runs: in its output folder, whatever that is called, or with the user. Both are read. */
export async function runsFolders({ root, home, output, page, places }: Kit): Promise<RunsFolders> {
  const problems: string[] = [];
  const context = tableOf(page.value);
  const given = textField(context, 'runs_directory');
  const named = given === undefined ? undefined : insideProject(root, given, problems);
  const configured = await readConfiguration(root);
  const outputs = [...configured.outputs(problems), output ?? '_bmad-output', ...OUTPUT_FOLDERS];
  const candidates = [
    ...(named === undefined ? [] : [named]),
    ...[...outputs, '{output_folder}'].map((folder) => (folder === '' ? RUNS : `${folder}/${RUNS}`)),
  ];
  const read: StateFolder[] = [];
  for (const path of new Set(candidates)) {
    if ((await realFolder(join(root, path))) === undefined) continue;
    const stray = await strayPart(root, path);
    if (stray === undefined) read.push({ base: root, path, owner: 'project' });
    else problems.push(t`${stray} points outside the project; runs in it are not read.`);
  }
  const { user } = places.runs;
  const own = read[0] ?? { base: root, path: candidates[0] ?? RUNS, owner: 'project' };
  if ((await realFolder(folderAt(user))) !== undefined) read.push(user);
  return {
    read: home === 'user' ? read.toSorted((a) => (a === user ? -1 : 0)) : read,
    write: home === 'user' ? user : own,
    own,
    problems,
    sessionBranch: textField(context, 'session_branch')?.trim(),
  };
}
