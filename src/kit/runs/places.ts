import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { realFolder } from '../../base/files/files.ts';
import { OUTPUT_FOLDERS } from '../../base/product.ts';
import { tableOf, textField } from '../../base/parse/parse.ts';
import { folderAt } from '../home.ts';
import { strayPart, type Kit, type StateFolder } from '../kit.ts';
import { insideProject, outputFolders } from '../output.ts';

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
  const outputs = [...(await outputFolders(root, problems)), output ?? '_bmad-output', ...OUTPUT_FOLDERS];
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
