import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { present } from '../../base/present.ts';
import { scalarField, type ParsedYaml, parseTable } from './yaml-text.ts';

/** What an `install-manifest.yaml` says. */
export interface Manifest {
  version?: string;
  /** Only in the manifest of an expansion pack: `bmad-2d-phaser-game-dev`. */
  packId?: string;
  packName?: string;
  /** The installed files, from the project's folder: `.bmad-core/tasks/create-doc.md`. */
  paths: readonly string[];
}

/** Each file has a hash and a flag that are not needed here; without them the parser has half the work. */
export function parseManifest(file: string, text: string): ParsedYaml {
  return parseTable(file, text.replace(/^ +(?:hash|modified): .*$/gm, ''));
}

export function manifestOf(table: Table): Manifest {
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
