import { noted } from '../../base/expected.ts';
import type { Problem } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import { SKILL_MANIFEST } from './bare.ts';
import { readShims, type Shims } from './shims.ts';

/** The skill folders below a folder, and those of which there is only a manifest. Everything below a skill belongs to it, even a folder with another SKILL.md. */
export async function findSkills(
  tree: Tree,
  start: string,
  problems: Problem[],
): Promise<{ folders: string[]; bare: string[]; shims: Shims }> {
  const folders: string[] = [];
  const bare: string[] = [];
  const shims: Shims = new Map();
  async function visit(folder: string): Promise<void> {
    const entries = await tree.list(folder).catch(noted(problems, folder, []));
    const has = (name: string): boolean =>
      entries.some((entry) => entry.kind === 'file' && entry.name === name);
    if (has('SKILL.md')) {
      folders.push(folder);
      return;
    }
    if (has(SKILL_MANIFEST)) bare.push(folder);
    if (folder.endsWith('-shims')) await readShims(tree, folder, shims, problems);
    for (const entry of entries) {
      if (entry.kind === 'folder' && entry.link !== true && !/^[._]/.test(entry.name))
        await visit(`${folder}/${entry.name}`);
    }
  }
  await visit(start);
  return { folders, bare, shims };
}
