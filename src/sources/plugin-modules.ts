import { join } from 'node:path';
import { basename, dirname } from 'node:path/posix';
import { attempt, expected } from '../base/errors.ts';
import { isTable, parseYaml, textField } from '../base/parse/parse.ts';
import { present } from '../base/values.ts';
import type { DeclaredModule } from '../model/module.ts';
import type { Disk, Opener } from './disk.ts';
import { moduleFolderName, moduleFoldersIn, moduleName, plainContent } from './bmad-folders.ts';
import type { Mount } from './mounted-tree.ts';
import { optionalText } from './tree.ts';

/** A plugin inside the folder of its marketplace. All paths begin at that folder. */
export interface Plugin {
  name: string;
  source: string;
  /** The folders of its skills; without them, its source says what is in it. */
  skills?: string[];
  title?: string;
  description?: string;
  version?: string;
}

export interface PluginModule {
  code: string;
  /** The folder of its `module.yaml`, if it has one. */
  definedIn: string | undefined;
  parts: Mount[];
  declared: DeclaredModule;
}

const DEFINITION = ['module.yaml', 'module-help.csv'];

/**
 * The modules of a plugin, by the rules of BMAD's own installer: the definition beside the skills, else the one in the
 * assets of a setup skill, else one in the assets of every skill, else a module of the plugin's name. One rule is ours:
 * skills in folders that are modules stay in them, so that BMAD's own package is `core` and `bmm` here too.
 */
export async function resolvePlugin(
  folder: string,
  plugin: Plugin,
  otherSources: readonly string[],
  from: Opener,
): Promise<PluginModule[]> {
  const { skills } = plugin;
  if (skills === undefined) return wholeSource(folder, plugin, otherSources, from);
  const homes = new Map<string | undefined, string[]>();
  for (const skill of skills) {
    const home = await moduleFolderOf(folder, skill, from.disk);
    homes.set(home, [...(homes.get(home) ?? []), skill]);
  }
  const defined = [...homes].filter((entry): entry is [string, string[]] => entry[0] !== undefined);
  const several = defined.length > 1;
  const modules: PluginModule[] = [];
  for (const [home, listed] of defined) {
    modules.push(
      several
        ? await wholeModule(folder, { at: moduleFolderName(home), path: home }, plugin, from)
        : await listedModule(folder, { plugin, definition: home, base: home, skills: listed, from }),
    );
  }
  const rest = homes.get(undefined) ?? [];
  if (rest.length > 0) modules.push(...(await standalone(folder, plugin, rest, from)));
  const [first] = modules;
  const alone = plugin.source !== '' || otherSources.length === 0;
  if (first !== undefined && alone && !several)
    first.parts.push(...(await ownParts(folder, plugin, skills, first, from)));
  return modules;
}

/** The nearest folder above a skill that is a module. */
async function moduleFolderOf(folder: string, skill: string, disk: Disk): Promise<string | undefined> {
  for (let path = skill; path !== '';) {
    path = dirname(path) === '.' ? '' : dirname(path);
    if (await disk.exists(join(folder, path, 'module.yaml'))) return path;
  }
  return undefined;
}

/** Skills outside any module: they may carry a definition in their assets. */
async function standalone(
  folder: string,
  plugin: Plugin,
  skills: readonly string[],
  from: Opener,
): Promise<PluginModule[]> {
  const base = commonParent(skills);
  const carrying: string[] = [];
  for (const skill of skills)
    if (await hasDefinition(folder, `${skill}/assets`, from.disk)) carrying.push(skill);
  const setup = carrying.find((skill) => skill.endsWith('-setup'));
  const only = setup ?? (skills.length === 1 ? carrying[0] : undefined);
  if (only === undefined && carrying.length === skills.length) {
    const modules: PluginModule[] = [];
    for (const skill of carrying) {
      const own = present<Plugin>({
        ...plugin,
        name: basename(skill),
        title: undefined,
        description: undefined,
      });
      const definition = `${skill}/assets`;
      modules.push(await listedModule(folder, { plugin: own, definition, base, skills: [skill], from }));
    }
    return modules;
  }
  const definition = only === undefined ? undefined : `${only}/assets`;
  return [await listedModule(folder, { plugin, definition, base, skills, from })];
}

async function hasDefinition(folder: string, path: string, disk: Disk): Promise<boolean> {
  for (const file of DEFINITION) if (!(await disk.exists(join(folder, path, file)))) return false;
  return true;
}

