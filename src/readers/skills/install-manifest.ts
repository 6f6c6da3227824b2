import { field, isTable, parseYaml, tableOf, textField } from '../../base/parse/parse.ts';
import type { Problem } from '../../model/record.ts';
import { readRows, readTable } from '../reading.ts';
import { type Tree } from '../../sources/tree.ts';

/** A line of `skill-manifest.csv`: which module a skill belongs to, which since 6.3 is not where it is stored. */
interface SkillRow {
  id: string;
  module: string;
  description: string;
  /** Its folder from the BMAD root: `bmm/plan/bmad-prd`. */
  folder: string;
}

export interface InstallManifest {
  version: string | undefined;
  moduleVersions: ReadonlyMap<string, string>;
  skills: ReadonlyMap<string, SkillRow>;
}

/** What an installed BMAD says about itself; whatever cannot be read is a problem and counts as absent. */
export async function readInstallManifest(tree: Tree, problems: Problem[]): Promise<InstallManifest> {
  const manifest = await readTable(tree, '_config/manifest.yaml', problems, parseYaml);
  const installation = tableOf(field(manifest, 'installation'));
  const modules = field(manifest, 'modules');
  const versions = new Map<string, string>();
  for (const module of Array.isArray(modules) ? modules : []) {
    const [name, version] = isTable(module) ? [textField(module, 'name'), textField(module, 'version')] : [];
    if (name !== undefined && version !== undefined) versions.set(name, version);
  }
  return {
    version: textField(installation, 'version'),
    moduleVersions: versions,
    skills: await readSkillRows(tree, '_config/skill-manifest.csv', problems),
  };
}

async function readSkillRows(tree: Tree, file: string, problems: Problem[]): Promise<Map<string, SkillRow>> {
  const rows = new Map<string, SkillRow>();
  for (const { cell } of await readRows(tree, file, problems)) {
    const id = cell('canonicalId').trim();
    // The first segment is the name of the root folder; the last is SKILL.md.
    const folder = cell('path').split('/').slice(1, -1).join('/');
    const module = cell('module').trim() || 'custom';
    if (/^[\w.-]+$/.test(id)) rows.set(id, { id, module, description: cell('description'), folder });
  }
  return rows;
}
