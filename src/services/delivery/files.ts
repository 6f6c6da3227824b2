import manifests from '../../../assets/names/manifests.json' with { type: 'json' };
import { orElse } from '../../base/errors.ts';
import { isUtf8 } from 'node:buffer';
import { basename, dirname } from 'node:path';
import { contentUri } from '../../base/files/paths.ts';
import {
  field,
  formatCsv,
  formatToml,
  formatYaml,
  parseYaml,
  type Table,
  tableOf,
} from '../../base/parse/parse.ts';
import { maskConfigSecrets, maskSecretValues } from '../../base/secrets/scanner.ts';
import { compare, decodeText, encodingOf } from '../../base/text/text.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { ContentFiles } from '../../catalogue/content-files.ts';
import { HELP_COLUMNS, type ModuleInfo } from '../../model/module.ts';
import {
  type Origin,
  type BmadRecord,
  qualifiedName,
  type RecordDetails,
  type RecordKind,
} from '../../model/record.ts';
import type { Central } from './layers.ts';

/** A file as it is handed out: text, or bytes when it is not text. */
export interface ServedFile {
  path: string;
  mimeType: string;
  text?: string;
  bytes?: Buffer;
  /** Nothing for files the server writes itself, such as the merged help catalogue. */
  origin?: Origin;
}

const MIME_TYPES = new Map([
  ['md', 'text/markdown'],
  ['yaml', 'application/x-yaml'],
  ['yml', 'application/x-yaml'],
  ['json', 'application/json'],
  ['xml', 'application/xml'],
  ['csv', 'text/csv'],
]);

export function mimeTypeOf(path: string): string {
  return MIME_TYPES.get(path.slice(path.lastIndexOf('.') + 1).toLowerCase()) ?? 'text/plain';
}

/** Text keeps every byte but the values of secret-looking settings; what is not text is handed out as bytes. */
export function serve(path: string, bytes: Buffer, origin?: Origin): ServedFile {
  const known = mimeTypeOf(path);
  const file = { path, ...(origin === undefined ? {} : { origin }) };
  if (known === 'text/plain' && encodingOf(bytes) === 'utf-8' && (bytes.includes(0) || !isUtf8(bytes))) {
    return { ...file, mimeType: 'application/octet-stream', bytes };
  }
  const text = decodeText(bytes, true);
  return { ...file, mimeType: known, text: maskConfigSecrets(path, text) };
}

