import { join } from 'node:path';
import { realFolder } from '../../base/files/files.ts';
import { textField } from '../../base/parse/parse.ts';
import { strayPart, type Kit } from '../kit.ts';
import { configTable, hasBmad, insideProject, outputFolders } from '../output.ts';

const RUNS = '.runs';

/** A folder `.runs`, seen from a folder that nothing may lead out of. */
export interface RunsFolder {
  base: string;
  path: string;
  owner: 'project' | 'user';
}

export interface RunsFolders {
  /** All that exist, the one in use first. */
  read: RunsFolder[];
  /** Where new runs go; it may have to be made. */
  write: RunsFolder;
  problems: string[];
  /** The branch that project-context.yaml names. */
  sessionBranch: string | undefined;
}

/**
 * Where a project keeps its runs: in its output folder, whatever that is called. A project without BMAD stays clean; its
 * runs are kept in the folder of the user that is given.
 */
export async function runsFolders(kit: Kit, userFolder: string): Promise<RunsFolders> {
  const { root, family } = kit;
  const problems: string[] = [];
  const context = await configTable(root, 'project-context.yaml');
  const given = context === undefined ? undefined : textField(context, 'runs_directory');
  const outputs = await outputFolders(root, problems);
  const own = family === 'bmad' ? '_bmad-output' : '_grimoire-output';
  const named = given === undefined ? undefined : insideProject(root, given, problems);
  const candidates = [
    ...(named === undefined ? [] : [named]),
    ...[...outputs, own, '_bmad-output', '_grimoire-output', '{output_folder}'].map((output) =>
      output === '' ? RUNS : `${output}/${RUNS}`,
    ),
  ];
  const read: RunsFolder[] = [];
  for (const path of new Set(candidates)) {
    if ((await realFolder(join(root, path))) === undefined) continue;
    const stray = await strayPart(root, path);
    if (stray === undefined) read.push({ base: root, path, owner: 'project' });
    else problems.push(`${stray} points outside the project; runs in it are not read.`);
  }
  const user: RunsFolder = { base: userFolder, path: RUNS, owner: 'user' };
  const home = kit.home ?? (read.length > 0 || (await hasBmad(kit)) ? 'project' : 'user');
  const write = home === 'user' ? user : (read[0] ?? here(root, candidates[0] ?? own));
  if ((await realFolder(join(userFolder, RUNS))) !== undefined) read.push(user);
  return {
    read,
    write,
    problems,
    sessionBranch: context === undefined ? undefined : textField(context, 'session_branch')?.trim(),
  };
}

const here = (root: string, path: string): RunsFolder => ({ base: root, path, owner: 'project' });
