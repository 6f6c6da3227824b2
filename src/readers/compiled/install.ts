import { mapLimited } from '../../base/async.ts';
import { noted } from '../../base/errors.ts';
import type { FolderEntry } from '../../base/files/files.ts';
import { field, isTable } from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import { compare } from '../../base/text/text.ts';
import type { RecordFormat, BmadRecord, Problem, RecordDetails, RecordKind } from '../../model/record.ts';
import type { Source } from '../../sources/tree.ts';
import { READS_AT_ONCE, recordOf, versionField } from '../reader.ts';
import { insideModule, type Install, moduleOf, readYaml } from './manifests.ts';

export type { Install } from './manifests.ts';

/** Folders of a BMAD root that hold no module, though some of them have a `config.yaml`. */
const NOT_MODULES = new Set(['memory', 'docs', 'scripts', 'custom', 'render', 'node_modules']);

/** What makes a folder a module where an installer was at work; without one, agents or workflows must be there. */
const INSTALLED_PARTS = new Set([
  'config.yaml',
  'module-help.csv',
  'module.yaml',
  'skills',
  'tasks',
  'tools',
  'teams',
]);
const OWN_PARTS = new Set(['agents', 'workflows']);

const FILE_LIMIT = 50_000;
const DEPTH_LIMIT = 32;

/** Looks at a tree; nothing when it has neither manifests nor anything like a module. */
export async function openInstall(source: Source, problems: Problem[]): Promise<Install | undefined> {
  const folders = (await entriesOf(source, '', problems)).filter(({ kind }) => kind === 'folder');
  const topLevel = new Set(folders.map(({ name }) => name));
  const configs = ['_config', '_cfg'].filter((name) => topLevel.has(name));
  const { version, listedModules } = await readManifest(source, configs, problems);
  const moduleFolders: string[] = [];
  for (const name of topLevel) {
    if (/^(?:\.|_(?!_))/.test(name) || (NOT_MODULES.has(name) && !listedModules.has(name))) continue;
    if (listedModules.has(name) || (await isModule(source, name, configs.length > 0, problems)))
      moduleFolders.push(name);
  }
  if (configs.length === 0 && moduleFolders.length === 0 && !topLevel.has('custom')) return undefined;
  const walked = await walk(source, moduleFolders, problems);
  return { source, problems, configs, version, listedModules, topLevel, moduleFolders, ...walked };
}

async function isModule(
  source: Source,
  folder: string,
  installed: boolean,
  problems: Problem[],
): Promise<boolean> {
  const entries = await entriesOf(source, folder, problems);
  return entries.some(
    ({ name, kind }) =>
      (kind === 'folder' && OWN_PARTS.has(name)) || (installed && INSTALLED_PARTS.has(name)),
  );
}

/** What `manifest.yaml` says. Modules are plain names up to the alphas, tables with a version later. */
async function readManifest(
  source: Source,
  configs: readonly string[],
  problems: Problem[],
): Promise<Pick<Install, 'version' | 'listedModules'>> {
  let version: string | undefined;
  const listedModules = new Map<string, string | undefined>();
  for (const config of configs) {
    const manifest = await readYaml(source, `${config}/manifest.yaml`, problems);
    const installation = field(manifest, 'installation');
    if (isTable(installation)) version ??= versionField(installation, 'version');
    const modules = field(manifest, 'modules');
    for (const module of Array.isArray(modules) ? (modules as unknown[]) : []) {
      const name = isTable(module) ? field(module, 'name') : module;
      if (typeof name !== 'string' || !/^[A-Za-z\d][\w.-]{0,63}$/.test(name)) continue;
      if (!listedModules.has(name))
        listedModules.set(name, isTable(module) ? versionField(module, 'version') : undefined);
    }
  }
  return { version, listedModules };
}

/** The alphas list the names of modules only: they are all of the installer's own version. */
export function moduleVersionIn({ listedModules, version }: Install, code: string): string | undefined {
  return listedModules.get(code) ?? (listedModules.has(code) ? version : undefined);
}

interface Folder {
  path: string;
  inSkill: boolean;
}