/** A file the server writes itself, when it is asked for. */
interface GeneratedFile {
  /** What people call it, where its path does not say that. */
  title?: string;
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
  const lines = rows.map((row) => Object.values(HELP_COLUMNS).map((column) => String(row[column])));
  return formatCsv([Object.keys(HELP_COLUMNS), ...lines]);
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

interface Manifest {
  kind: RecordKind;
  about: string;
  columns: readonly string[];
}

/** The manifests by the name users ask for them, with the columns BMAD's own files have. */
export const MANIFESTS = manifests as Record<string, Manifest>;

export const MASTER_ABOUT = 'Everything that was found in any origin, offered or not, and why';

/** What is served, as CSV in BMAD's form, and the whole master manifest, winners and losers, as JSON. */
export function manifestFiles(catalogue: Catalogue): Map<string, GeneratedFile> {
  const files = new Map<string, GeneratedFile>();
  for (const [name, { kind, about, columns }] of Object.entries(MANIFESTS)) {
    files.set(`manifests/${name}`, {
      title: `${kind.charAt(0).toUpperCase()}${kind.slice(1)} Manifest`,
      mimeType: 'text/csv',
      about,
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
    title: 'Master Manifest',
    mimeType: 'application/json',
    about: MASTER_ABOUT,
    make: async () => `${JSON.stringify(await masterManifest(catalogue), null, 2)}\n`,
  });
  return files;
}

function cells(record: BmadRecord, columns: readonly string[]): string[] {
  const { standalone, ...details } = record.details ?? {};
  const values: Record<string, string | undefined> = {
    ...details,
    name: record.name,
    displayName: record.displayName ?? record.name,
    title: record.title,
    icon: record.icon,
    description: record.description,
    module: record.moduleName,
    path: rootedPath(record),
    canonicalId: record.name,
    standalone: standalone === undefined ? '' : String(standalone),
  };
  return columns.map((column) => values[column] ?? '');
}

async function masterManifest(catalogue: Catalogue): Promise<Record<string, unknown>> {
  const folders = await manifestFolders(catalogue.sources);
  const groups: Record<string, object[]> = { agents: [], workflows: [], tasks: [] };
  for (const record of catalogue.records) {
    const group = record.kind === 'knowledge' ? 'knowledge' : `${record.kind}s`;
    (groups[group] ??= []).push(masterRecord(record, catalogue, folders));
  }
  const { modules, problems } = catalogue;
  return { ...groups, modules: modules.map(({ help: _help, ...module }) => module), problems };
}

/** A record as the master manifest shows it: with whole paths, and with where the manifests of its origin are. */
type MasterRecord = Omit<BmadRecord, 'details' | 'likeness' | 'origin'> &
  RecordDetails & {
    origin: Origin & { manifestDir?: string };
    /** What is served in its place, if it is not served itself. */
    overriddenBy?: { name: string; origin: string };
  };

type ManifestFolders = ReadonlyMap<Origin, string>;

function masterRecord(
  record: BmadRecord,
  { overridden }: Pick<Catalogue, 'overridden'>,
  folders: ManifestFolders,
): MasterRecord {
  const { details, likeness: _likeness, ...rest } = record;
  const manifestDir = folders.get(record.origin);
  const served = overridden.get(record);
  return {
    ...rest,
    ...details,
    origin: manifestDir === undefined ? record.origin : { ...record.origin, manifestDir },
    bmadRelativePath: rootedPath(record),
    moduleRelativePath: `${record.moduleName}/${record.moduleRelativePath}`,
    ...(served === undefined
      ? {}
      : { overriddenBy: { name: qualifiedName(served), origin: served.origin.displayName } }),
  };
}

export async function masterRecords(
  records: readonly BmadRecord[],
  catalogue: Pick<Catalogue, 'overridden' | 'sources'>,
): Promise<MasterRecord[]> {
  const folders = await manifestFolders(catalogue.sources);
  return records.map((record) => masterRecord(record, catalogue, folders));
}

/** What BMAD's installer calls its folder; built-in content is in none. */
const USUAL_FOLDER = '_bmad';

/** The path with the folder of BMAD in front, as BMAD's manifests write it: `bmad/bmm/agents/analyst.md`. */
function rootedPath({
  origin,
  bmadRelativePath: path,
}: Pick<BmadRecord, 'origin' | 'bmadRelativePath'>): string {
  const folder = origin.kind === 'package' ? USUAL_FOLDER : basename(origin.root);
  // Version 4 and the skills of an assistant lie beside such a folder, in one of their own.
  return path.startsWith('.') || path.startsWith(`${folder}/`) ? path : `${folder}/${path}`;
}

const INSTALL_MANIFESTS = new Set(['install-manifest.yaml', 'install-manifest.yml']);

/** Where the manifests of each origin are: `_config`, `_cfg` in the alphas, the folder itself in version 4. */
async function manifestFolders(sources: Catalogue['sources']): Promise<ManifestFolders> {
  const folders = new Map<Origin, string>();
  for (const { origin, tree } of sources) {
    const top = await tree.list('').catch(orElse([]));
    const config = ['_config', '_cfg'].find((name) => top.some((entry) => entry.name === name));
    if (config !== undefined) {
      folders.set(origin, tree.place(config));
      continue;
    }
    for (const name of ['', ...top.filter(({ kind }) => kind === 'folder').map((entry) => entry.name)]) {
      if (name !== '' && !/^\.?bmad-/.test(name)) continue;
      const entries = name === '' ? top : await tree.list(name).catch(orElse([]));
      const manifest = entries.find((entry) => INSTALL_MANIFESTS.has(entry.name));
      if (manifest === undefined) continue;
      folders.set(origin, dirname(tree.place(name === '' ? manifest.name : `${name}/${manifest.name}`)));
      break;
    }
  }
  return folders;
}
