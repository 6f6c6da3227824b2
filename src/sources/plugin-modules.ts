import { join } from 'node:path';
import { basename, dirname } from 'node:path/posix';
import { attempt, expected } from '../base/errors.ts';
import { isTable, parseYaml, textField } from '../base/parse/parse.ts';
import { present } from '../base/values.ts';
import type { DeclaredModule } from '../model/module.ts';
import { type Opener, optionalText, type Mount } from './tree.ts';
import { moduleFolderName, moduleFoldersIn, moduleName, plainContent } from './bmad-folders.ts';

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

/** The folder of the marketplace, and how what is in it is opened. */
interface Here extends Opener {
  folder: string;
}

const DEFINITION = ['module.yaml', 'module-help.csv'];

/**
 * The modules of a plugin, by the rules of BMAD's own installer: the definition beside the skills, else the one in the
 * assets of a setup skill, else one in the assets of every skill, else a module of the plugin's name. One rule is ours:
 * skills in folders that are modules stay in them, so that BMAD's own package is `core` and `bmm` here too.
 */
export async function resolvePlugin(
  here: Here,
  plugin: Plugin,
  otherSources: readonly string[],
): Promise<PluginModule[]> {
  const { skills } = plugin;
  if (skills === undefined) return wholeSource(here, plugin, otherSources);
  const homes = new Map<string | undefined, string[]>();
  for (const skill of skills) {
    const home = await moduleFolderOf(here, skill);
    homes.set(home, [...(homes.get(home) ?? []), skill]);
  }
  const defined = [...homes].filter((entry): entry is [string, string[]] => entry[0] !== undefined);
  const several = defined.length > 1;
  const modules: PluginModule[] = [];
  for (const [home, listed] of defined) {
    modules.push(
      several
        ? await wholeModule(here, { at: moduleFolderName(home), path: home }, plugin)
        : await listedModule(here, { plugin, definition: home, base: home, skills: listed }),
    );
  }
  const rest = homes.get(undefined) ?? [];
  if (rest.length > 0) modules.push(...(await standalone(here, plugin, rest)));
  const [first] = modules;
  const alone = plugin.source !== '' || otherSources.length === 0;
  if (first !== undefined && alone && !several)
    first.parts.push(...(await ownParts(here, plugin, skills, first)));
  return modules;
}

/** The nearest folder above a skill that is a module. */
async function moduleFolderOf({ folder, disk }: Here, skill: string): Promise<string | undefined> {
  for (let path = skill; path !== '';) {
    path = dirname(path) === '.' ? '' : dirname(path);
    if (await disk.exists(join(folder, path, 'module.yaml'))) return path;
  }
  return undefined;
}

/** Skills outside any module: they may carry a definition in their assets. */
async function standalone(here: Here, plugin: Plugin, skills: readonly string[]): Promise<PluginModule[]> {
  const base = commonParent(skills);
  const carrying: string[] = [];
  for (const skill of skills) if (await hasDefinition(here, `${skill}/assets`)) carrying.push(skill);
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
      modules.push(await listedModule(here, { plugin: own, definition, base, skills: [skill] }));
    }
    return modules;
  }
  const definition = only === undefined ? undefined : `${only}/assets`;
  return [await listedModule(here, { plugin, definition, base, skills })];
}

async function hasDefinition({ folder, disk }: Here, path: string): Promise<boolean> {
  for (const file of DEFINITION) if (!(await disk.exists(join(folder, path, file)))) return false;
  return true;
}

interface Listed {
  plugin: Plugin;
  definition: string | undefined;
  /** The folder below which skills keep their places. */
  base: string;
  skills: readonly string[];
}

/** A module of the listed skills only, with its definition from wherever that is. */
async function listedModule(here: Here, { plugin, definition, base, skills }: Listed): Promise<PluginModule> {
  const { folder, open } = here;
  const code = (await statedCode(here, definition)) ?? plugin.name;
  const parts: Mount[] = skills.map((skill) => ({
    at: `${code}/${(base === '' ? skill : skill.slice(base.length + 1)) || plugin.name}`,
    tree: open(join(folder, skill)),
  }));
  if (definition !== undefined) {
    parts.push({ at: code, tree: open(join(folder, definition), (path) => DEFINITION.includes(path)) });
  }
  return { code, definedIn: definition, parts, declared: declaration(code, plugin) };
}

/** A plugin that lists no skills: the modules in its source, or all that is in it. */
async function wholeSource(
  here: Here,
  plugin: Plugin,
  otherSources: readonly string[],
): Promise<PluginModule[]> {
  const { name, source } = plugin;
  const place = join(here.folder, source);
  const modules: PluginModule[] = [];
  for (const { at, path } of await moduleFoldersIn(place, name, here.disk))
    modules.push(await wholeModule(here, { at, path: [source, path].filter(Boolean).join('/') }, plugin));
  if (modules.length > 0) return modules;
  const { skills, loose } = await plainContent(place, here.disk);
  if (!skills && loose.length === 0) return [];
  // What belongs to another plugin, or to none, as the marketplace itself, is not shown twice.
  const others = otherSources.filter((other) => other !== '' && other !== source);
  const shows = (path: string): boolean => {
    const full = source === '' ? path : `${source}/${path}`;
    return !others.some((other) => full === other || full.startsWith(`${other}/`));
  };
  const parts = [{ at: name, tree: here.open(place, shows) }];
  return [{ code: name, definedIn: undefined, parts, declared: declaration(name, plugin) }];
}

async function wholeModule(
  here: Here,
  { at, path }: { at: string; path: string },
  plugin: Plugin,
): Promise<PluginModule> {
  const code = (await statedCode(here, path)) ?? moduleName(at) ?? plugin.name;
  const { name, source, version } = plugin;
  const declared = declaration(code, present<Plugin>({ name, source, version }));
  return { code, definedIn: path, parts: [{ at: code, tree: here.open(join(here.folder, path)) }], declared };
}

/** Agents and workflows beside the skills, in the usual folders of the plugin. */
async function ownParts(
  { folder, disk, open }: Here,
  { source }: Plugin,
  skills: readonly string[],
  { code, parts }: PluginModule,
): Promise<Mount[]> {
  const found: Mount[] = [];
  for (const name of ['agents', 'workflows']) {
    const path = source === '' ? name : `${source}/${name}`;
    const listed = skills.some((skill) => skill === path || skill.startsWith(`${path}/`));
    if (listed || parts.some(({ at }) => at === `${code}/${name}`)) continue;
    if (await disk.exists(join(folder, path)))
      found.push({ at: `${code}/${name}`, tree: open(join(folder, path)) });
  }
  return found;
}

function declaration(code: string, { title, description, version }: Plugin): DeclaredModule {
  return present<DeclaredModule>({ code, name: title, description, version });
}

/** The code a definition gives its module. A broken one is reported by the reader; here it is ignored. */
async function statedCode({ folder, open }: Here, path: string | undefined): Promise<string | undefined> {
  if (path === undefined) return undefined;
  const nothing = expected(() => undefined);
  const text = await optionalText(open(join(folder, path)), 'module.yaml').catch(nothing);
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
