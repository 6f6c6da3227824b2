import { mapLimited } from '../../base/async.ts';
import type { CsvRow } from '../../base/parse/parse.ts';
import { t } from '../../base/text/message.ts';
import type { RecordFormat, BmadRecord, RecordKind } from '../../model/record.ts';
import { detailsOf, READS_AT_ONCE } from '../reader.ts';
import { entriesOf, type Finding, type Install, type Shelf } from './install.ts';
import {
  descriptionText,
  folderOf,
  type ListedFile,
  listedFiles,
  load,
  loadAll,
  type LoadedFile,
  moduleOf,
  nameText,
  rowOf,
  stemOf,
} from './manifests.ts';

/** What one kind of file is called, and how it is understood. */
export interface Understanding {
  kind: RecordKind;
  manifest: string;
  /** Which paths of the manifest are of this kind. */
  suffix: RegExp;
  /** Nothing when the file turns out to be something else; that is asked only of files no manifest lists. */
  understand(file: LoadedFile, row: CsvRow | undefined): Partial<Finding> | undefined;
  /** How the file is delivered, by its name. */
  formatOf(path: string): RecordFormat;
}

interface Gathering extends Understanding {
  /** Files on disk that look like it, apart from those the manifest lists. */
  onDisk(listed: ReadonlySet<string>): readonly string[];
}

/** Collects what a manifest lists and what is on disk, and finally the lines whose file no longer exists. */
export async function gather(install: Install, shelf: Shelf, gathering: Gathering): Promise<void> {
  const listed = await listedFiles(install, gathering.manifest, gathering.suffix);
  const files = await mapLimited(listed, READS_AT_ONCE, ({ path }) => loadListed(install, path));
  const there = new Set<string>();
  const gone: ListedFile[] = [];
  for (const [index, entry] of listed.entries()) {
    const file = files[index];
    if (file === 'missing') gone.push(entry);
    else if (file !== undefined) {
      there.add(entry.path);
      const found = {
        ...basics(gathering, file, entry.moduleName, true),
        ...gathering.understand(file, entry.row),
      };
      if (!shelf.add(found))
        install.problems.push({
          file: entry.path,
          message: t`another file in this module has the same name`,
        });
    }
  }
  await gatherUnlisted(install, shelf, gathering, there);
  for (const entry of gone) shelf.add(missing(gathering, entry));
}

/** The walk has seen every file of the modules; asking the disk again for thousands of stale lines would be slow. */
function loadListed(install: Install, path: string): Promise<LoadedFile | 'missing' | undefined> {
  const walked = install.moduleFolders.includes(path.slice(0, Math.max(0, path.indexOf('/'))));
  const linked = install.links.some((folder) => path.startsWith(folder));
  if (walked && !linked && !install.known.has(path)) return Promise.resolve('missing');
  return load(install.source, path, install.problems);
}

async function gatherUnlisted(
  install: Install,
  shelf: Shelf,
  gathering: Gathering,
  listed: ReadonlySet<string>,
): Promise<void> {
  const paths = gathering.onDisk(listed).filter((path) => !listed.has(path));
  for (const file of await loadAll(install.source, paths, install.problems)) {
    const understood = gathering.understand(file, undefined);
    if (understood === undefined) continue;
    const found = { ...basics(gathering, file, moduleOf(file.path), false), ...understood };
    // The same name in the same folder is the same thing in another form.
    const twin = shelf.like(found)?.bmadRelativePath;
    if (twin === undefined || folderOf(twin) !== folderOf(file.path)) shelf.addRenamed(found);
  }
}

/** What a file that was found again says now; nothing where it is not of this kind any more, or its line is not there. */
export async function understoodAgain(
  install: Install,
  understanding: Understanding,
  file: LoadedFile,
  { moduleName, source }: Pick<BmadRecord, 'moduleName' | 'source'>,
): Promise<Finding | undefined> {
  const listed = source === 'manifest';
  const row = listed ? await rowOf(install, understanding.manifest, file.path) : undefined;
  if (listed && row === undefined) return undefined;
  const understood = understanding.understand(file, row);
  return understood && { ...basics(understanding, file, moduleName, listed), ...understood };
}

function basics(
  { kind, formatOf }: Understanding,
  { path, digest }: LoadedFile,
  moduleName: string,
  listed: boolean,
): Finding {
  return {
    kind,
    moduleName,
    name: nameText(stemOf(path)) ?? stemOf(path),
    path,
    format: formatOf(path),
    digest,
    listed,
  };
}

function missing({ kind, formatOf }: Gathering, { path, moduleName, row }: ListedFile): Finding {
  return {
    kind,
    moduleName,
    name: kind === 'agent' ? stemOf(path) : (nameText(row.cell('name')) ?? stemOf(path)),
    path,
    format: formatOf(path),
    digest: undefined,
    listed: true,
    displayName: nameText(row.cell('displayName')),
    title: nameText(row.cell('title')),
    description: descriptionText(row.cell('description')) ?? nameText(row.cell('title')),
    aliases: [nameText(row.cell('canonicalId'))],
    details: detailsOf(row.cell),
  };
}

/**
 * Markdown files in a folder of the custom kit, which keeps its agents and workflows beside the manifests. Drafts and
 * templates among them are marked by their name.
 */
export async function kitFiles(install: Install, folder: 'agents' | 'workflows'): Promise<string[]> {
  const places = [...install.configs.map((config) => `${config}/custom`), 'custom'];
  const found: string[] = [];
  for (const place of places) {
    if (!(await hasFolder(install, place, folder))) continue;
    for (const { name, kind } of await entriesOf(install.source, `${place}/${folder}`, install.problems)) {
      if (kind === 'file' && /\.md$/i.test(name) && !/tpl\.|proposed\.|template\.|readme/i.test(name))
        found.push(`${place}/${folder}/${name}`);
    }
  }
  return found;
}

/** Asked step by step, because listing a folder that is not there would be a problem. */
async function hasFolder(install: Install, path: string, folder: string): Promise<boolean> {
  const [parent = '', child] = path.split('/');
  const { source, problems, topLevel } = install;
  if (!topLevel.has(parent)) return false;
  const within = async (place: string, wanted: string): Promise<boolean> =>
    (await entriesOf(source, place, problems)).some(({ name, kind }) => kind === 'folder' && name === wanted);
  return (child === undefined || (await within(parent, child))) && within(path, folder);
}
