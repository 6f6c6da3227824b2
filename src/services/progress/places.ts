import { conflictReason, conflictsIn } from '../../base/text/diff.ts';
import { join, posix } from 'node:path';
import { attempt, BmadError, broken, unlessShort } from '../../base/errors.ts';
import { changeMark, timeIn } from '../../base/files/file-stamps.ts';
import { modifiedAt } from '../../base/files/file-state.ts';
import { type FolderEntry, listInside, readInside } from '../../base/files/files.ts';
import { whyUnread } from '../../base/files/file-refusals.ts';
import { field, isTable, parseConfig, type Table, tableOf, textField } from '../../base/parse/parse.ts';
import { inProject } from '../../base/files/paths.ts';
import { FAMILY_FOLDERS } from '../../base/product.ts';
import { t } from '../../base/text/message.ts';
import { CONFIG_FILES, CONTRACT_SCRIPT } from '../../kit/configuration.ts';
import { utf8Text } from '../../base/text/text.ts';
import type { Evidence, Trouble } from './rules.ts';

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

const KNOWN_ROOTS = new Set<string>(FAMILY_FOLDERS);
const CORE_CONFIG = '.bmad-core/core-config.yaml';
const MANIFESTS = ['_config/manifest.yaml', '_cfg/manifest.yaml'];
const MODULES = ['core', 'bmm', 'bmgd', 'gds'];

export async function findLocations(files: ProjectFiles): Promise<Locations> {
  const { roots, v4, isInstalled, contract } = await installs(files);
  const settings = new Settings(files);
  for (const root of roots) for (const config of CONFIG_FILES) await settings.take(`${root}/${config}`);
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
    const path = inProject(this.#files.root, value);
    if (path !== undefined) return [path];
    this.#files.troubles.push({
      file: value.trim().slice(0, 200),
      message: t`the configured folder is outside the project`,
    });
    return [];
  }
}

export function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

/** No ledger or document of a project comes near it. */
const MAX_BYTES = 4 * 1024 * 1024;
/** How many entries of folders are looked at; `docs` may be anything. */
const MAX_ENTRIES = 4_000;
const SKIPPED = /^(?:node_modules|\..*)$/;

/** What reading a file gave. */
type FileText = { text: string } | { trouble: Trouble };

/** The files of one project, read once each. Nothing outside its root is read; what cannot be is told. */
export class ProjectFiles {
  readonly root: string;
  readonly troubles: Trouble[] = [];
  /** What was looked at, each with what tells whether it has changed, as it was before it was read. */
  readonly looked = new Map<string, string | undefined>();
  /** When the newest of it was changed, in milliseconds. */
  newest = 0;
  readonly #texts = new Map<string, Promise<FileText | undefined>>();
  #entries = 0;

  constructor(root: string) {
    this.root = root;
  }

  /** The text of a file; nothing when there is none. */
  read(path: string): Promise<FileText | undefined> {
    const known = this.#texts.get(path);
    if (known !== undefined) return known;
    this.#look(path);
    const reading = this.#read(path);
    this.#texts.set(path, reading);
    return reading;
  }

  #look(path: string): void {
    if (this.looked.has(path)) return;
    const mark = changeMark(join(this.root, path));
    this.looked.set(path, mark);
    this.newest = Math.max(this.newest, mark === undefined ? 0 : timeIn(mark));
  }

  /** Whether there is something of that name. */
  has(path: string): boolean {
    this.#look(path);
    return this.looked.get(path) !== undefined;
  }

  /** What is in the project's own folder. */
  atTop(): Promise<FolderEntry[]> {
    this.#look('');
    return listInside(this.root, '').catch(unlessShort([]));
  }

  async #read(path: string): Promise<FileText | undefined> {
    try {
      const text = utf8Text(await readInside(this.root, path, MAX_BYTES));
      if (text === undefined) return this.#tell({ file: path, message: t`it is not UTF-8 text` });
      const conflicts = conflictsIn(text);
      if (conflicts !== undefined) this.#tell({ file: path, message: conflictReason(conflicts) });
      return { text };
    } catch (error) {
      if (!(error instanceof BmadError)) throw error;
      if (error.code === 'not_found' || error.reason === 'folder') return undefined;
      return this.#tell({ file: path, message: reasonOf(error) });
    }
  }

  #tell(trouble: Trouble): FileText {
    this.troubles.push(trouble);
    return { trouble };
  }

  /** When a file that was read was last changed, in milliseconds. */
  changedAt(path: string): Promise<number | undefined> {
    return modifiedAt(join(this.root, path));
  }

  /** Files below a folder, by path from the project, sorted; to the given depth, hidden and foreign folders left out. */
  async below(folder: string, depth: number): Promise<string[]> {
    if (this.#entries >= MAX_ENTRIES) return [];
    this.#look(folder);
    const entries = await listInside(this.root, folder).catch((error: unknown) => {
      if (error instanceof BmadError && error.code !== 'not_found')
        this.troubles.push({ file: folder, message: reasonOf(error) });
      return [];
    });
    this.#entries += entries.length;
    if (this.#entries >= MAX_ENTRIES)
      this.troubles.push({
        file: folder,
        message: t`more than ${MAX_ENTRIES} files; the rest were skipped`,
      });
    const found: string[] = [];
    for (const { name, kind, link } of entries) {
      const path = folder === '' ? name : `${folder}/${name}`;
      if (kind === 'file') found.push(path);
      else if (depth > 1 && link === undefined && !SKIPPED.test(name))
        found.push(...(await this.below(path, depth - 1)));
    }
    return found;
  }
}

function reasonOf({ message, code, reason, cause }: BmadError): string {
  if (reason === 'outside') return t`it is a link that points outside the project`;
  if (code === 'too_large') return t`it is larger than ${MAX_BYTES} bytes`;
  return cause === undefined ? message : whyUnread(cause);
}

/** A document that version 4 wants in pieces, and where. */
export interface Shards {
  kind: 'prd' | 'architecture';
  /** The folder of the pieces. */
  to: string;
  /** The setting that says so. */
  evidence: Evidence;
}

const KINDS = ['prd', 'architecture'] as const;

/** What the settings of version 4 want in pieces; stories are drafted from those. */
function wantedShards(
  file: string,
  { settings, text }: { settings: Table; text: string },
  placesOf: (value: string | undefined) => string[],
): Shards[] {
  const lines = text.split('\n');
  return KINDS.flatMap((kind) => {
    const part = field(settings, kind);
    const setting = `${kind}Sharded`;
    if (!isTable(part) || field(part, setting) !== true) return [];
    const line = lines.findIndex((each) => each.trim().startsWith(`${setting}:`)) + 1 || undefined;
    return placesOf(textField(part, `${kind}ShardedLocation`)).map((to) => ({
      kind,
      to,
      evidence: { file, line, says: `${setting}: true` },
    }));
  });
}
