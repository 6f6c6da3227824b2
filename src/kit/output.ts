import { join } from 'node:path';
import { readInside, realFolder } from '../base/files.ts';
import { field, isTable, parseToml, parseYaml, textField } from '../base/parse.ts';
import { strayPart, type Kit } from './kit.ts';

/** Where configurations of the different versions say it, the most specific first. */
const FILES = ['_memory/config.yaml', 'core/config.yaml', 'bmm/config.yaml', 'config.toml'];
const MAX_BYTES = 1_000_000;

/**
 * The folder of a project for what its agents produce, below its root: `_bmad-output`, or what its configuration names.
 * Nothing when the project has no BMAD at all; such a project stays clean.
 */
export async function outputFolder(kit: Kit): Promise<string | undefined> {
  const usual = `${kit.folder}-output`;
  const named = await configured(kit);
  for (const folder of [named, usual])
    if (folder !== undefined && (await realFolder(join(kit.root, folder))) !== undefined)
      return (await strayPart(kit.root, folder)) === undefined ? folder : undefined;
  if ((await realFolder(join(kit.root, kit.folder))) === undefined) return undefined;
  return (await strayPart(kit.root, named ?? usual)) === undefined ? (named ?? usual) : undefined;
}

async function configured(kit: Kit): Promise<string | undefined> {
  for (const file of FILES) {
    const path = `${kit.folder}/${file}`;
    const text = await readInside(kit.root, path, MAX_BYTES).catch(() => undefined);
    const value = text === undefined ? undefined : valueIn(path, text.toString('utf8'));
    const folder = value === undefined ? undefined : plainFolder(value);
    if (folder !== undefined) return folder;
  }
  return undefined;
}

function valueIn(path: string, text: string): string | undefined {
  try {
    const values = path.endsWith('.toml') ? parseToml(path, text) : parseYaml(path, text);
    if (!isTable(values)) return undefined;
    const core = field(values, 'core');
    return (
      textField(values, 'output_folder') ?? (isTable(core) ? textField(core, 'output_folder') : undefined)
    );
  } catch {
    // What is wrong with a configuration file is told where it is read for its own sake.
    return undefined;
  }
}

/** A folder below the project, without the placeholder for its root; nothing else counts. */
function plainFolder(value: string): string | undefined {
  const path = value
    .trim()
    .replace(/^\{project-root\}[\\/]?/, '')
    .replaceAll('\\', '/')
    .replace(/^\.\/|\/+$/g, '');
  const bad = path === '' || /[{}]|^[a-z]:|^[/~]/i.test(path) || path.split('/').includes('..');
  return bad ? undefined : path;
}
