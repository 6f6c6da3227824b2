import { basename, join } from 'node:path';
import { listInside, pathExists } from '../base/files.ts';
import { BmadError } from '../base/errors.ts';

/**
 * The modules in a checkout or package: a folder with `module.yaml` is one. Repositories keep it at the top, in `src`,
 * in `skills`, or, as BMAD's own package does, in one folder of `src` for each module.
 */
export async function moduleFoldersIn(folder: string): Promise<{ at: string; path: string }[]> {
  for (const path of ['', 'src', 'skills']) {
    if (await pathExists(join(folder, path, 'module.yaml'))) return [{ at: basename(folder), path }];
  }
  const found: { at: string; path: string }[] = [];
  for (const parent of ['', 'src', 'modules', 'src/modules']) {
    for (const name of await foldersIn(join(folder, parent))) {
      const path = parent === '' ? name : `${parent}/${name}`;
      if (await pathExists(join(folder, path, 'module.yaml')))
        found.push({ at: name.replace(/-skills$/, ''), path });
    }
  }
  return found;
}

async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await listInside(folder, '');
    return entries
      .filter(({ name, kind }) => kind === 'folder' && !/^[._]|^node_modules$/.test(name))
      .map(({ name }) => name);
  } catch (error) {
    if (error instanceof BmadError) return [];
    throw error;
  }
}
