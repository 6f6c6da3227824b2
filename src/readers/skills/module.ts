import { present } from '../../base/present.ts';
import { field, isTable, parseYaml, textField, type Table } from '../../base/parse/parse.ts';
import type { ModuleInfo, ModuleSetting, RosterEntry } from '../../model/module.ts';
import type { Problem } from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';
import { parseHelp } from '../help.ts';
import { parsedTable, readable, versionField } from '../reading.ts';

/** Reads `module.yaml` and `module-help.csv`. A broken definition gives a module with nothing but its code. */
export async function readModule(
  source: Source,
  folder: string,
  definition: string,
  problems: Problem[],
): Promise<ModuleInfo> {
  const file = `${folder}/module.yaml`;
  const table = parsedTable(file, problems, () => parseYaml(file, definition));
  const code = textField(table, 'code') ?? folder;
  const helpFile = `${folder}/module-help.csv`;
  const help = await readable(source.tree, helpFile, problems);
  return present<ModuleInfo>({
    code,
    name: textField(table, 'name') ?? code,
    description: textField(table, 'description') ?? '',
    version: versionField(table, 'module_version') ?? source.origin.bmadVersion,
    origin: source.origin,
    settings: moduleSettings(table),
    roster: roster(table, code),
    help: help === undefined ? [] : parseHelp(helpFile, help, problems),
  });
}

/** A setting is a top-level table with a default and a prompt; everything else describes the module itself. */
function moduleSettings(table: Table): ModuleSetting[] {
  const found: ModuleSetting[] = [];
  for (const [key, value] of Object.entries(table)) {
    if (!isTable(value) || !Object.hasOwn(value, 'default') || !Object.hasOwn(value, 'prompt')) continue;
    const preset = field(value, 'default');
    if (typeof preset !== 'string' && typeof preset !== 'number' && typeof preset !== 'boolean') continue;
    found.push({
      key,
      default: String(preset),
      result: textField(value, 'result') ?? '{value}',
      proposed: true,
    });
  }
  return found;
}

function roster(table: Table, module: string): RosterEntry[] {
  const agents = field(table, 'agents');
  if (!Array.isArray(agents)) return [];
  return agents.filter(isTable).flatMap((agent) => {
    const code = textField(agent, 'code');
    if (code === undefined) return [];
    return {
      code,
      name: textField(agent, 'name') ?? code,
      title: textField(agent, 'title') ?? '',
      icon: textField(agent, 'icon') ?? '',
      team: textField(agent, 'team') ?? module,
      description: textField(agent, 'description') ?? '',
    };
  });
}
