import { basename, dirname, join } from 'node:path';
import { expected } from '../base/expected.ts';
import { withoutEnd } from '../base/text/ends.ts';
import type { Disk } from './disk.ts';

export interface ModuleFolder {
  /** The name under which it appears. */
  at: string;
  /** Where it is, from the folder that was looked at. */
  path: string;
}

/** What a module's folder is called: `src/bmm-skills` is `bmm`. */
export function moduleFolderName(path: string): string {
  return basename(path).replace(/-skills$/, '');
}

/** A text as the name of a module, which is also a folder of the content; nothing when nothing is left of it. */
export function moduleName(text: string): string | undefined {
  const name = withoutEnd(text.replace(/[^\p{L}\p{N}_.-]+/gu, '-').replace(/^[._-]+/, ''), '.-');
  return name === '' ? undefined : name.slice(0, 100);
}

/** The name for the content of a folder; what is called `skills` or `.claude` goes by the name of what it is in. */
export function nameOfFolder(folder: string): string {
  const name = basename(folder);
  const parent = dirname(folder);
  if (/^(?:\.|skills$|src$)/.test(name) && parent !== folder && basename(parent) !== '')
    return nameOfFolder(parent);
  return moduleName(name) ?? 'custom';
}

/**
 * The modules in a checkout or package: a folder with `module.yaml` is one. Repositories keep it at the top, in `src`,
 * in `skills`, or, as BMAD's own package does, in one folder of `src` for each module.
 */
export async function moduleFoldersIn(folder: string, name: string, disk: Disk): Promise<ModuleFolder[]> {
  for (const path of ['', 'src', 'skills']) {
    if (await disk.exists(join(folder, path, 'module.yaml'))) return [{ at: name, path }];
  }
  const found: ModuleFolder[] = [];
  for (const parent of ['', 'src', 'modules', 'src/modules']) {
    for (const child of await foldersIn(join(folder, parent), disk)) {
      const path = parent === '' ? child : `${parent}/${child}`;
      if (await disk.exists(join(folder, path, 'module.yaml')))
        found.push({ at: moduleFolderName(path), path });
    }
  }
  return found;
}

async function foldersIn(folder: string, disk: Disk): Promise<string[]> {
  const entries = await disk.entries(folder).catch(expected(() => []));
  return entries
    .filter(({ name, kind }) => kind === 'folder' && !/^[._]|^node_modules$/.test(name))
    .map(({ name }) => name);
}
