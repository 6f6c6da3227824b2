import { t } from '../../base/text/message.ts';
import { isAbsolute, posix, relative, sep } from 'node:path';
import { attempt, broken } from '../../base/expected.ts';
import { field, isTable, parseConfig, tableOf, textField, type Table } from '../../base/parse/parse.ts';
import { CONTRACT_SCRIPT } from '../../kit/contract-script.ts';
import { wantedShards, type Shards } from './shards.ts';
import type { ProjectFiles } from './project-files.ts';

/** Where a project keeps what it makes, the likeliest place first. All are paths from the project. */
export interface Locations {
  /** Briefs, PRDs, architecture, epics. */
  planning: string[];
  /** The sprint's ledger, specs and retrospectives. */
  implementation: string[];
  stories: string[];
  /** What a new ledger says: the folder it is in, that of the stories, and the project's name. */
  sprint: { folder: string; stories: string; project: string | undefined };
  /** Single files that version 4 names. */
  prd: string[];
  architecture: string[];
  /** What version 4 wants in pieces. */
  shards: Shards[];
  /** Folders of gate files. */
  gates: string[];
  /** The script that says whether work is done, where the project has one. */
  contract: string | undefined;
  /** Whether there is an install of version 4, and none of 6. */
  v4: boolean;
}

/** The files that may say where, the strongest first. */
const V6_CONFIGS = [
  'custom/config.user.toml',
  'custom/config.toml',
  'config.user.toml',
  'config.toml',
  'bmm/config.yaml',
  'bmgd/config.yaml',
  'gds/config.yaml',
  'core/config.yaml',
  '_memory/config.yaml',
];
const KNOWN_ROOTS = new Set(['_bmad', '_grimoire']);
const CORE_CONFIG = '.bmad-core/core-config.yaml';
const MANIFESTS = ['_config/manifest.yaml', '_cfg/manifest.yaml'];
const MODULES = ['core', 'bmm', 'bmgd', 'gds'];

export async function findLocations(files: ProjectFiles): Promise<Locations> {
  const { roots, v4, isInstalled, contract } = await installs(files);
  const settings = new Settings(files);
  for (const root of roots) for (const config of V6_CONFIGS) await settings.take(`${root}/${config}`);
  const old = v4 ? await settings.table(CORE_CONFIG) : {};
  const core = v4 ? await files.read(CORE_CONFIG) : undefined;
  const outputs = [
    ...settings.folders('output_folder'),
    '_bmad-output',
    ...(roots.includes('_grimoire') ? ['_grimoire-output'] : []),
  ];
  const resolved = (key: string): string[] =>
    settings.folders(key).flatMap((folder) =>
      // Some installers wrote the name of the setting instead of its value; projects have a folder of that name.
      folder.includes('{output_folder}')
        ? [...outputs.map((output) => folder.replace('{output_folder}', output)), folder]
        : [folder],
    );
  const section = (name: string, key: string): string[] => {
    const part = field(old, name);
    return settings.places(isTable(part) ? textField(part, key) : undefined);
  };
  const implementation = [
    ...resolved('implementation_artifacts'),
    ...resolved('sprint_artifacts'),
    ...outputs.map((folder) => posix.join(folder, 'implementation-artifacts')),
    ...outputs,
  ];
  const [stories] = resolved('dev_story_location');
  // The early alphas have a folder for stories and the ledger beside the documents; later ones have one for all of it.
  const [home = stories === undefined ? implementation[0] : outputs[0]] = [
    ...resolved('implementation_artifacts'),
    ...resolved('sprint_artifacts'),
  ];
  return {
    sprint: {
      folder: home ?? '',
      stories: stories ?? home ?? '',
      project: settings.text('project_name'),
    },
    planning: unique([
      ...resolved('planning_artifacts'),
      ...outputs.map((folder) => posix.join(folder, 'planning-artifacts')),
      ...outputs,
      'docs',
    ]),
    implementation: unique([...implementation, 'docs', 'docs/sprint-artifacts']),
    stories: unique([
      ...settings.places(textField(old, 'devStoryLocation')),
      ...resolved('dev_story_location'),
      ...implementation,
      ...implementation.map((folder) => posix.join(folder, 'stories')),
      ...outputs.map((folder) => posix.join(folder, 'team-build/stories')),
      'docs/stories',
      'docs/sprint-artifacts',
    ]),
    prd: unique([...section('prd', 'prdFile'), ...section('prd', 'prdShardedLocation')]),
    architecture: unique([
      ...section('architecture', 'architectureFile'),
      ...section('architecture', 'architectureShardedLocation'),
    ]),
    shards: wantedShards(
      CORE_CONFIG,
      { settings: old, text: core !== undefined && 'text' in core ? core.text : '' },
      (value) => settings.places(value),
    ),
    gates: unique([...section('qa', 'qaLocation'), 'docs/qa'].map((folder) => posix.join(folder, 'gates'))),
    contract,
    v4: v4 && !isInstalled,
  };
}

