import { mapLimited } from '../../base/async.ts';
import { present } from '../../base/values.ts';
import { compare } from '../../base/text/text.ts';
import type { ModuleInfo, RosterEntry } from '../../model/module.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import type { Source } from '../../sources/tree.ts';
import { type Reader, READS_AT_ONCE } from '../reader.ts';
import { findFolders, listedInTree, shelfOf, type V4Folder } from './folder.ts';
import { GENERATION, missingRecord, readRecord, type V4File } from './record.ts';
import { scalarField } from './yaml-text.ts';

/** BMAD 4 and 5 as its installer leaves it: `.bmad-core`, and beside it a folder an expansion pack. */
export const v4Reader: Reader = {
  generation: GENERATION,
  async read(source) {
    const problems: Problem[] = [];
    const folders = await findFolders(source.tree, problems);
    const { existing, missing } = placesIn(source, folders);
    const read = await mapLimited(existing, READS_AT_ONCE, (place) => readRecord(place, problems));
    const records = [...read, ...missing.map(missingRecord)]
      .filter((record) => record !== undefined)
      .sort((a, b) => compare(a.bmadRelativePath, b.bmadRelativePath));
    // The files are read side by side; the order of the report must not depend on which came first.
    problems.sort((a, b) => compare(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0));
    return { records, modules: folders.map((folder) => moduleOf(source, folder, records)), problems };
  },
};

/** The existing files, and those that a manifest lists but that no longer exist. */
function placesIn(source: Source, folders: readonly V4Folder[]): { existing: V4File[]; missing: V4File[] } {
  const bmadVersion = coreVersion(folders);
  const listed = new Set<string>();
  for (const folder of folders) {
    if (folder.manifest === undefined) continue;
    for (const path of listedInTree(folder.manifest, folder)) listed.add(path);
  }
  const placeOf = (treePath: string, folder: V4Folder | undefined): V4File => {
    const start = folder?.path === '' ? 0 : treePath.indexOf('/') + 1;
    return {
      source,
      moduleName: folder?.code ?? treePath.slice(0, start - 1).replace(/^\./, ''),
      moduleVersion: folder === undefined ? undefined : versionOf(folder),
      bmadVersion,
      treePath,
      path: treePath.slice(start),
      beside: folder?.files ?? [],
      listed: listed.has(treePath),
    };
  };
  const existing = folders.flatMap((folder) =>
    folder.files.map((file) => placeOf(folder.path === '' ? file : `${folder.path}/${file}`, folder)),
  );
  const found = new Set(existing.map(({ treePath }) => treePath));
  const missing = [...listed]
    .filter((path) => !found.has(path))
    .map((path) => {
      const inside = folders.find((folder) => folder.path === '' || path.startsWith(`${folder.path}/`));
      return placeOf(path, inside);
    });
  return { existing: existing.filter(({ path }) => shelfOf(path) !== undefined), missing };
}

/** BMAD's own version is the core's; packs count theirs apart. */
function coreVersion(folders: readonly V4Folder[]): string | undefined {
  const cores = folders.filter(({ manifest }) => manifest !== undefined && manifest.packId === undefined);
  return (cores.find(({ code }) => code === 'bmad-core') ?? cores[0])?.manifest?.version;
}

function versionOf({ manifest, config }: V4Folder): string | undefined {
  return manifest?.version ?? scalarField(config, 'version');
}

function moduleOf(source: Source, folder: V4Folder, records: readonly BmadRecord[]): ModuleInfo {
  const { code, config, manifest } = folder;
  return present<ModuleInfo>({
    code,
    name: scalarField(config, 'short-title') ?? manifest?.packName ?? scalarField(config, 'name') ?? code,
    description: scalarField(config, 'description') ?? '',
    version: versionOf(folder),
    origin: source.origin,
    settings: [],
    roster: records
      .filter((record) => record.kind === 'agent' && record.exists && record.moduleName === code)
      .map(rosterEntry),
    help: [],
  });
}

function rosterEntry({ name, displayName, title, icon, moduleName, description }: BmadRecord): RosterEntry {
  return {
    code: name,
    name: displayName ?? name,
    title: title ?? '',
    icon: icon ?? '',
    team: moduleName,
    description,
  };
}
