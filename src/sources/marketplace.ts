import { t } from '../base/text/message.ts';
import { join, sep } from 'node:path';
import { normalize } from 'node:path/posix';
import { BmadError, quoted } from '../base/errors.ts';
import { field, isTable, type Table, textField } from '../base/parse/parse.ts';
import { present } from '../base/values.ts';
import type { DeclaredModule } from '../model/module.ts';
import { type Disk, type Opener, optionalText, type Tree, type Mount } from './tree.ts';
import { moduleName } from './bmad-folders.ts';
import { resolvePlugin, type Plugin, type PluginModule } from './plugin-modules.ts';
import { isTooDeep } from '../base/parse/json.ts';

const MARKETPLACE = '.claude-plugin/marketplace.json';

/**
 * The modules that a marketplace lists. Nothing is fetched: a plugin that is stored elsewhere is named in a warning, as
 * is anything else that cannot be used. Undefined if there is no marketplace, or if it leads to nothing.
 */
export async function readMarketplace(
  folder: string,
  from: Opener,
  warn: (message: string) => void,
): Promise<{ parts: Mount[]; declared: DeclaredModule[] } | undefined> {
  const data = await marketplaceData(from.open(folder), warn);
  if (data === undefined) return undefined;
  const plugins = await localPlugins(folder, data, from.disk, warn);
  const modules = new Map<string, PluginModule>();
  const taken = new Set<string>();
  for (const plugin of plugins) {
    // A skill that two plugins list is served once, from the first of them.
    const skills = plugin.skills?.filter((path) => !taken.has(path));
    if (plugin.skills !== undefined && skills?.length === 0 && plugin.skills.length > 0) continue;
    for (const path of skills ?? []) taken.add(path);
    const others = plugins.filter((other) => other !== plugin).map(({ source }) => source);
    for (const module of await resolvePlugin(
      { ...from, folder },
      present<Plugin>({ ...plugin, skills }),
      others,
    ))
      if (!added(modules, module))
        warn(
          t`${MARKETPLACE}: plugin ${quoted(plugin.name)}: a module ${quoted(module.code)} already exists`,
        );
  }
  if (modules.size === 0) return undefined;
  return {
    parts: [...modules.values()].flatMap(({ parts }) => parts),
    declared: [...modules.values()].map(({ declared }) => declared),
  };
}

/** Plugins may share a module, each with some of its skills; the same name in another place is a different module. */
function added(modules: Map<string, PluginModule>, module: PluginModule): boolean {
  const known = modules.get(module.code);
  if (known === undefined) {
    modules.set(module.code, module);
    return true;
  }
  if (known.definedIn === undefined || known.definedIn !== module.definedIn) return false;
  const places = new Set(known.parts.map(({ at }) => at));
  known.parts.push(...module.parts.filter(({ at }) => !places.has(at)));
  return true;
}

/** The parsed file; the other ways to read the folder remain when it cannot be used. */
async function marketplaceData(tree: Tree, warn: (message: string) => void): Promise<Table | undefined> {
  try {
    const text = await optionalText(tree, MARKETPLACE);
    if (text === undefined) return undefined;
    const data: unknown = JSON.parse(text.replace(/^\uFEFF/, ''));
    if (isTooDeep(data)) warn(t`${MARKETPLACE} is nested too deeply`);
    else if (isTable(data) && Array.isArray(field(data, 'plugins'))) return data;
    else warn(t`${MARKETPLACE} has no list "plugins"`);
  } catch (error) {
    if (error instanceof SyntaxError) warn(t`${MARKETPLACE} is not valid JSON`);
    else if (error instanceof BmadError) warn(t`${MARKETPLACE} cannot be read: ${error.message}`);
    else throw error;
  }
  return undefined;
}

