import { noted } from '../../base/expected.ts';
import { basename } from 'node:path';
import type { FolderEntry } from '../../base/files/files.ts';
import type { Table } from '../../base/parse/parse.ts';
import type { Problem } from '../../model/record.ts';
import type { Tree } from '../../sources/tree.ts';
import { SHELF_NAMES } from './layout.ts';
import { manifestOf, parseManifest, type Manifest } from './manifest.ts';
import { parseTable, plainText, type ParsedYaml } from './yaml-text.ts';

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
  const text = plainText(await textOf(tree, inside(path, config), []));
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
    const place = inside(path, file);
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
    for (const file of await tree.files(inside(path, name))) {
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

function inside(path: string, name: string): string {
  return path === '' ? name : `${path}/${name}`;
}
