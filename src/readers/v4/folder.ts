import { basename } from 'node:path';
import { noted } from '../../base/errors.ts';
import type { FolderEntry } from '../../base/files/files.ts';
import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { present } from '../../base/values.ts';
import type { RecordFormat, Problem, RecordKind } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import { type ParsedYaml, parseTable, plainText, scalarField } from './yaml-text.ts';

/** A folder that version 4 installed: the core or an expansion pack. */
export interface V4Folder {
  /** Its path in the tree; empty when the tree itself is the folder. */
  path: string;
  /** Its real name: `.bmad-core`. */
  name: string;
  /** The code of its module: the name without the dot. */
  code: string;
  /** Every file in it that may matter, by path from the folder. */
  files: readonly string[];
  manifest?: Manifest;
  /** The pack's `config.yaml`; empty for the core. */
  config: Table;
}

/** The BMAD folders of a tree, which may be one itself. */
export async function findFolders(tree: Tree, problems: Problem[]): Promise<V4Folder[]> {
  const entries = await tree.list('');
  const name = basename(tree.root);
  if (await isV4(tree, '', name, entries)) return [await readFolder(tree, '', name, entries, problems)];
  const found: V4Folder[] = [];
  for (const entry of entries) {
    if (entry.kind !== 'folder' || !/^(?:\.|bmad-)/.test(entry.name)) continue;
    // BMAD's own repository has its sources beside an install of itself; dotted names come first in the list.
    if (found.some(({ code }) => code === entry.name)) continue;
    const content = await entriesOf(tree, entry.name, problems);
    if (await isV4(tree, entry.name, entry.name, content)) {
      found.push(await readFolder(tree, entry.name, entry.name, content, problems));
    }
  }
  return found;
}

async function entriesOf(tree: Tree, path: string, problems: Problem[]): Promise<FolderEntry[]> {
  // Other programs' folders may be closed to us; that is not a problem with BMAD.
  return tree.list(path).catch(noted(path.startsWith('.bmad') ? problems : [], path, []));
}

/**
 * The installer leaves a manifest, and the core has its own configuration. Folders copied by hand may have neither:
 * then the name decides, or a pack's `config.yaml`. Version 6 modules have a `config.yaml` too, without a name in it.
 */
async function isV4(
  tree: Tree,
  path: string,
  name: string,
  entries: readonly FolderEntry[],
): Promise<boolean> {
  const folders = new Set(entries.filter(({ kind }) => kind === 'folder').map((entry) => entry.name));
  if (folders.has('_cfg') || folders.has('_config')) return false;
  if (!SHELF_NAMES.some((shelf) => folders.has(shelf))) return false;
  if (fileNamed(entries, 'install-manifest') !== undefined) return true;
  if (!folders.has('agents')) return false;
  if (fileNamed(entries, 'core-config') !== undefined || name.startsWith('.bmad-')) return true;
  const config = fileNamed(entries, 'config');
  if (config === undefined) return false;
  const text = plainText(await textOf(tree, placeIn(path, config), []));
  return /^(?:name|short-title|slashPrefix):/m.test(text);
}

async function readFolder(
  tree: Tree,
  path: string,
  name: string,
  entries: readonly FolderEntry[],
  problems: Problem[],
): Promise<V4Folder> {
  const parsed = async (
    stem: string,
    parse: (file: string, text: string) => ParsedYaml,
  ): Promise<Table | undefined> => {
    const file = fileNamed(entries, stem);
    if (file === undefined) return undefined;
    const place = placeIn(path, file);
    const { table, problem } = parse(place, await textOf(tree, place, problems));
    if (problem !== undefined) problems.push(problem);
    return table;
  };
  const manifest = await parsed('install-manifest', parseManifest);
  return {
    path,
    name,
    code: name.replace(/^\./, ''),
    files: await filesOf(tree, path, entries),
    ...(manifest === undefined ? {} : { manifest: manifestOf(manifest) }),
    config: (await parsed('config', parseTable)) ?? {},
  };
}

async function filesOf(tree: Tree, path: string, entries: readonly FolderEntry[]): Promise<string[]> {
  const found: string[] = [];
  for (const { kind, name } of entries) {
    if (kind !== 'folder' || !SHELF_NAMES.includes(name)) continue;
    for (const file of await tree.files(placeIn(path, name))) {
      found.push(path === '' ? file : file.slice(path.length + 1));
    }
  }
  return found;
}

