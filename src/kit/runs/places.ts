import { isAbsolute, join, relative, sep } from 'node:path';
import { BmadError } from '../../base/errors.ts';
import { readInside, realFolder } from '../../base/files.ts';
import { field, isTable, ParseError, parseToml, parseYaml, textField, type Table } from '../../base/parse.ts';
import { strayPart, type Kit } from '../kit.ts';

const MAX_BYTES = 2_000_000;
const RUNS = '.runs';

/** Where BMAD's configuration names the output folder, the file that decides first. */
const CONFIGS = [
  'custom/config.user.toml',
  'custom/config.toml',
  'config.user.toml',
  'config.toml',
  '_memory/config.yaml',
  'core/config.yaml',
  'bmm/config.yaml',
];
const ROOTS = ['_bmad', 'bmad', '.bmad', '_grimoire'];

/** A folder `.runs`, seen from a folder that nothing may lead out of. */
export interface RunsFolder {
  base: string;
  path: string;
  owner: 'project' | 'user';
}

export interface RunsFolders {
  /** All that are there, the one that counts first. */
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
  const context = await table(root, 'project-context.yaml');
  const given = context === undefined ? undefined : textField(context, 'runs_directory');
  const outputs = await outputFolders(root, problems);
  const own = family === 'bmad' ? '_bmad-output' : '_grimoire-output';
  const named = given === undefined ? undefined : insideProject(root, given, problems);
  const candidates = [
    ...(named === undefined ? [] : [named]),
    ...[...outputs.map(({ path }) => path), own, '_bmad-output', '_grimoire-output', '{output_folder}'].map(
      (output) => (output === '' ? RUNS : `${output}/${RUNS}`),
    ),
  ];
  const read: RunsFolder[] = [];
  for (const path of new Set(candidates)) {
    if ((await realFolder(join(root, path))) === undefined) continue;
    const stray = await strayPart(root, path);
    if (stray === undefined) read.push({ base: root, path, owner: 'project' });
    else problems.push(`${stray} leads outside the project; runs in it are not read.`);
  }
  const user: RunsFolder = { base: userFolder, path: RUNS, owner: 'user' };
  const write = read[0] ?? ((await hasPlace(root, outputs, own)) ? here(root, candidates[0] ?? own) : user);
  if ((await realFolder(join(userFolder, RUNS))) !== undefined) read.push(user);
  return {
    read,
    write,
    problems,
    sessionBranch: context === undefined ? undefined : textField(context, 'session_branch')?.trim(),
  };
}

const here = (root: string, path: string): RunsFolder => ({ base: root, path, owner: 'project' });

/** Whether the project is one of BMAD's: it has an output folder, or a folder of BMAD's own. */
async function hasPlace(root: string, outputs: readonly unknown[], own: string): Promise<boolean> {
  if (outputs.length > 0) return true;
  for (const folder of [own, '_bmad-output', '_grimoire-output', '_bmad', '_grimoire', '.bmad-core'])
    if ((await realFolder(join(root, folder))) !== undefined) return true;
  return false;
}

/** The output folders that configurations of all versions name, without doubles. */
async function outputFolders(root: string, problems: string[]): Promise<{ path: string }[]> {
  const found = new Set<string>();
  for (const top of ROOTS) {
    for (const file of CONFIGS) {
      const config = await table(root, `${top}/${file}`);
      if (config === undefined) continue;
      const core = field(config, 'core');
      const value = textField(isTable(core) ? core : config, 'output_folder');
      const path = value === undefined ? undefined : insideProject(root, value, problems);
      if (path !== undefined) found.add(path);
    }
  }
  return [...found].map((path) => ({ path }));
}

/** A configured path as one from the top of the project. */
function insideProject(root: string, value: string, problems: string[]): string | undefined {
  const text = value.trim().replace(/^\{project[-_]root\}[\\/]?/, '');
  if (text === '') return undefined;
  // Installers have left the placeholder in; what it stood for is the default.
  const plain = text.replace('{output_folder}', '_bmad-output').replaceAll('\\', '/');
  const path = isAbsolute(plain)
    ? relative(root, plain).split(sep).join('/')
    : join(plain).split(sep).join('/');
  if (path === '..' || path.startsWith('../') || isAbsolute(path)) {
    problems.push('The output folder of the configuration is outside the project; runs in it are not read.');
    return undefined;
  }
  return path === '.' ? '' : path.replace(/\/+$/, '');
}

/** A configuration file; one that is missing or cannot be read names nothing. */
async function table(root: string, path: string): Promise<Table | undefined> {
  try {
    const text = (await readInside(root, path, MAX_BYTES)).toString('utf8');
    const value = path.endsWith('.toml') ? parseToml(path, text) : parseYaml(path, text);
    return isTable(value) ? value : undefined;
  } catch (error) {
    if (error instanceof BmadError || error instanceof ParseError) return undefined;
    throw error;
  }
}