/** All files of the modules, level by level: side by side on each, and in the same order every time. */
async function walk(
  source: Source,
  start: readonly string[],
  problems: Problem[],
): Promise<Pick<Install, 'files' | 'skillFiles' | 'skillFolders' | 'known' | 'links'>> {
  const files: string[] = [];
  const skillFiles: string[] = [];
  const skillFolders = new Set<string>();
  const links: string[] = [];
  let level: Folder[] = start.map((path) => ({ path, inSkill: false }));
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth === DEPTH_LIMIT || files.length + skillFiles.length > FILE_LIMIT) {
      problems.push({
        file: level[0]?.path ?? '',
        message: t`too many or too deeply nested folders; reading stops here`,
      });
      break;
    }
    const listings = await mapLimited(level, READS_AT_ONCE, ({ path }) => entriesOf(source, path, problems));
    const next: Folder[] = [];
    for (const [index, { path, inSkill }] of level.entries()) {
      const entries = listings[index] ?? [];
      const isSkill = inSkill || entries.some(({ name, kind }) => kind === 'file' && name === 'SKILL.md');
      if (isSkill) skillFolders.add(path);
      for (const { name, kind, link } of entries) {
        if (kind === 'file') (isSkill ? skillFiles : files).push(`${path}/${name}`);
        else if (link === true) links.push(`${path}/${name}/`);
        else if (!name.startsWith('.') && name !== 'node_modules')
          next.push({ path: `${path}/${name}`, inSkill: isSkill });
      }
    }
    level = next;
  }
  const known = new Set([...files, ...skillFiles]);
  return { files: files.sort(), skillFiles: skillFiles.sort(), skillFolders, known, links };
}

export async function entriesOf(source: Source, folder: string, problems: Problem[]): Promise<FolderEntry[]> {
  return source.tree.list(folder).catch(noted(problems, folder || source.tree.root, []));
}

export const GENERATION = 'compiled';

/** What a part of the reader knows about one file. */
export interface Finding {
  kind: RecordKind;
  moduleName: string;
  name: string;
  path: string;
  format: RecordFormat;
  /** The digest of the file; undefined if a manifest lists a file that does not exist. */
  digest: string | undefined;
  listed: boolean;
  description?: string | undefined;
  displayName?: string | undefined;
  title?: string | undefined;
  icon?: string | undefined;
  phase?: string | undefined;
  aliases?: readonly (string | undefined)[];
  details?: RecordDetails | undefined;
}

/** The records of an install, each kind and name once in its module. What is put here first stays. */
export class Shelf {
  readonly #install: Install;
  readonly #records = new Map<string, BmadRecord>();
  readonly #paths = new Map<string, BmadRecord>();
  readonly #modules = new Set<string>();

  constructor(install: Install) {
    this.#install = install;
  }

  /** Puts a record here, unless its name is taken: the same file listed twice, or a line whose file has moved. */
  add(finding: Finding): boolean {
    const key = keyOf(finding);
    if (this.#records.has(key)) return false;
    const record = this.#record(finding);
    this.#records.set(key, record);
    this.#sorted = undefined;
    this.#modules.add(finding.moduleName);
    if (record.exists && !this.#paths.has(finding.path)) this.#paths.set(finding.path, record);
    return true;
  }

  /** The same for another file that may share the name of one that is here: the folder's name is put before it. */
  addRenamed(finding: Finding): void {
    const folders = finding.path.split('/').slice(1, -1);
    let { name } = finding;
    while (!this.add({ ...finding, name })) {
      const folder = folders.pop();
      if (folder === undefined) {
        this.#install.problems.push({
          file: finding.path,
          message: t`another file in this module has the same name`,
        });
        return;
      }
      name = `${folder}-${finding.name}`;
    }
  }

  /** The record that has this kind and name already. */
  like(finding: Finding): BmadRecord | undefined {
    return this.#records.get(keyOf(finding));
  }

  /** Whether a path is certainly in a module: an installer was at work, or agents or workflows were found there. */
  inModule(path: string): boolean {
    return this.#install.configs.length > 0 || this.#modules.has(moduleOf(path));
  }

  /** The record whose main file this is. */
  at(path: string): BmadRecord | undefined {
    return this.#paths.get(path);
  }

  #sorted: BmadRecord[] | undefined;

  get records(): BmadRecord[] {
    this.#sorted ??= [...this.#records.values()].sort(
      (a, b) => compare(a.kind, b.kind) || compare(a.moduleName, b.moduleName) || compare(a.name, b.name),
    );
    return this.#sorted;
  }

  #record(finding: Finding): BmadRecord {
    const { source, version } = this.#install;
    return recordFrom(source, finding, {
      moduleVersion: moduleVersionIn(this.#install, finding.moduleName),
      bmadVersion: version ?? source.origin.bmadVersion,
    });
  }
}

export function recordFrom(
  source: Source,
  { path, ...finding }: Finding,
  versions: { moduleVersion: string | undefined; bmadVersion: string | undefined },
): BmadRecord {
  return recordOf(source, {
    ...finding,
    ...versions,
    description: finding.description ?? '',
    bmadRelativePath: path,
    moduleRelativePath: insideModule(path),
    generation: GENERATION,
    aliases: finding.aliases ?? [],
  });
}

function keyOf({ kind, moduleName, name }: Finding): string {
  return `${kind} ${moduleName}/${name}`;
}
