import { join } from 'node:path';
import { attempt, orElse } from '../base/errors.ts';
import { readInside, realFolder } from '../base/files/files.ts';
import { KeptByStamp } from '../base/files/file-stamps.ts';
import { field, isTable, parseConfig, type Table, textField } from '../base/parse/parse.ts';
import { fromProject, inProject } from '../base/files/paths.ts';
import { BMAD_FOLDERS, OUTPUT_FOLDERS, ROOT_FOLDERS } from '../base/product.ts';
import { t } from '../base/text/message.ts';

const MAX_BYTES = 2_000_000;

/** Where BMAD's configuration names the output folder, the file that decides first. */
const OVERRIDES = ['custom/config.user.toml', 'custom/config.toml'];
const INSTALLED = [
  'config.user.toml',
  'config.toml',
  ...['core', 'bmm', 'bmgd', 'gds', '_memory'].map((folder) => `${folder}/config.yaml`),
];
export const CONFIG_FILES: readonly string[] = [...OVERRIDES, ...INSTALLED];

/** What the configuration files of all versions say, the one that decides first: read once for all that is asked of them. */
export type Configuration = Awaited<ReturnType<typeof readConfiguration>>;

export async function readConfiguration(root: string) {
  const files: { isOverride: boolean; core: Table }[] = [];
  for (const top of ROOT_FOLDERS) {
    // Most projects have one of these at most, and this is asked with every call.
    if ((await realFolder(join(root, top))) === undefined) continue;
    for (const file of CONFIG_FILES) {
      const config = await configTable(root, `${top}/${file}`);
      if (config === undefined) continue;
      const core = field(config, 'core');
      files.push({ isOverride: OVERRIDES.includes(file), core: isTable(core) ? core : config });
    }
  }
  /** What is said for a setting of BMAD's core, by all of them or by some. */
  const said = (setting: string, which?: 'overrides' | 'installed'): string[] =>
    files.flatMap(({ isOverride, core }) =>
      which !== undefined && isOverride !== (which === 'overrides') ? [] : (textField(core, setting) ?? []),
    );
  return {
    said,
    /** The output folders that they name, without doubles. */
    outputs(problems: string[] = []): string[] {
      const inside = said('output_folder').flatMap((value) => insideProject(root, value, problems) ?? []);
      return [...new Set(inside)];
    },
  };
}

/** The folder of a project for what its agents produce, below its root: `_bmad-output`, or what its configuration names. */
export async function outputFolder(root: string, own: string, { outputs }: Configuration): Promise<string> {
  const usual = `${own}-output`;
  const named = outputs().filter((folder) => folder !== '');
  let found = named[0] ?? usual;
  for (const folder of [...named, usual].toReversed())
    if ((await realFolder(join(root, folder))) !== undefined) found = folder;
  return found;
}

/**
 * Which files of a project, by their paths, are BMAD's whatever git says: those in its folders, and what
 * its agents have produced. The project's own configuration names the folder of the latter, so it is not believed any further.
 */
export async function ownFilesOf({
  root,
  output,
}: {
  root: string;
  output: string | undefined;
}): Promise<(path: string) => boolean> {
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
export async function hasBmad(root: string, { outputs }: Configuration): Promise<boolean> {
  for (const folder of [...OUTPUT_FOLDERS, ...BMAD_FOLDERS])
    if ((await realFolder(join(root, folder))) !== undefined) return true;
  return outputs().length > 0;
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
