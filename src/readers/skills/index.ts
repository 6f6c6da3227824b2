import { mapLimited } from '../../base/async.ts';
import { ours, unlessShort, orElse } from '../../base/errors.ts';
import { t } from '../../base/text/message.ts';
import type { ModuleInfo } from '../../model/module.ts';
import type { BmadRecord, Problem } from '../../model/record.ts';
import { optionalText, type Source } from '../../sources/tree.ts';
import { type Reader, readable, READS_AT_ONCE, recordOf, readRows } from '../reader.ts';
import { type InstallManifest, readInstalledModules, readInstallManifest, readModule } from './modules.ts';
import { BESIDE_SKILL, findSkills, readBare, readSkill, readSkillAgain, type Shims } from './skill.ts';
import { sha256 } from '../../base/values.ts';
import { dirname } from 'node:path/posix';

const GENERATION = 'skills-6.11';

/** BMAD 6.11 and later as its package ships it: a folder a module, with `module.yaml` on top and skills below. */
export const skillsReader: Reader = {
  generation: GENERATION,
  beside: BESIDE_SKILL,
  again: readSkillAgain,
  async read(source) {
    const problems: Problem[] = [];
    const modules: ModuleInfo[] = [];
    const records: BmadRecord[] = [];
    for (const entry of await source.tree.list('')) {
      if (entry.kind !== 'folder' || /^[._]/.test(entry.name)) continue;
      // A module whose definition cannot be read costs itself, not the others.
      const definition = await readable(source.tree, `${entry.name}/module.yaml`, problems);
      if (definition === undefined) continue;
      const module = await readModule(source, entry.name, definition, problems);
      const { folders, bare, shims } = await findSkills(source.tree, entry.name, problems);
      modules.push(module);
      const common = { generation: GENERATION, bmadVersion: source.origin.bmadVersion };
      const found = await mapLimited(folders, READS_AT_ONCE, (folder) =>
        readSkill({ ...common, source, module, shims, folder, filedUnder: folder, listed: true }, problems),
      );
      records.push(...found.filter((record) => record !== undefined));
      const known = await mapLimited(bare, READS_AT_ONCE, (folder) =>
        readBare(source, module, folder, common, problems),
      );
      records.push(...known.filter((record) => record !== undefined));
      const shelves = folders.map((folder) => ({ folder, module: module.code }));
      records.push(...(await readKnowledge(source, shelves, common, problems)));
    }
    // The files are read side by side; the order of the report must not depend on which came first.
    problems.sort((a, b) => (a.file < b.file ? -1 : 1));
    return { records, modules, problems };
  },
};

const INSTALLED_GENERATION = 'skills-installed';

/** Folders of a BMAD root that are not modules. */
const NOT_MODULES = new Set(['docs', 'scripts', 'custom', 'render', 'memory']);

/**
 * Skills as the installers of 6.1 and later leave them: some in the BMAD root, from 6.3 on only in the folders of the
 * assistants, with a manifest that knows their modules and phases.
 */
export const installedSkillsReader: Reader = {
  generation: INSTALLED_GENERATION,
  beside: BESIDE_SKILL,
  again: readSkillAgain,
  async read(source) {
    const problems: Problem[] = [];
    const { modules: moduleFolders, assistants } = await topLevel(source);
    if (moduleFolders.length === 0 && assistants.length === 0) return { records: [], modules: [], problems };
    const manifest = await readInstallManifest(source.tree, problems);
    const places = await findPlaces(source, moduleFolders, assistants, manifest, problems);
    const codes = new Set([
      ...[...places.found.values()].map(({ module }) => module),
      ...[...manifest.skills.values()].map(({ module }) => module),
    ]);
    if (codes.size === 0) return { records: [], modules: [], problems: [] };
    // Only an installer makes every folder a module; elsewhere it is one by its skills.
    const installed = manifest.version !== undefined || manifest.skills.size > 0;
    const modules = await readInstalledModules(
      source,
      [...new Set([...codes, ...(installed ? moduleFolders : [])])],
      manifest,
      problems,
    );
    const records = await readPlaces(source, places, modules, manifest, problems);
    // The reader for compiled modules walks those of an install, and those with agents or workflows.
    const walked = new Set<string>();
    for (const name of moduleFolders)
      if (
        installed ||
        (await hasFolder(source.tree, `${name}/agents`)) ||
        (await hasFolder(source.tree, `${name}/workflows`))
      )
        walked.add(name);
    const shelves = [...places.found.values()].filter(
      ({ folder }) => !walked.has(folder.slice(0, folder.indexOf('/'))),
    );
    const knowledge = await readKnowledge(
      source,
      shelves,
      { generation: INSTALLED_GENERATION, bmadVersion: manifest.version },
      problems,
    );
    problems.sort((a, b) => (a.file < b.file ? -1 : 1));
    return {
      records: [...records, ...knowledge, ...dangling(source, manifest, places.ids)],
      modules: [...modules.values()],
      problems,
    };
  },
};

