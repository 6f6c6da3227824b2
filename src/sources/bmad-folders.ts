import { t } from '../base/text/message.ts';
import { attempt, orElse } from '../base/expected.ts';
import { join } from 'node:path';
import { quoted } from '../base/errors.ts';
import { isBelow } from '../base/files/open-file.ts';
import { parseCsv } from '../base/parse/parse.ts';
import type { Disk } from './disk.ts';
import { optionalText, type Tree } from './tree.ts';

/** Folders in which assistants keep skills, in the order in which BMAD's own installers prefer them. */
export const SKILL_FOLDERS = [
  '.claude',
  '.agents',
  '.agent',
  '.adal',
  '.augment',
  '.bob',
  '.cline',
  '.codebuddy',
  '.codewhale',
  '.codex',
  '.cortex',
  '.crush',
  '.cursor',
  '.factory',
  '.firebender',
  '.gemini',
  '.github',
  '.iflow',
  '.junie',
  '.kilocode',
  '.kiro',
  '.kode',
  '.neovate',
  '.ona',
  '.opencode',
  '.pi',
  '.qoder',
  '.qwen',
  '.roo',
  '.rovodev',
  '.trae',
  '.windsurf',
  '.zcode',
  '.zencoder',
].map((folder) => `${folder}/skills`);

export type FolderShape = 'v6' | 'v4';

/** The usual names of a v6 root; others count only when they have a manifest. */
export const USUAL_ROOTS = ['_bmad', 'bmad', '.bmad', '_grimoire'];

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
  return USUAL_ROOTS.includes(name) && (await hasModules(folder, disk)) ? 'v6' : undefined;
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
      ? USUAL_ROOTS.indexOf(name) + (USUAL_ROOTS.includes(name) ? 0 : 50)
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
export async function entriesOf(
  folder: string,
  disk: Disk,
): Promise<{ name: string; kind: 'file' | 'folder' }[]> {
  return disk.entries(folder).catch(orElse([]));
}
