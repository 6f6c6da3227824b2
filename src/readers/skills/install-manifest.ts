import { BmadError } from '../../base/errors.ts';
import { field, isTable, ParseError, parseCsv, parseYaml, textField } from '../../base/parse/parse.ts';
import { present } from '../../base/present.ts';
import type { Problem } from '../../model/record.ts';
import { optionalText, type Tree } from '../../sources/tree.ts';

/** A line of `skill-manifest.csv`: which module a skill belongs to, which since 6.3 is not where it is stored. */
export interface SkillRow {
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
  const manifest = await attempt('_config/manifest.yaml', problems, async (file) => {
    const text = await optionalText(tree, file);
    return text === undefined ? undefined : parseYaml(file, text);
  });
  const installation = isTable(manifest) ? field(manifest, 'installation') : undefined;
  const modules = isTable(manifest) ? field(manifest, 'modules') : undefined;
  const versions = new Map<string, string>();
  for (const module of Array.isArray(modules) ? modules : []) {
    const [name, version] = isTable(module) ? [textField(module, 'name'), textField(module, 'version')] : [];
    if (name !== undefined && version !== undefined) versions.set(name, version);
  }
  return {
    version: isTable(installation) ? textField(installation, 'version') : undefined,
    moduleVersions: versions,
    skills:
      (await attempt('_config/skill-manifest.csv', problems, (file) => readSkillRows(tree, file))) ??
      new Map(),
  };
}

async function readSkillRows(tree: Tree, file: string): Promise<Map<string, SkillRow>> {
  const rows = new Map<string, SkillRow>();
  const text = await optionalText(tree, file);
  if (text === undefined) return rows;
  const [header = [], ...lines] = parseCsv(file, text);
  const column = (name: string): number => header.findIndex((cell) => cell.trim().toLowerCase() === name);
  const [id, module, description, path] = ['canonicalid', 'module', 'description', 'path'].map(column) as [
    number,
    number,
    number,
    number,
  ];
  for (const line of lines) {
    const name = line[id]?.trim() ?? '';
    // The first segment is the name of the root folder; the last is SKILL.md.
    const folder = (line[path] ?? '').split('/').slice(1, -1).join('/');
    if (/^[\w.-]+$/.test(name))
      rows.set(name, {
        id: name,
        module: line[module]?.trim() || 'custom',
        description: line[description] ?? '',
        folder,
      });
  }
  return rows;
}

async function attempt<T>(
  file: string,
  problems: Problem[],
  read: (file: string) => Promise<T>,
): Promise<T | undefined> {
  try {
    return await read(file);
  } catch (error) {
    if (!(error instanceof BmadError || error instanceof ParseError)) throw error;
    const line = error instanceof ParseError ? error.line : undefined;
    problems.push(present<Problem>({ file, line, message: error.message }));
    return undefined;
  }
}