/** A module with `module.yaml` is in the shape of BMAD's package; the other skills reader takes it. */
async function topLevel({ tree, declared }: Source): Promise<{ modules: string[]; assistants: string[] }> {
  const modules: string[] = [];
  const assistants: string[] = [];
  for (const { name, kind } of await tree.list('')) {
    if (kind !== 'folder') continue;
    if (name.startsWith('.')) {
      if (await hasFolder(tree, `${name}/skills`)) assistants.push(`${name}/skills`);
    } else if (
      !name.startsWith('_') &&
      (!NOT_MODULES.has(name) || declared?.some(({ code }) => code === name) === true) &&
      (await optionalText(tree, `${name}/module.yaml`)) === undefined
    ) {
      modules.push(name);
    }
  }
  // Where copies differ, the one in the folder BMAD itself prefers is served.
  assistants.sort((a, b) => Number(b.startsWith('.claude/')) - Number(a.startsWith('.claude/')));
  return { modules, assistants };
}

async function hasFolder(tree: Source['tree'], path: string): Promise<boolean> {
  return tree.list(path).then(
    () => true,
    ours(() => false),
  );
}

interface Places {
  /** The folder each skill is served from, by module and id. */
  found: Map<string, { id: string; folder: string; module: string }>;
  ids: Set<string>;
  shims: Shims;
}

/** The copy in the BMAD root wins over one in an assistant's folder; other copies are identical and not read. */
async function findPlaces(
  source: Source,
  moduleFolders: readonly string[],
  assistants: readonly string[],
  manifest: InstallManifest,
  problems: Problem[],
): Promise<Places> {
  const places: Places = { found: new Map(), ids: new Set(), shims: new Map() };
  for (const start of [...moduleFolders, ...assistants]) {
    const { folders, shims } = await findSkills(source.tree, start, problems);
    for (const [old, deprecation] of shims) places.shims.set(old, deprecation);
    for (const folder of folders) {
      const id = folder.slice(folder.lastIndexOf('/') + 1);
      const assistant = start.startsWith('.');
      if (assistant && places.ids.has(id)) continue;
      const module = manifest.skills.get(id)?.module ?? (assistant ? 'custom' : start);
      // Two modules may each have a skill of the same name; in one module it is the same skill.
      const key = `${module}/${id}`;
      if (!places.found.has(key)) places.found.set(key, { id, folder, module });
      places.ids.add(id);
    }
  }
  return places;
}