async function localPlugins(
  folder: string,
  data: Table,
  disk: Disk,
  warn: (message: string) => void,
): Promise<Plugin[]> {
  const inside: FolderInside = (path) => folderInside(folder, path, disk);
  const metadata = field(data, 'metadata');
  const base = isTable(metadata) ? (textField(metadata, 'pluginRoot') ?? '') : '';
  const plugins: Plugin[] = [];
  for (const entry of field(data, 'plugins') as unknown[]) {
    const stated = isTable(entry) ? textField(entry, 'name') : undefined;
    const name = stated === undefined ? undefined : moduleName(stated);
    if (!isTable(entry) || name === undefined) {
      warn(t`${MARKETPLACE} lists a plugin without a name`);
      continue;
    }
    const tell = (message: string): void => warn(t`${MARKETPLACE}: plugin ${quoted(name)}: ${message}`);
    const source = await sourceOf(inside, entry, base, tell);
    if (source === undefined) continue;
    const skills = await skillsOf(inside, entry, source, tell);
    if (skills?.length === 0) continue;
    const shown = (key: string, length: number): string | undefined =>
      textField(entry, key)?.trim().slice(0, length) || undefined;
    plugins.push(
      present<Plugin>({
        name,
        source,
        skills,
        title: shown('displayName', 200),
        description: shown('description', 2_000),
        version: shown('version', 64),
      }),
    );
  }
  return plugins;
}

/** Where a plugin is, from the folder; undefined, with a warning, if it is not in the folder. */
async function sourceOf(
  inside: FolderInside,
  entry: Table,
  base: string,
  tell: (message: string) => void,
): Promise<string | undefined> {
  const source = field(entry, 'source') ?? './';
  if (typeof source !== 'string' || /:\/\/|^[\w.-]+@/.test(source)) {
    tell(t`it is stored elsewhere and is not fetched; add its repository or folder as a separate source`);
    return undefined;
  }
  // A base folder is for sources that are bare names.
  const path = base !== '' && !/^\.{0,2}\//.test(source) ? `${base}/${source}` : source;
  return usable(await inside(path), t`its source ${quoted(source)}`, tell);
}

/** The listed skills, from the folder; nothing when none are listed. Paths begin at the folder, or at the plugin. */
async function skillsOf(
  inside: FolderInside,
  entry: Table,
  source: string,
  tell: (message: string) => void,
): Promise<string[] | undefined> {
  const listed = [field(entry, 'skills') ?? []].flat() as unknown[];
  if (listed.length === 0) return undefined;
  const found: string[] = [];
  for (const item of listed) {
    if (typeof item !== 'string') {
      tell(t`it lists a skill that is not a path`);
      continue;
    }
    const atTop = await inside(item);
    const place = atTop === 'missing' ? await inside(`${source || '.'}/${item}`) : atTop;
    const path = usable(place, t`its skill ${quoted(item)}`, tell);
    if (path !== undefined && !found.includes(path)) found.push(path);
  }
  return found;
}

function usable(place: PathInside, what: string, tell: (message: string) => void): string | undefined {
  if (place === 'outside') tell(t`${what} points outside the folder and is left out`);
  else if (place === 'missing') tell(t`${what} does not exist`);
  else return place.path;
  return undefined;
}

/** A folder named by a file in another folder: its path from there, or why it cannot be used. */
type PathInside = { path: string } | 'outside' | 'missing';
type FolderInside = (written: string) => Promise<PathInside>;

/** Where a written path leads, links included. `root` is a real path. */
async function folderInside(root: string, written: string, disk: Disk): Promise<PathInside> {
  if (/^(?:\/|~|[A-Za-z]:)|[\\\0]/.test(written)) return 'outside';
  const path = normalize(written)
    .replace(/^\.\//, '')
    .replace(/^\.?\/?$|\/$/, '');
  if (path === '..' || path.startsWith('../')) return 'outside';
  const real = await disk.realFolder(join(root, path));
  if (real === undefined) return 'missing';
  return real === root || real.startsWith(root.endsWith(sep) ? root : root + sep) ? { path } : 'outside';
}
