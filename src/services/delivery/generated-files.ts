import { field, formatCsv, formatToml, formatYaml, isTable, type Table } from '../../base/parse/parse.ts';
import type { HelpRow, ModuleInfo } from '../../model/module.ts';
import { mimeTypeOf } from './served-file.ts';

const HELP_HEADER =
  'module,skill,display-name,menu-code,description,action,args,phase,preceded-by,followed-by,required,output-location,outputs'.split(
    ',',
  );

/** A file the server writes itself, when it is asked for. */
export interface GeneratedFile {
  mimeType: string;
  make(): Promise<string>;
}

/**
 * Files that BMAD's installer writes and its skills ask for, made here for projects that have no install: the central
 * configuration, each module's flat configuration, and the merged help catalogue.
 */
export function generatedFiles(
  modules: readonly ModuleInfo[],
  central: () => Promise<Table>,
): Map<string, GeneratedFile> {
  const files = new Map<string, GeneratedFile>();
  const add = (path: string, make: () => Promise<string>): unknown =>
    files.set(path, { mimeType: mimeTypeOf(path), make });
  add('_config/bmad-help.csv', async () => helpCatalogue(modules));
  add('config.toml', async () => formatToml(await central()));
  for (const { code } of modules)
    add(`${code}/config.yaml`, async () => formatYaml(moduleValues(await central(), code)));
  return files;
}

/** A module's own values with the core values after them, as each `config.yaml` of an install has them. */
export function moduleValues(central: Table, code: string): Table {
  const tables = field(central, 'modules');
  const own = isTable(tables) ? field(tables, code) : undefined;
  const core = field(central, 'core');
  return { ...(isTable(own) ? own : {}), ...(isTable(core) ? core : {}) };
}

function helpCatalogue(modules: readonly ModuleInfo[]): string {
  const rows = modules.flatMap((module) => module.help);
  rows.sort((a, b) => compare(a.module, b.module) || compare(a.phase, b.phase));
  return formatCsv([HELP_HEADER, ...rows.map(helpCells)]);
}

function helpCells(row: HelpRow): string[] {
  return [
    row.module,
    row.skill,
    row.displayName,
    row.menuCode,
    row.description,
    row.action,
    row.args,
    row.phase,
    row.precededBy,
    row.followedBy,
    String(row.required),
    row.outputLocation,
    row.outputs,
  ];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