/** A configuration file of that name; early versions write `.yml`. */
function fileNamed(entries: readonly FolderEntry[], stem: string): string | undefined {
  const names = [`${stem}.yaml`, `${stem}.yml`];
  return names.find((name) => entries.some((entry) => entry.kind === 'file' && entry.name === name));
}

async function textOf(tree: Tree, file: string, problems: Problem[]): Promise<string> {
  return tree.text(file).catch(noted(problems, file, ''));
}

function placeIn(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}

/** What an `install-manifest.yaml` says. */
interface Manifest {
  version?: string;
  /** Only in the manifest of an expansion pack: `bmad-2d-phaser-game-dev`. */
  packId?: string;
  packName?: string;
  /** The installed files, from the project's folder: `.bmad-core/tasks/create-doc.md`. */
  paths: readonly string[];
}

/** Each file has a hash and a flag that are not needed here; without them the parser has half the work. */
function parseManifest(file: string, text: string): ParsedYaml {
  return parseTable(file, text.replace(/^ +(?:hash|modified): .*$/gm, ''));
}

function manifestOf(table: Table): Manifest {
  const files = field(table, 'files');
  return present<Manifest>({
    version: scalarField(table, 'version'),
    packId: scalarField(table, 'expansion_pack_id'),
    packName: scalarField(table, 'expansion_pack_name'),
    paths: Array.isArray(files) ? files.flatMap(listedPath) : [],
  });
}

/** A row's path with forward slashes. One that points elsewhere is not the path of an installed file. */
function listedPath(row: unknown): string[] {
  const given = isTable(row) ? field(row, 'path') : row;
  if (typeof given !== 'string') return [];
  const segments = given.trim().replaceAll('\\', '/').replace(/^\.\//, '').split('/');
  const plain = segments.every((segment) => segment !== '' && segment !== '.' && segment !== '..');
  return plain && !segments[0]?.includes(':') ? [segments.join('/')] : [];
}

/**
 * The listed files as paths of the tree. The folder may have been renamed or be the tree itself, so the name it was
 * installed under counts as well as its own.
 */
export function listedInTree(manifest: Manifest, folder: { path: string; name: string }): string[] {
  const own = new Set([folder.name, `.${manifest.packId ?? 'bmad-core'}`]);
  return manifest.paths.flatMap((path) => {
    const slash = path.indexOf('/');
    // The core's manifest also lists the packs' files; each pack has its own manifest for those.
    if (!own.has(path.slice(0, slash))) return [];
    const inside = path.slice(slash + 1);
    return folder.path === '' ? [inside] : [`${folder.path}/${inside}`];
  });
}

interface Shelf {
  kind: RecordKind;
  format: RecordFormat;
  files: RegExp;
}

const DOCUMENT = /\.(?:md|markdown|txt|ya?ml|csv|tsv|json|xml)$/i;

/**
 * What each folder of a BMAD folder holds. Its `utils` are parts of agents, not things to start or look up, and the
 * installer leaves copies of changed files behind (`dev.md.bak1`), which no pattern takes.
 */
const SHELVES = new Map<string, Shelf>([
  ['agents', { kind: 'agent', format: 'v4-agent', files: /\.md$/i }],
  ['workflows', { kind: 'workflow', format: 'v4-workflow', files: /\.(?:ya?ml|md)$/i }],
  ['tasks', { kind: 'task', format: 'document', files: DOCUMENT }],
  ['templates', { kind: 'template', format: 'document', files: DOCUMENT }],
  ['checklists', { kind: 'checklist', format: 'document', files: DOCUMENT }],
  ['data', { kind: 'knowledge', format: 'document', files: DOCUMENT }],
  ['agent-teams', { kind: 'team', format: 'document', files: /\.ya?ml$/i }],
]);

const SHELF_NAMES: readonly string[] = [...SHELVES.keys()];

/** What a file is by its path in its BMAD folder; nothing for hidden files, read-me files and all else. */
export function shelfOf(path: string): Shelf | undefined {
  const segments = path.split('/');
  const shelf = SHELVES.get(segments[0] ?? '');
  const file = segments.at(-1) ?? '';
  if (shelf === undefined || segments.length < 2 || !shelf.files.test(file)) return undefined;
  const ignored = segments.some((segment) => segment.startsWith('.')) || /^readme\b/i.test(file);
  return ignored ? undefined : shelf;
}
