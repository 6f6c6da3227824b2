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
import { maskSecretValues } from '../../base/secrets/masking.ts';
import { compare } from '../../base/text/text.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import type { HelpRow, ModuleInfo } from '../../model/module.ts';
import { qualifiedName, type BmadRecord, type RecordKind } from '../../model/record.ts';
import type { Central } from './central-config.ts';
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
  return ['config/current', { mimeType: mimeTypeOf('current.yaml'), make }];
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

/** The manifests by the name users ask for them, with the columns BMAD's own files have. */
export const MANIFESTS: Record<string, { kind: RecordKind; columns: readonly string[] }> = {
  agents: {
    kind: 'agent',
    columns: [
      'name',
      'displayName',
      'title',
      'icon',
      'role',
      'identity',
      'communicationStyle',
      'principles',
      'module',
      'path',
      'canonicalId',
    ],
  },
  workflows: { kind: 'workflow', columns: ['name', 'description', 'module', 'path', 'canonicalId'] },
  tasks: { kind: 'task', columns: ['name', 'displayName', 'description', 'module', 'path', 'standalone'] },
  tools: { kind: 'tool', columns: ['name', 'displayName', 'description', 'module', 'path', 'standalone'] },
  skills: { kind: 'skill', columns: ['canonicalId', 'name', 'description', 'module', 'path'] },
};

/** What is served, as CSV in BMAD's form, and the whole master manifest, winners and losers, as JSON. */
export function manifestFiles(catalogue: Catalogue): Map<string, GeneratedFile> {
  const files = new Map<string, GeneratedFile>();
  for (const [name, { kind, columns }] of Object.entries(MANIFESTS)) {
    files.set(`manifests/${name}`, {
      mimeType: 'text/csv',
      make: async () =>
        formatCsv([
          columns,
          ...catalogue.winners
            .filter((record) => record.kind === kind)
            .map((record) => cells(record, columns)),
        ]),
    });
  }
  files.set('manifests/master.json', {
    mimeType: 'application/json',
    make: async () => `${JSON.stringify(masterManifest(catalogue), null, 2)}\n`,
  });
  return files;
}

function cells(record: BmadRecord, columns: readonly string[]): string[] {
  const values: Record<string, string | undefined> = {
    name: record.name,
    displayName: record.displayName ?? record.name,
    title: record.title,
    icon: record.icon,
    description: record.description,
    module: record.moduleName,
    path: record.bmadRelativePath,
    canonicalId: record.name,
    standalone: 'true',
  };
  return columns.map((column) => values[column] ?? '');
}

function masterManifest({ records, overridden, modules, problems }: Catalogue): Record<string, unknown> {
  const groups: Record<string, object[]> = { agents: [], workflows: [], tasks: [] };
  for (const record of records) {
    const group = record.kind === 'knowledge' ? 'knowledge' : `${record.kind}s`;
    const served = overridden.get(record);
    const shown =
      served === undefined
        ? record
        : {
            ...record,
            overriddenBy: { name: qualifiedName(served), origin: served.origin.displayName },
          };
    (groups[group] ??= []).push(shown);
  }
  return { ...groups, modules: modules.map(({ help: _help, ...module }) => module), problems };
}
