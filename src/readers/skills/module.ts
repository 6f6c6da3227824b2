import { BmadError } from '../../base/errors.ts';
import { field, isTable, ParseError, parseYaml, textField, type Table } from '../../base/parse/parse.ts';
import type { ModuleInfo, ModuleSetting, RosterEntry } from '../../model/module.ts';
import type { Problem } from '../../model/record.ts';
import type { Source } from '../../sources/source.ts';
import { optionalText } from '../../sources/tree.ts';
import { parseHelp } from '../help.ts';

/** Reads `module.yaml` and `module-help.csv`. A broken definition gives a module with nothing but its code. */
export async function readModule(
  source: Source,
  folder: string,
  definition: string,
  problems: Problem[],
): Promise<ModuleInfo> {
  const table = parsed(`${folder}/module.yaml`, definition, problems);
  const code = textField(table, 'code') ?? folder;
  const version = versionOf(table) ?? source.origin.bmadVersion;
  const helpFile = `${folder}/module-help.csv`;
  const help = await optionalText(source.tree, helpFile).catch((error: unknown) => {
    if (!(error instanceof BmadError)) throw error;
    problems.push({ file: helpFile, message: error.message });
    return undefined;
  });
  return {
    code,
    name: textField(table, 'name') ?? code,
    description: textField(table, 'description') ?? '',
    ...(version === undefined ? {} : { version }),
    origin: source.origin,
    settings: moduleSettings(table),
    roster: roster(table, code),
    help: help === undefined ? [] : parseHelp(helpFile, help, problems),
  };
}

/** An unquoted `1.0` is a number in YAML. */
function versionOf(table: Table): string | undefined {
  const version = field(table, 'module_version');
  return typeof version === 'string' || typeof version === 'number'
    ? String(version).slice(0, 64)
    : undefined;
}

function parsed(file: string, text: string, problems: Problem[]): Table {
  try {
    const value = parseYaml(file, text);
    return isTable(value) ? value : {};
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    problems.push({
      file,
      ...(error.line === undefined ? {} : { line: error.line }),
      message: error.message,
    });
    return {};
  }
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
