import { orElse } from '../../base/expected.ts';
import { contentUri } from '../../base/files/paths.ts';
import {
  field,
  formatCsv,
  formatToml,
  formatYaml,
  parseYaml,
  tableOf,
  type Table,
} from '../../base/parse/parse.ts';
import { maskSecretValues } from '../../base/secrets/scanner.ts';
import { compare } from '../../base/text/text.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import type { HelpRow, ModuleInfo } from '../../model/module.ts';
import type { Central } from './central-config.ts';
import { mimeTypeOf } from './served-file.ts';

const HELP_HEADER =
  'module,skill,display-name,menu-code,description,action,args,phase,preceded-by,followed-by,required,output-location,outputs'.split(
    ',',
  );

/** A file the server writes itself, when it is asked for. */
export interface GeneratedFile {
  mimeType: string;
  /** What is in it, for people who see it in a list. */
  about: string;
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
  const add = (path: string, about: string, make: () => Promise<string>): unknown =>
    files.set(path, { mimeType: mimeTypeOf(path), about, make });
  add('_config/bmad-help.csv', 'What can be done when: the help of all modules in one table', async () =>
    helpCatalogue(modules),
  );
  add('config.toml', 'The configuration of all modules, with the values in force', async () =>
    formatToml(await central()),
  );
  for (const { code, name } of modules)
    add(`${code}/config.yaml`, `The configuration of ${name}, with the values in force`, async () =>
      formatYaml(moduleValues(await central(), code)),
    );
  return files;
}

/** A module's own values with the core values after them, as each `config.yaml` of an install has them. */
export function moduleValues(central: Table, code: string): Table {
  const own = field(tableOf(field(central, 'modules')), code);
  return { ...tableOf(own), ...tableOf(field(central, 'core')) };
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

/** Version 4 has its own single file, in the project or in a root that is the folder itself. */
const V4_FILES = ['.bmad-core/core-config.yaml', 'core-config.yaml'];

/** The configuration in force, whatever version wrote it and however many files it is spread over; secrets are masked. */
export function currentConfig(
  projectRoot: string | undefined,
  central: () => Promise<Central>,
  files: ContentFiles,
): [string, GeneratedFile] {
  async function make(): Promise<string> {
    const { values, from } = await central();
    const v4 = await v4Config(files);
    return formatYaml({
      project_root: projectRoot ?? null,
      from: [...from, ...(v4 === undefined ? [] : [contentUri(v4.path)])],
      ...values,
      ...(v4 === undefined ? {} : { core_config: maskSecretValues(v4.value) }),
    });
  }
  const about = 'The configuration in force, and the files that set it';
  return ['config/current', { mimeType: mimeTypeOf('current.yaml'), about, make }];
}

async function v4Config(files: ContentFiles): Promise<{ path: string; value: unknown } | undefined> {
  for (const path of V4_FILES) {
    // A file that cannot be used sets nothing; the readers report it.
    const found = await files
      .read(path)
      .then(({ bytes }) => ({ path, value: parseYaml(path, bytes.toString('utf8')) }))
      .catch(orElse(undefined));
    if (found !== undefined) return found;
  }
  return undefined;
}
