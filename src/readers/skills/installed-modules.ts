import { field, isTable, parseToml, parseYaml, textField, type Table } from '../../base/parse/parse.ts';
import { present } from '../../base/present.ts';
import type { ModuleInfo, ModuleSetting, RosterEntry } from '../../model/module.ts';
import type { Problem } from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';
import { parseHelp } from '../help.ts';
import { parsedTable, readable } from '../reading.ts';
import type { InstallManifest } from './install-manifest.ts';

/** The modules of an install: their values as they were answered, their agents, their help. */
export async function readInstalledModules(
  source: Source,
  codes: readonly string[],
  manifest: InstallManifest,
  problems: Problem[],
): Promise<Map<string, ModuleInfo>> {
  const agents = await table(source, 'config.toml', problems, parseToml);
  const modules = new Map<string, ModuleInfo>();
  for (const code of codes) {
    const helpFile = `${code}/module-help.csv`;
    const helpText = await readable(source.tree, helpFile, problems);
    const help = helpText === undefined ? [] : parseHelp(helpFile, helpText, problems);
    modules.set(
      code,
      present<ModuleInfo>({
        code,
        name: help.find(({ module }) => module !== '')?.module ?? code,
        description: '',
        version: manifest.moduleVersions.get(code),
        origin: source.origin,
        settings: settingsOf(await table(source, `${code}/config.yaml`, problems, parseYaml)),
        roster: rosterOf(agents, code),
        help,
      }),
    );
  }
  return modules;
}

/** Installed values are final: there is nothing left to ask. */
function settingsOf(values: Table): ModuleSetting[] {
  return Object.entries(values).flatMap(([key, value]) =>
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
      ? [{ key, default: String(value), result: '{value}' }]
      : [],
  );
}

function rosterOf(config: Table, module: string): RosterEntry[] {
  const agents = field(config, 'agents');
  if (!isTable(agents)) return [];
  return Object.entries(agents).flatMap(([code, agent]) => {
    if (!isTable(agent) || textField(agent, 'module') !== module) return [];
    const text = (name: string): string => textField(agent, name) ?? '';
    return {
      code,
      name: text('name') || code,
      title: text('title'),
      icon: text('icon'),
      team: text('team'),
      description: text('description'),
    };
  });
}

async function table(
  source: Source,
  file: string,
  problems: Problem[],
  parse: (file: string, text: string) => unknown,
): Promise<Table> {
  const text = await readable(source.tree, file, problems);
  return text === undefined ? {} : parsedTable(file, problems, () => parse(file, text));
}
