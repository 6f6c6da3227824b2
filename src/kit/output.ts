import { join } from 'node:path';
import { attempt, orElse } from '../base/errors.ts';
import { readInside, realFolder } from '../base/files/files.ts';
import { KeptByStamp } from '../base/files/file-stamps.ts';
import { field, isTable, parseConfig, type Table, textField } from '../base/parse/parse.ts';
import { fromProject, inProject } from '../base/files/paths.ts';
import { BMAD_FOLDERS, OUTPUT_FOLDERS, ROOT_FOLDERS } from '../base/product.ts';
import { t } from '../base/text/message.ts';
import type { Kit } from './kit.ts';

const MAX_BYTES = 2_000_000;

/** Where BMAD's configuration names the output folder, the file that decides first. */
const OVERRIDES = ['custom/config.user.toml', 'custom/config.toml'];
const INSTALLED = [
  'config.user.toml',
  'config.toml',
  ...['core', 'bmm', 'bmgd', 'gds', '_memory'].map((folder) => `${folder}/config.yaml`),
];
export const CONFIG_FILES: readonly string[] = [...OVERRIDES, ...INSTALLED];

/** The folder of a project for what its agents produce, below its root: `_bmad-output`, or what its configuration names. */
export async function outputFolder({ root, folder: own }: Pick<Kit, 'root' | 'folder'>): Promise<string> {
  const usual = `${own}-output`;
  const named = (await outputFolders(root, [])).filter((folder) => folder !== '');
  let found = named[0] ?? usual;
  for (const folder of [...named, usual].toReversed())
    if ((await realFolder(join(root, folder))) !== undefined) found = folder;
  return found;
}

/**
 * Which files of a project, by their paths, are BMAD's whatever git says: those in its folders, and what
 * its agents have produced. The project's own configuration names the folder of the latter, so it is not believed any further.
 */
export async function ownFilesOf({ root, output }: Kit): Promise<(path: string) => boolean> {
  const folders: string[] = [];
  for (const sign of BMAD_FOLDERS)
    if ((await realFolder(join(root, sign))) !== undefined) folders.push(`${sign.split('/', 1)[0]}/`);
  return (path) =>
    folders.some((folder) => path.startsWith(folder)) ||
    (output !== undefined && path.startsWith(`${output}/`) && (isOutputName(output) || NOTE.test(path)));
}

/** Only this name says that nothing else is in a folder: `apps/bmad-ui` may be a program, and `.env.d` hold keys. */
export const isOutputName = (folder: string): boolean =>
  /(?:^|\/)[._]?(?:bmad|grimoire)-output$/i.test(folder);

/** What BMAD writes into any folder it is given; other documents may be what a program is made from. */
export const NOTE = /\.md$|status\.ya?ml$/i;

/** Whether the project is one of BMAD's: it has an output folder, or a folder of BMAD's own. */
export async function hasBmad({ root }: Pick<Kit, 'root'>): Promise<boolean> {
  for (const folder of [...OUTPUT_FOLDERS, ...BMAD_FOLDERS])
    if ((await realFolder(join(root, folder))) !== undefined) return true;
  return (await outputFolders(root, [])).length > 0;
}

/** The output folders that configurations of all versions name, without doubles. */
export async function outputFolders(root: string, problems: string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const value of await configured(root, 'output_folder')) {
    const path = insideProject(root, value, problems);
    if (path !== undefined) found.add(path);
  }
  return [...found];
}

/** What the configurations of all versions say for a setting of BMAD's core, the one that decides first. */
export async function configured(
  root: string,
  setting: string,
  which: 'all' | 'overrides' | 'installed' = 'all',
): Promise<string[]> {
  const files = {
    all: CONFIG_FILES,
    overrides: OVERRIDES,
    installed: INSTALLED,
  }[which];
  const found: string[] = [];
  for (const top of ROOT_FOLDERS) {
    // Most projects have one of these at most, and this is asked with every call.
    if ((await realFolder(join(root, top))) === undefined) continue;
    for (const file of files) {
      const config = await configTable(root, `${top}/${file}`);
      if (config === undefined) continue;
      const core = field(config, 'core');
      const value = textField(isTable(core) ? core : config, setting);
      if (value !== undefined) found.push(value);
    }
  }
  return found;
}

/** A configured path as one from the top of the project. */
export function insideProject(root: string, value: string, problems: string[]): string | undefined {
  if (fromProject(value.trim()) === '') return undefined;
  // Installers have left the placeholder in; what it stood for is the default.
  const path = inProject(root, value.replace('{output_folder}', '_bmad-output'));
  if (path === undefined) {
    problems.push(t`The configured output folder is outside the project and is not used.`);
    return undefined;
  }
  if (path.split('/').some((part) => part.toLowerCase() === '.git')) {
    problems.push(t`The configured output folder is one of git and is not used.`);
    return undefined;
  }
  return path;
}

/** One call asks for the same settings many times. */
const TABLES = new KeptByStamp<Table | undefined>();

/** A configuration file; one that is missing or cannot be read names nothing. */
export function configTable(root: string, path: string): Promise<Table | undefined> {
  return TABLES.read(join(root, path), async () => {
    const bytes = await readInside(root, path, MAX_BYTES);
    const value = attempt(() => parseConfig(path, bytes.toString('utf8')), orElse(undefined));
    return isTable(value) ? value : undefined;
    // One that cannot be read now may be so the next time without a change: that is not kept.
  }).catch(orElse(undefined));
}

/** Where the kit keeps the script that says whether work is done, below the folder of BMAD. */
export const CONTRACT_SCRIPT = '_config/custom/cc-verify.sh';
