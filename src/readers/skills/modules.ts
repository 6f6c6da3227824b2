import {
  field,
  isTable,
  parseToml,
  parseYaml,
  type Table,
  tableOf,
  textField,
} from '../../base/parse/parse.ts';
import { present } from '../../base/values.ts';
import type { ModuleInfo, ModuleSetting, RosterEntry } from '../../model/module.ts';
import type { Problem } from '../../model/record.ts';
import type { Source, Tree } from '../../sources/tree.ts';
import { describedModule, readHelp } from '../help.ts';
import { parsedTable, readRows, readTable, versionField } from '../reader.ts';

/** Reads `module.yaml` and `module-help.csv`. A broken definition gives a module with nothing but its code. */
export async function readModule(
  { tree, origin }: Source,
  folder: string,
  definition: string,
  problems: Problem[],
): Promise<ModuleInfo> {
  const file = `${folder}/module.yaml`;
  const table = parsedTable(file, problems, () => parseYaml(file, definition));
  const code = textField(table, 'code') ?? folder;
  const agents = field(table, 'agents');
  return present<ModuleInfo>({
    code,
    name: textField(table, 'name') ?? code,
    description: textField(table, 'description') ?? '',
    version: versionField(table, 'module_version') ?? origin.bmadVersion,
    origin,
    settings: proposedSettings(table),
    roster: (Array.isArray(agents) ? agents : []).filter(isTable).flatMap((agent) => {
      const name = textField(agent, 'code');
      return name === undefined ? [] : [rosterEntry(agent, name, code)];
    }),
    help: await readHelp(tree, folder, problems),
  });
}

/** The modules of an install: their values as they were answered, their agents, their help. */
export async function readInstalledModules(
  { tree, origin }: Source,
  codes: readonly string[],
  manifest: InstallManifest,
  problems: Problem[],
): Promise<Map<string, ModuleInfo>> {
  const agents = tableOf(field(await readTable(tree, 'config.toml', problems, parseToml), 'agents'));
  const modules = new Map<string, ModuleInfo>();
  for (const code of codes) {
    const help = await readHelp(tree, code, problems);
    const known = await describedModule(tree, code, true, problems);
    modules.set(
      code,
      present<ModuleInfo>({
        code,
        name: help.find(({ module }) => module !== '')?.module ?? known.name,
        description: known.description,
        version: manifest.moduleVersions.get(code),
        origin,
        ofRelease: manifest.ofRelease.has(code) || undefined,
        settings: installedSettings(await readTable(tree, `${code}/config.yaml`, problems, parseYaml)),
        roster: Object.entries(agents).flatMap(([name, agent]) =>
          isTable(agent) && textField(agent, 'module') === code ? [rosterEntry(agent, name, '')] : [],
        ),
        help,
      }),
    );
  }
  return modules;
}

function isScalar(value: unknown): value is string | number | boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
}

/** A setting is a top-level table with a default and a prompt; everything else describes the module itself. */
function proposedSettings(table: Table): ModuleSetting[] {
  return Object.entries(table).flatMap(([key, value]) => {
    if (!isTable(value) || !Object.hasOwn(value, 'prompt')) return [];
    const preset = field(value, 'default');
    const result = textField(value, 'result') ?? '{value}';
    return isScalar(preset) ? [{ key, default: String(preset), result, proposed: true }] : [];
  });
}

/** Installed values are final: there is nothing left to ask. */
function installedSettings(values: Table): ModuleSetting[] {
  return Object.entries(values).flatMap(([key, value]) =>
    isScalar(value) ? [{ key, default: String(value), result: '{value}' }] : [],
  );
}

function rosterEntry(agent: Table, code: string, team: string): RosterEntry {
  const text = (name: string): string => textField(agent, name) ?? '';
  return {
    code,
    name: text('name') || code,
    title: text('title'),
    icon: text('icon'),
    team: textField(agent, 'team') ?? team,
    description: text('description'),
  };
}

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
  /** The modules that came with the release. */
  ofRelease: ReadonlySet<string>;
  skills: ReadonlyMap<string, SkillRow>;
}

/** What an installed BMAD says about itself; whatever cannot be read is a problem and counts as absent. */
export async function readInstallManifest(tree: Tree, problems: Problem[]): Promise<InstallManifest> {
  const manifest = await readTable(tree, '_config/manifest.yaml', problems, parseYaml);
  const installation = tableOf(field(manifest, 'installation'));
  const modules = field(manifest, 'modules');
  const versions = new Map<string, string>();
  const ofRelease = new Set<string>();
  for (const module of (Array.isArray(modules) ? modules : []).filter(isTable)) {
    const [name, version] = [textField(module, 'name'), textField(module, 'version')];
    if (name !== undefined && version !== undefined) versions.set(name, version);
    if (name !== undefined && textField(module, 'source') === 'built-in') ofRelease.add(name);
  }
  return {
    version: textField(installation, 'version'),
    moduleVersions: versions,
    ofRelease,
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
