import { basename, dirname } from 'node:path';
import { orElse } from '../../base/expected.ts';
import type { Catalogue } from '../../catalogue/catalogue.ts';
import type { Origin } from '../../model/origin.ts';
import { qualifiedName, type BmadRecord, type RecordDetails } from '../../model/record.ts';

/** A record as the master manifest shows it: with whole paths, and with where the manifests of its origin are. */
export type MasterRecord = Omit<BmadRecord, 'details' | 'likeness' | 'origin'> &
  RecordDetails & {
    origin: Origin & { manifestDir?: string };
    /** What is served in its place, if it is not served itself. */
    overriddenBy?: { name: string; origin: string };
  };

export type ManifestFolders = ReadonlyMap<Origin, string>;

export function masterRecord(
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
export function rootedPath({
  origin,
  bmadRelativePath: path,
}: Pick<BmadRecord, 'origin' | 'bmadRelativePath'>): string {
  const folder = origin.kind === 'package' ? USUAL_FOLDER : basename(origin.root);
  // Version 4 and the skills of an assistant lie beside such a folder, in one of their own.
  return path.startsWith('.') || path.startsWith(`${folder}/`) ? path : `${folder}/${path}`;
}

const INSTALL_MANIFESTS = new Set(['install-manifest.yaml', 'install-manifest.yml']);

/** Where the manifests of each origin are: `_config`, `_cfg` in the alphas, the folder itself in version 4. */
export async function manifestFolders(sources: Catalogue['sources']): Promise<ManifestFolders> {
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