/** A module of the listed skills only, with its definition from wherever that is. */
async function listedModule(
  folder: string,
  {
    plugin,
    definition,
    base,
    skills,
    from,
  }: {
    plugin: Plugin;
    definition: string | undefined;
    /** The folder below which skills keep their places. */
    base: string;
    skills: readonly string[];
    from: Opener;
  },
): Promise<PluginModule> {
  const code = (await statedCode(folder, definition, from)) ?? plugin.name;
  const parts: Mount[] = skills.map((skill) => ({
    at: `${code}/${(base === '' ? skill : skill.slice(base.length + 1)) || plugin.name}`,
    tree: from.open(join(folder, skill)),
  }));
  if (definition !== undefined) {
    parts.push({ at: code, tree: from.open(join(folder, definition), (path) => DEFINITION.includes(path)) });
  }
  return { code, definedIn: definition, parts, declared: declaration(code, plugin) };
}

/** A plugin that lists no skills: the modules in its source, or all that is in it. */
async function wholeSource(
  folder: string,
  plugin: Plugin,
  otherSources: readonly string[],
  from: Opener,
): Promise<PluginModule[]> {
  const { name, source } = plugin;
  const place = join(folder, source);
  const modules: PluginModule[] = [];
  for (const { at, path } of await moduleFoldersIn(place, name, from.disk))
    modules.push(
      await wholeModule(folder, { at, path: [source, path].filter(Boolean).join('/') }, plugin, from),
    );
  if (modules.length > 0) return modules;
  const { skills, loose } = await plainContent(place, from.disk);
  if (!skills && loose.length === 0) return [];
  // What belongs to another plugin, or to none, as the marketplace itself, is not shown twice.
  const others = otherSources.filter((other) => other !== '' && other !== source);
  const shows = (path: string): boolean => {
    const full = source === '' ? path : `${source}/${path}`;
    return !others.some((other) => full === other || full.startsWith(`${other}/`));
  };
  const parts = [{ at: name, tree: from.open(place, shows) }];
  return [{ code: name, definedIn: undefined, parts, declared: declaration(name, plugin) }];
}

async function wholeModule(
  folder: string,
  { at, path }: { at: string; path: string },
  plugin: Plugin,
  from: Opener,
): Promise<PluginModule> {
  const code = (await statedCode(folder, path, from)) ?? moduleName(at) ?? plugin.name;
  const { name, source, version } = plugin;
  const declared = declaration(code, present<Plugin>({ name, source, version }));
  return { code, definedIn: path, parts: [{ at: code, tree: from.open(join(folder, path)) }], declared };
}

/** Agents and workflows beside the skills, in the usual folders of the plugin. */
async function ownParts(
  folder: string,
  { source }: Plugin,
  skills: readonly string[],
  { code, parts }: PluginModule,
  from: Opener,
): Promise<Mount[]> {
  const found: Mount[] = [];
  for (const name of ['agents', 'workflows']) {
    const path = source === '' ? name : `${source}/${name}`;
    const listed = skills.some((skill) => skill === path || skill.startsWith(`${path}/`));
    if (listed || parts.some(({ at }) => at === `${code}/${name}`)) continue;
    if (await from.disk.exists(join(folder, path)))
      found.push({ at: `${code}/${name}`, tree: from.open(join(folder, path)) });
  }
  return found;
}

function declaration(code: string, { title, description, version }: Plugin): DeclaredModule {
  return present<DeclaredModule>({ code, name: title, description, version });
}

/** The code a definition gives its module. A broken one is reported by the reader; here it is ignored. */
async function statedCode(
  folder: string,
  path: string | undefined,
  from: Opener,
): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const nothing = expected(() => undefined);
  const text = await optionalText(from.open(join(folder, path)), 'module.yaml').catch(nothing);
  const table = text === undefined ? undefined : attempt(() => parseYaml('module.yaml', text), nothing);
  return isTable(table) ? moduleName(textField(table, 'code') ?? '') : undefined;
}

function commonParent(paths: readonly string[]): string {
  const [first = '', ...others] = paths.map((path) => path.split('/').slice(0, -1));
  const parts = [first].flat();
  let length = parts.length;
  for (const other of others) {
    let same = 0;
    while (same < length && other[same] === parts[same]) same += 1;
    length = same;
  }
  return parts.slice(0, length).join('/');
}
