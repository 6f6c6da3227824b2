import { dirname, join } from 'node:path';
import type { BuiltInModule } from '../model/module.ts';
import { folderTree, optionalText, type Tree } from './tree.ts';

/** Beside the content: a folder for each module, what the readers made of it, and the list of them. */
export const modulesFolder = (contentRoot: string, maxFileBytes: number): Tree =>
  folderTree(join(dirname(contentRoot), 'modules'), maxFileBytes);

/** BMAD's further modules that come with this package; nothing where it was built without them. */
export async function builtInModules(contentRoot: string, maxFileBytes: number): Promise<BuiltInModule[]> {
  const text = await optionalText(modulesFolder(contentRoot, maxFileBytes), 'modules.json');
  return text === undefined ? [] : (JSON.parse(text) as BuiltInModule[]);
}
