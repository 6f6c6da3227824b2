import { quoted } from '../../base/errors.ts';
import { type CsvRow, field, type Table } from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import { cut } from '../../base/text/text.ts';
import { present } from '../../base/values.ts';
import type { ModuleInfo, ModuleSetting, RosterEntry } from '../../model/module.ts';
import { describedModule, readHelp } from '../help.ts';
import { type Install, moduleVersionIn, type Shelf } from './install.ts';
import { descriptionText, isOfSkill, nameText, readRows, readYaml, stemOf, treePath } from './manifests.ts';

/** The modules of an install: the listed ones, those on disk, and `custom` where the custom kit has agents. */
export async function readModules(install: Install, shelf: Shelf): Promise<ModuleInfo[]> {
  const rosters = await readRosters(install, shelf);
  const { source, problems } = install;
  const nameAt = (written: string): string | undefined => {
    const path = treePath(install, written);
    return path === undefined ? undefined : shelf.at(path)?.name;
  };
  const modules: ModuleInfo[] = [];
  for (const code of moduleCodes(install, shelf)) {
    const onDisk = install.moduleFolders.includes(code);
    const module = present<ModuleInfo>({
      code,
      ...(await describedModule(source.tree, code, onDisk, problems)),
      version: moduleVersionIn(install, code),
      origin: source.origin,
      settings: onDisk ? settingsOf(await readYaml(source, `${code}/config.yaml`, problems)) : [],
      roster: rosters.get(code) ?? [],
      help: onDisk ? await readHelp(source.tree, code, problems, nameAt) : [],
    });
    if (isEmpty(module, shelf))
      problems.push({
        file: `${install.configs[0] ?? ''}/manifest.yaml`,
        message: t`the module ${quoted(code)} is listed and has no content`,
        mild: true,
      });
    else modules.push(module);
  }
  return modules;
}

/** Overrides of a project are kept in a folder that some manifests take for a module. */
function isEmpty({ code, settings, roster, help }: ModuleInfo, { records }: Shelf): boolean {
  const has = settings.length + roster.length + help.length > 0;
  return code === 'custom' && !has && !records.some(({ moduleName }) => moduleName === code);
}

/**
 * Without manifests a folder is a module by its records. One with a `module.yaml` that no installer has touched is in
 * the shape of BMAD's package, and another reader describes it.
 */
function moduleCodes(install: Install, shelf: Shelf): string[] {
  const codes = new Set(shelf.records.filter(({ exists }) => exists).map(({ moduleName }) => moduleName));
  if (install.configs.length > 0)
    for (const code of [...install.listedModules.keys(), ...install.moduleFolders]) codes.add(code);
  return [...codes]
    .filter((code) => !install.known.has(`${code}/module.yaml`) || install.known.has(`${code}/config.yaml`))
    .sort();
}

/** Installed values are final: there is nothing left to ask. */
function settingsOf(values: Table): ModuleSetting[] {
  return Object.keys(values).flatMap((key) => {
    const text = settingText(field(values, key));
    return text === undefined ? [] : [{ key, default: text, result: '{value}' }];
  });
}

const SETTING_LENGTH = 2_000;

function settingText(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map((item) => settingText(item) ?? '').join(', ');
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? cut(String(value), SETTING_LENGTH)
    : undefined;
}

/** The agents as the manifest describes them to each other. Lines left over from an earlier version do not count. */
async function readRosters(install: Install, shelf: Shelf): Promise<Map<string, RosterEntry[]>> {
  const skills = new Set<string>();
  for (const config of install.configs)
    for (const row of await readRows(install, `${config}/skill-manifest.csv`))
      skills.add(row.cell('canonicalId'));
  const rosters = new Map<string, RosterEntry[]>();
  const seen = new Set<string>();
  for (const config of install.configs) {
    for (const row of await readRows(install, `${config}/agent-manifest.csv`)) {
      const path = treePath(install, row.cell('path').trim());
      const code = path === undefined ? undefined : codeOf(install, shelf, skills, row, path);
      const module = nameText(row.cell('module'));
      if (code === undefined || module === undefined || seen.has(`${module}/${code}`)) continue;
      seen.add(`${module}/${code}`);
      rosters.set(module, [...(rosters.get(module) ?? []), entryOf(row, module, code)]);
    }
  }
  return rosters;
}

/** The name of the agent a line is about; nothing when it is gone. From 6.2.1 on the path is the folder of a skill. */
function codeOf(
  install: Install,
  shelf: Shelf,
  skills: ReadonlySet<string>,
  row: CsvRow,
  path: string,
): string | undefined {
  const name = nameText(row.cell('name')) ?? stemOf(path);
  return shelf.at(path)?.name ?? (isOfSkill(install, path) || skills.has(name) ? name : undefined);
}

function entryOf(row: CsvRow, module: string, code: string): RosterEntry {
  const persona = [row.cell('identity'), row.cell('communicationStyle')]
    .filter((part) => part !== '')
    .join(' ');
  return {
    code,
    name: nameText(row.cell('displayName')) ?? code,
    title: nameText(row.cell('title')) ?? '',
    icon: nameText(row.cell('icon')) ?? '',
    team: module,
    description:
      descriptionText(row.cell('description')) ??
      descriptionText(persona) ??
      descriptionText(row.cell('role')) ??
      '',
  };
}
