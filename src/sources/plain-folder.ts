import { join } from 'node:path';
import { entriesOf } from './bmad-folders.ts';
import type { Disk, Opener } from './disk.ts';
import type { Mount } from './mounted-tree.ts';

/** Documents that repositories have at the top and that are not agents. */
const NO_AGENT =
  /^(?:readme|changelog|license|contributing|agents|claude|gemini|security|support|governance|notice|authors|history|roadmap|todo|code_of_conduct|copilot|maintainers|upgrading|migration)\b/i;

/** How deep skills may be grouped in `skills`. */
const GROUPS = 3;

/**
 * What is in a folder that has no structure of BMAD: whether there are skills, at the top or in `skills`, and the entries
 * at the top that may be or hold agents and workflows.
 */
export async function plainContent(
  folder: string,
  disk: Disk,
): Promise<{ skills: boolean; loose: string[] }> {
  const content = { skills: false, loose: [] as string[] };
  for (const { name, kind } of await entriesOf(folder, disk)) {
    if (kind === 'file') {
      if (name.endsWith('.md') && name !== 'SKILL.md' && !NO_AGENT.test(name)) content.loose.push(name);
      continue;
    }
    if (/^[._]|^node_modules$/.test(name)) continue;
    const path = join(folder, name);
    if (
      (await disk.exists(join(path, 'SKILL.md'))) ||
      (name === 'skills' && (await hasSkills(path, GROUPS, disk)))
    )
      content.skills = true;
    else if (['agents', 'workflows', 'tasks'].includes(name) || (await holdsAgents(path, disk)))
      content.loose.push(name);
  }
  return content;
}

async function holdsAgents(folder: string, disk: Disk): Promise<boolean> {
  return (await disk.exists(join(folder, 'agents'))) || (await disk.exists(join(folder, 'workflows')));
}

async function hasSkills(folder: string, depth: number, disk: Disk): Promise<boolean> {
  for (const { name, kind } of await entriesOf(folder, disk)) {
    if (kind !== 'folder' || /^[._]|^node_modules$/.test(name)) continue;
    if (await disk.exists(join(folder, name, 'SKILL.md'))) return true;
    if (depth > 1 && (await hasSkills(join(folder, name), depth - 1, disk))) return true;
  }
  return false;
}

/**
 * A folder of skills, of agents and workflows, or of both. Skills are shown below the name of the folder, which is
 * their module; agents and workflows stay at the top, where their reader looks for them.
 */
export async function plainParts(folder: string, name: string, { disk, open }: Opener): Promise<Mount[]> {
  // Everything below a skill belongs to it.
  if (await disk.exists(join(folder, 'SKILL.md'))) return [{ at: `${name}/${name}`, tree: open(folder) }];
  const { skills, loose } = await plainContent(folder, disk);
  if (!skills) return loose.length === 0 ? [] : [{ at: '', tree: open(folder) }];
  const top = new Set(loose);
  const isLoose = (path: string): boolean => top.has(path.split('/', 1)[0] ?? '');
  const below = { at: name, tree: open(folder, (path) => !isLoose(path)) };
  return loose.length === 0 ? [below] : [{ at: '', tree: open(folder, isLoose) }, below];
}
