import { attempt, orElse } from '../base/expected.ts';
import { join } from 'node:path';
import { folderNames, listInside, pathExists, realFolder } from '../base/files/files.ts';
import { parseCsv } from '../base/parse/parse.ts';
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
const USUAL_ROOTS = ['_bmad', 'bmad', '.bmad', '_grimoire'];

const MANIFESTS = ['manifest.yaml', 'agent-manifest.csv', 'skill-manifest.csv', 'workflow-manifest.csv'];

/** Whether a folder is a BMAD root, and of which kind. */
export async function shapeOf(folder: string, name: string): Promise<FolderShape | undefined> {
  for (const config of ['_config', '_cfg']) {
    for (const manifest of MANIFESTS) if (await pathExists(join(folder, config, manifest))) return 'v6';
  }
  const agents = await pathExists(join(folder, 'agents'));
  if (agents && (await pathExists(join(folder, 'install-manifest.yaml')))) return 'v4';
  if (agents && (name === '.bmad-core' || (await pathExists(join(folder, 'core-config.yaml'))))) return 'v4';
  return USUAL_ROOTS.includes(name) && (await hasModules(folder)) ? 'v6' : undefined;
}

/** A root without manifests, copied or written by hand: it has folders that look like modules. */
async function hasModules(folder: string): Promise<boolean> {
  for (const entry of await entriesOf(folder)) {
    if (entry.kind !== 'folder') continue;
    if (['_config', '_cfg', '_memory', 'custom'].includes(entry.name)) return true;
    for (const part of ['agents', 'workflows', 'tasks', 'config.yaml', 'module.yaml']) {
      if (await pathExists(join(folder, entry.name, part))) return true;
    }
  }
  return false;
}

/** The BMAD roots directly in a folder: `_bmad` first, then other v6 roots, then version 4. */
export async function rootsIn(folder: string): Promise<{ name: string; shape: FolderShape }[]> {
  const found: { name: string; shape: FolderShape }[] = [];
  // A project may keep its BMAD folder elsewhere and link to it.
  for (const name of await folderNames(folder)) {
    if (name === 'node_modules' || name === '.git') continue;
    const shape = await shapeOf(join(folder, name), name);
    if (shape !== undefined) found.push({ name, shape });
  }
  const rank = ({ name, shape }: { name: string; shape: FolderShape }): number =>
    shape === 'v6'
      ? USUAL_ROOTS.indexOf(name) + (USUAL_ROOTS.includes(name) ? 0 : 50)
      : name === '.bmad-core'
        ? 100
        : 101;
  return found.sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
}

/** The skills that belong to BMAD among those in an assistant's folder: the listed ones, else those with its prefix. */
export async function bmadSkillsIn(folder: string, listed: ReadonlySet<string>): Promise<string[]> {
  const skills = await realFolder(folder);
  if (skills === undefined) return [];
  return (await entriesOf(skills))
    .filter(
      ({ name, kind }) =>
        kind === 'folder' && (listed.has(name) || (name.startsWith('bmad') && !name.startsWith('bmad-os-'))),
    )
    .map(({ name }) => name);
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
export async function entriesOf(folder: string): Promise<{ name: string; kind: 'file' | 'folder' }[]> {
  return listInside(folder, '').catch(orElse([]));
}