async function readPlaces(
  source: Source,
  { found, shims }: Places,
  modules: ReadonlyMap<string, ModuleInfo>,
  manifest: InstallManifest,
  problems: Problem[],
): Promise<BmadRecord[]> {
  const records = await mapLimited(
    [...found.values()],
    READS_AT_ONCE,
    async ({ id, folder, module: code }) => {
      const row = manifest.skills.get(id);
      const module = modules.get(code);
      if (module === undefined) return undefined;
      const record = await readSkill(
        {
          source,
          generation: INSTALLED_GENERATION,
          module,
          shims,
          folder,
          filedUnder: row?.folder ?? folder,
          listed: row !== undefined,
          bmadVersion: manifest.version,
        },
        problems,
      );
      return record === undefined
        ? undefined
        : checkedLauncher(source, inItsModule(record, modules), problems);
    },
  );
  return records.filter((record) => record !== undefined).sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** A launcher belongs to the module of the file it launches. */
function inItsModule(record: BmadRecord, modules: ReadonlyMap<string, ModuleInfo>): BmadRecord {
  const module = record.launches?.split('/', 1)[0];
  return module !== undefined && modules.has(module) ? { ...record, moduleName: module } : record;
}

/** A launcher whose file is gone was left behind by an upgrade: it is shown, and not served. */
async function checkedLauncher(
  { tree }: Source,
  record: BmadRecord,
  problems: Problem[],
): Promise<BmadRecord> {
  if (record.launches === undefined) return record;
  const target = await tree.read(record.launches).catch(unlessShort(undefined));
  if (target !== undefined) return record;
  problems.push({
    file: record.bmadRelativePath,
    message: t`stale launcher: it loads "${record.launches}", which does not exist`,
  });
  return { ...record, exists: false, status: 'no-file-found' };
}

/** Rows of the manifest whose skill is nowhere on disk. */
function dangling(source: Source, manifest: InstallManifest, ids: Places['ids']): BmadRecord[] {
  const missing = [...manifest.skills.values()].filter(({ id }) => !ids.has(id));
  return missing.map(({ id, module, description, folder }) =>
    recordOf(source, {
      kind: 'skill',
      listed: true,
      moduleName: module,
      moduleVersion: manifest.moduleVersions.get(module),
      bmadVersion: manifest.version,
      name: id,
      description,
      bmadRelativePath: `${folder}/SKILL.md`,
      moduleRelativePath: `${folder.slice(folder.indexOf('/') + 1)}/SKILL.md`,
      generation: INSTALLED_GENERATION,
      format: 'skill',
      aliases: [],
      digest: undefined,
    }),
  );
}

/**
 * The knowledge fragments that skills bring along: an `*-index.csv` names them. Several skills of a module carry copies
 * of the same ones, so each is taken once, by its content.
 */
async function readKnowledge(
  source: Source,
  places: readonly { folder: string; module: string }[],
  common: Pick<BmadRecord, 'generation'> & { bmadVersion: string | undefined },
  problems: Problem[],
): Promise<BmadRecord[]> {
  const found = new Map<string, BmadRecord>();
  for (const { folder, module } of places) {
    const files = await source.tree.files(folder);
    const known = new Set(files);
    for (const index of files.filter((path) => /-index\.csv$/i.test(path))) {
      const rows = await fragmentRows(source, index, problems);
      const existing = rows.filter(({ path }) => known.has(path));
      const digests = await mapLimited(existing, READS_AT_ONCE, ({ path }) =>
        source.tree.read(path).then(sha256, orElse(undefined)),
      );
      for (const [at, row] of existing.entries()) {
        const digest = digests[at];
        if (digest === undefined || found.has(`${module} ${row.id} ${digest}`)) continue;
        found.set(`${module} ${row.id} ${digest}`, fragment(source, module, row, digest, common));
      }
    }
  }
  return [...found.values()];
}

interface FragmentRow {
  id: string;
  name: string;
  description: string;
  path: string;
}

async function fragmentRows({ tree }: Source, index: string, problems: Problem[]): Promise<FragmentRow[]> {
  return (await readRows(tree, index, problems)).flatMap(({ cell }) => {
    const path = cell('fragment_file').trim();
    if (path === '' || path.split('/').includes('..') || path.startsWith('/')) return [];
    const id = cell('id').trim() || path;
    return [{ id, name: cell('name'), description: cell('description'), path: `${dirname(index)}/${path}` }];
  });
}

function fragment(
  source: Source,
  module: string,
  { id, name, description, path }: FragmentRow,
  digest: string,
  common: { generation: string; bmadVersion: string | undefined },
): BmadRecord {
  return recordOf(source, {
    ...common,
    kind: 'knowledge',
    listed: true,
    moduleName: module,
    name: id,
    displayName: name === '' ? undefined : name,
    description,
    bmadRelativePath: path,
    moduleRelativePath: path,
    format: 'document',
    aliases: [name],
    digest,
  });
}
