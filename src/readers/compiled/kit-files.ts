import { entriesOf, type Install } from './install.ts';

/**
 * Markdown files in a folder of the custom kit, which keeps its agents and workflows beside the manifests. Drafts and
 * templates among them are marked by their name.
 */
export async function kitFiles(install: Install, folder: 'agents' | 'workflows'): Promise<string[]> {
  const places = [...install.configs.map((config) => `${config}/custom`), 'custom'];
  const found: string[] = [];
  for (const place of places) {
    if (!(await hasFolder(install, place, folder))) continue;
    for (const { name, kind } of await entriesOf(install.source, `${place}/${folder}`, install.problems)) {
      if (kind === 'file' && /\.md$/i.test(name) && !/tpl\.|proposed\.|template\.|readme/i.test(name))
        found.push(`${place}/${folder}/${name}`);
    }
  }
  return found;
}

/** Asked step by step, because listing a folder that is not there would be a problem. */
async function hasFolder(install: Install, path: string, folder: string): Promise<boolean> {
  const [parent = '', child] = path.split('/');
  const { source, problems, topLevel } = install;
  if (!topLevel.has(parent)) return false;
  const within = async (place: string, wanted: string): Promise<boolean> =>
    (await entriesOf(source, place, problems)).some(({ name, kind }) => kind === 'folder' && name === wanted);
  return (child === undefined || (await within(parent, child))) && within(path, folder);
}
