import { ROOT_FOLDERS } from '../base/product.ts';
import skillFolders from '../../assets/names/skill-folders.json' with { type: 'json' };
import { basename, dirname, join } from 'node:path';
import { attempt, expected, orElse, quoted } from '../base/errors.ts';
import { isBelow } from '../base/files/open-file.ts';
import { parseCsv } from '../base/parse/parse.ts';
import { t } from '../base/text/message.ts';
import { withoutEnd } from '../base/text/text.ts';
import { type Disk, type Opener, optionalText, type Tree, type Mount } from './tree.ts';

/** Folders in which assistants keep skills, in the order in which BMAD's own installers prefer them. */
export const SKILL_FOLDERS = skillFolders.map((folder) => `${folder}/skills`);

type FolderShape = 'v6' | 'v4';

const MANIFESTS = ['manifest.yaml', 'agent-manifest.csv', 'skill-manifest.csv', 'workflow-manifest.csv'];

/** What a folder is by what it says of itself, whatever it is called. */
async function statedShape(folder: string, disk: Disk): Promise<FolderShape | undefined> {
  for (const config of ['_config', '_cfg']) {
    for (const manifest of MANIFESTS) if (await disk.exists(join(folder, config, manifest))) return 'v6';
  }
  if (!(await disk.exists(join(folder, 'agents')))) return undefined;
  for (const file of ['install-manifest.yaml', 'core-config.yaml'])
    if (await disk.exists(join(folder, file))) return 'v4';
  return undefined;
}

/** Whether a folder is a BMAD root, and of which kind. */
export async function shapeOf(folder: string, name: string, disk: Disk): Promise<FolderShape | undefined> {
  const stated = await statedShape(folder, disk);
  if (stated !== undefined) return stated;
  if (name === '.bmad-core' && (await disk.exists(join(folder, 'agents')))) return 'v4';
  return ROOT_FOLDERS.includes(name) && (await hasModules(folder, disk)) ? 'v6' : undefined;
}

/** A root without manifests, copied or written by hand: it has folders that look like modules. */
async function hasModules(folder: string, disk: Disk): Promise<boolean> {
  for (const entry of await entriesOf(folder, disk)) {
    if (entry.kind !== 'folder') continue;
    if (['_config', '_cfg', '_memory', 'custom'].includes(entry.name)) return true;
    for (const part of ['agents', 'workflows', 'tasks', 'config.yaml', 'module.yaml']) {
      if (await disk.exists(join(folder, entry.name, part))) return true;
    }
  }
  return false;
}

/**
 * Where a BMAD folder of a project is. A project may keep it elsewhere and link to it; but whoever writes the project
 * chooses where such a link leads, so it has to lead to a folder that says itself that it is BMAD's, and not to one that
 * holds the project.
 */
export async function bmadPlace(project: string, name: string, disk: Disk): Promise<string | undefined> {
  const place = await disk.realFolder(join(project, name));
  if (place === undefined || isBelow(place, project)) return undefined;
  return isBelow(project, place) || (await statedShape(place, disk)) !== undefined ? place : undefined;
}

interface BmadRoot {
  name: string;
  shape: FolderShape;
  /** Its real path, if it is elsewhere. */
  elsewhere?: string;
}

/**
 * The BMAD roots directly in a folder, which is given by its real path: `_bmad` first, then other v6 roots, then version
 * 4. `warn` hears of links that are not followed.
 */
export async function rootsIn(
  folder: string,
  disk: Disk,
  warn: (message: string) => void,
): Promise<BmadRoot[]> {
  const found: BmadRoot[] = [];
  for (const name of await disk.folderNames(folder)) {
    if (name === 'node_modules' || name === '.git') continue;
    const shape = await shapeOf(join(folder, name), name, disk);
    if (shape === undefined) continue;
    const place = await bmadPlace(folder, name, disk);
    if (place === undefined)
      warn(
        t`${quoted(name)} is a link to a folder outside that is not a BMAD installation, and is not followed; name the folder with --path to use it`,
      );
    else found.push({ name, shape, ...(isBelow(folder, place) ? {} : { elsewhere: place }) });
  }
  const rank = ({ name, shape }: { name: string; shape: FolderShape }): number =>
    shape === 'v6'
      ? ROOT_FOLDERS.indexOf(name) + (ROOT_FOLDERS.includes(name) ? 0 : 50)
      : name === '.bmad-core'
        ? 100
        : 101;
  return found.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

/**
 * The skills that belong to BMAD among those in an assistant's folder: the listed ones, else those with its prefix, each
 * with its place. Where the folder is a link that leads out of `top`, only what is a skill counts.
 */
export async function bmadSkillsIn(
  folder: string,
  listed: ReadonlySet<string>,
  top: string,
  disk: Disk,
): Promise<{ name: string; place: string }[]> {
  const skills = await disk.realFolder(folder);
  if (skills === undefined) return [];
  const away = !isBelow(top, skills);
  const found: { name: string; place: string }[] = [];
  for (const { name, kind } of await entriesOf(skills, disk)) {
    const isOurs = listed.has(name) || (name.startsWith('bmad') && !name.startsWith('bmad-os-'));
    if (kind !== 'folder' || !isOurs) continue;
    if (!away) found.push({ name, place: join(folder, name) });
    else if (await disk.isFile(join(skills, name), 'SKILL.md'))
      found.push({ name, place: join(skills, name) });
  }
  return found;
}

/** The ids of the skills an install lists in its manifest. */
export async function listedSkills(root: Tree): Promise<Set<string>> {
  const file = '_config/skill-manifest.csv';
  const text = (await optionalText(root, file).catch(orElse(''))) ?? '';
  const [header = [], ...rows] = attempt(() => parseCsv(file, text), orElse([]));
  const column = Math.max(0, header.indexOf('canonicalId'));
  return new Set(rows.flatMap((row) => row[column] ?? []).filter((id) => /^[\w.-]+$/.test(id)));
}

/** What is in a folder; nothing when it cannot be read. */
async function entriesOf(folder: string, disk: Disk): Promise<{ name: string; kind: 'file' | 'folder' }[]> {
  return disk.entries(folder).catch(orElse([]));
}

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

interface ModuleFolder {
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