interface Installs {
  /** The folders of version 6 or of the kit at the top of the project, `_bmad` first. */
  roots: string[];
  /** Whether one of them is an install: a folder may only hold what people or this product put beside version 4. */
  isInstalled: boolean;
  v4: boolean;
  contract: string | undefined;
}

async function installs(files: ProjectFiles): Promise<Installs> {
  const roots: string[] = [];
  const hasAny = (folder: string, paths: readonly string[]): boolean =>
    paths.some((path) => files.has(`${folder}/${path}`));
  let isInstalled = false;
  let contract: string | undefined;
  for (const { name, kind } of await files.atTop()) {
    if (kind !== 'folder' || name === 'node_modules' || name === '.git') continue;
    const isKnown = KNOWN_ROOTS.has(name);
    const found = hasAny(name, isKnown ? [...MANIFESTS, ...MODULES] : MANIFESTS);
    if (isKnown || found) roots.push(name);
    isInstalled ||= found;
    if (isKnown && files.has(`${name}/${CONTRACT_SCRIPT}`)) contract ??= `${name}/${CONTRACT_SCRIPT}`;
  }
  return {
    roots: roots.sort((a, b) => Number(b === '_bmad') - Number(a === '_bmad')),
    isInstalled,
    v4: files.has('.bmad-core/agents'),
    contract,
  };
}

/** Values of settings from several files, and as places in the project. */
class Settings {
  readonly #files: ProjectFiles;
  readonly #tables: Table[] = [];

  constructor(files: ProjectFiles) {
    this.#files = files;
  }

  async take(path: string): Promise<void> {
    const table = await this.table(path);
    const modules = field(table, 'modules');
    const inner = ['bmm', 'bmgd', 'gds'].map((code) => (isTable(modules) ? field(modules, code) : undefined));
    this.#tables.push(...[...inner, field(table, 'core'), table].filter(isTable));
  }

  /** The values of a file; none when it is not there or cannot be used, which is told. */
  async table(path: string): Promise<Table> {
    const read = await this.#files.read(path);
    if (read === undefined || 'trouble' in read) return {};
    const message = t`it cannot be parsed; its settings are not used`;
    return attempt(
      () => tableOf(parseConfig(path, read.text)),
      broken(({ place }) => {
        this.#files.troubles.push({ file: path, ...place, message });
        return {};
      }),
    );
  }

  text(key: string): string | undefined {
    return this.#tables.flatMap((table) => textField(table, key) ?? [])[0];
  }

  folders(key: string): string[] {
    return unique(this.#tables.flatMap((table) => this.places(textField(table, key))));
  }

  /** A setting as a path from the project; nothing for one that leads elsewhere, which is told. */
  places(value: string | undefined): string[] {
    if (value === undefined || value.trim() === '') return [];
    const plain = value
      .trim()
      .replaceAll('\\', '/')
      .replace(/^\{project-root\}\/?/, '');
    const path = posix
      .normalize(isAbsolute(plain) ? relative(this.#files.root, plain).split(sep).join('/') : plain)
      .replace(/\/$/, '');
    if (path !== '..' && !path.startsWith('../') && !isAbsolute(path)) return [path === '.' ? '' : path];
    this.#files.troubles.push({
      file: plain.slice(0, 200),
      message: t`the configured folder is outside the project`,
    });
    return [];
  }
}

export function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}
