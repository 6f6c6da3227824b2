import { basename } from 'node:path';
import { fromProject } from '../../base/files/paths.ts';
import { BmadError, ParseError } from '../../base/errors.ts';
import { field, isTable, parseToml, type Table, tableOf } from '../../base/parse/parse.ts';
import {
  isPlaceholderName,
  type KitLayer,
  type KitSettings,
  NO_KIT_SETTINGS,
} from '../../kit/configuration.ts';
import type { ModuleInfo } from '../../model/module.ts';
import type { Problem } from '../../model/record.ts';
import { optionalText, type Tree } from '../../sources/tree.ts';

interface Layered {
  values: Table;
  /** The files that contributed, the weakest first. */
  files: string[];
  problems: Problem[];
}

/** Puts TOML files on top of `base`, in order. A layer that cannot be used is left out and reported. */
export async function applyLayers(
  base: Table,
  tree: Tree | undefined,
  paths: readonly string[],
  shown = (path: string): string => `_bmad/${path}`,
): Promise<Layered> {
  const layered: Layered = { values: base, files: [], problems: [] };
  if (tree === undefined) return layered;
  for (const path of paths) {
    try {
      const text = await optionalText(tree, path);
      if (text === undefined) continue;
      layered.values = structuralMerge(layered.values, parseToml(shown(path), text)) as Table;
      layered.files.push(path);
    } catch (error) {
      if (!(error instanceof ParseError || error instanceof BmadError || error instanceof MergeError))
        throw error;
      layered.problems.push({ file: shown(path), message: error.message });
    }
  }
  return layered;
}

/** An override that BMAD's own resolver refuses. */
export class MergeError extends Error {
  override readonly name = 'MergeError';
}

/**
 * BMAD's structural merge: tables merge key by key; lists whose items are all tables with a `code` (else an `id`)
 * replace by that key and append what is new; other lists append; anything else is replaced.
 */
export function structuralMerge(base: unknown, override: unknown): unknown {
  if (isTable(base) && isTable(override)) {
    const result = new Map(Object.entries(base));
    for (const [key, value] of Object.entries(override)) {
      result.set(key, result.has(key) ? structuralMerge(result.get(key), value) : value);
    }
    return Object.fromEntries(result);
  }
  if (Array.isArray(base) && Array.isArray(override)) return mergeLists(base, override);
  return override;
}

function mergeLists(base: readonly unknown[], override: readonly unknown[]): unknown[] {
  const key = identifyingKey([...base, ...override]);
  if (key === undefined) return [...base, ...override];
  const merged = [...(base as Table[])];
  const position = new Map(merged.map((item, index) => [item[key], index]));
  for (const item of override as Table[]) {
    const at = position.get(item[key]);
    if (at === undefined) position.set(item[key], merged.push(item) - 1);
    else merged[at] = item;
  }
  return merged;
}

function identifyingKey(items: readonly unknown[]): string | undefined {
  if (items.length === 0 || !items.every(isTable)) return undefined;
  for (const key of ['code', 'id']) {
    if (!items.every((item) => Object.hasOwn(item, key))) continue;
    for (const item of items) {
      if (typeof item[key] !== 'string' || item[key] === '') {
        throw new MergeError(`the "${key}" of each entry in a list of tables must be a non-empty string`);
      }
    }
    return key;
  }
  return undefined;
}

/** The files of the central configuration, the weakest first. */
export const CENTRAL_LAYERS = [
  'config.toml',
  'config.user.toml',
  'custom/config.toml',
  'custom/config.user.toml',
];

/** The installer's own files are weaker than the kit's page about the project, overrides are stronger. */
const OF_INSTALLER = CENTRAL_LAYERS.slice(0, 2);
const OVERRIDES = CENTRAL_LAYERS.slice(2);

export interface Central extends Layered {
  /** Every file that took part, as people find it, the weakest first. */
  from: string[];
  kit: KitSettings;
}

/**
 * The merged central configuration, as BMAD's `resolve_config.py` prints it, with what the kit's files set in it. A
 * project without an install gets what the installer would have written: the defaults of the modules and the roster of
 * their agents. The weakest first: defaults, the kit's `_memory/config.yaml`, what the installer wrote, the kit's
 * `project-context.yaml`, overrides.
 */
export async function centralConfig(
  modules: readonly ModuleInfo[],
  projectRoot: string | undefined,
  bmad: Tree | undefined,
  kit: KitSettings = NO_KIT_SETTINGS,
): Promise<Central> {
  const alone = await applyLayers({}, bmad, OF_INSTALLER);
  // An installed configuration is self-contained; one that cannot be used counts as none and is reported.
  const isInstalled = alone.files.includes('config.toml');
  const base = isInstalled ? withKit({}, kit.memory) : defaultConfig(modules, projectRoot, kit);
  const installed = Object.keys(base).length === 0 ? alone : await applyLayers(base, bmad, OF_INSTALLER);
  const merged = await applyLayers(withKit(installed.values, kit.context), bmad, OVERRIDES);
  const values = withGivenName(merged.values, kit);
  const shown = (files: readonly string[]): string[] => files.map((file) => `_bmad/${file}`);
  return {
    values,
    files: [...installed.files, ...merged.files],
    from: [
      // Only a central configuration of the project's own replaces what the modules bring along.
      ...(isInstalled ? [] : ['the values of the modules']),
      ...filesOf(kit.memory),
      ...shown(installed.files),
      ...filesOf(kit.context),
      ...shown(merged.files),
    ],
    problems: [...kit.problems, ...installed.problems, ...merged.problems],
    kit,
  };
}

/**
 * The name of the person, where the strongest layer has only what an installer writes for one: then any that was given,
 * in the order of the layers; by another module, on the kit's page, in its memory folder, or at `bmad setup`.
 */
function withGivenName(values: Table, { context, memory }: KitSettings): Table {
  const key = 'user_name';
  const named = [
    tableOf(field(values, 'core')),
    ...Object.values(tableOf(field(values, 'modules'))).map(tableOf),
  ]
    .map((table) => field(table, key))
    .filter((value) => typeof value === 'string' && value.trim() !== '');
  if (!named.some((value) => isPlaceholderName(key, value))) return values;
  const given = [...named, context?.values[key]?.value, memory?.values[key]?.value].find(
    (value) => typeof value === 'string' && !isPlaceholderName(key, value),
  );
  if (typeof given !== 'string') return values;
  const places = [
    ['core', key],
    ...Object.keys(tableOf(field(values, 'modules'))).map((code) => ['modules', code, key]),
  ];
  let merged = values;
  for (const place of places) {
    const known = place.reduce<unknown>((table, name) => field(tableOf(table), name), merged);
    if (isPlaceholderName(key, known)) merged = structuralMerge(merged, nested(place, given)) as Table;
  }
  return merged;
}

/** Everything that a layer was read from, the weakest first. */
function filesOf(layer: KitLayer | undefined): string[] {
  if (layer === undefined) return [];
  const others = Object.values(layer.values).flatMap(({ file }) => file ?? []);
  return [...new Set([...others, layer.file])];
}

/** The keys under which a setting of the kit is found: in core, or in each module that has it. */
export function kitPlaces(values: Table, key: string): string[][] {
  if (Object.hasOwn(tableOf(field(values, 'core')), key)) return [['core', key]];
  const modules = Object.entries(tableOf(field(values, 'modules')));
  const having = modules.filter(([, own]) => Object.hasOwn(tableOf(own), key));
  return having.length === 0 ? [['core', key]] : having.map(([code]) => ['modules', code, key]);
}

function withKit(values: Table, layer: KitLayer | undefined): Table {
  let merged: Table = values;
  for (const [key, { value }] of Object.entries(layer?.values ?? {}))
    for (const place of kitPlaces(merged, key))
      merged = structuralMerge(merged, nested(place, value)) as Table;
  return merged;
}

function nested([name = '', ...rest]: readonly string[], value: string): Table {
  return { [name]: rest.length === 0 ? value : nested(rest, value) };
}

export function defaultConfig(
  modules: readonly ModuleInfo[],
  projectRoot: string | undefined,
  kit: KitSettings = NO_KIT_SETTINGS,
): Table {
  const plain = new Map<string, string>([
    ['directory_name', projectRoot === undefined ? 'project' : basename(projectRoot)],
  ]);
  const values = new Map<string, Table>();
  // The core module's answers may be used in the defaults of the others.
  for (const module of [...modules].sort((a, b) => Number(b.code === 'core') - Number(a.code === 'core'))) {
    const answers: [string, string][] = [];
    // What an installer of the project wrote is stronger than the memory folder's own file.
    const weak = module.origin.kind === 'project' ? undefined : kit.memory;
    for (const setting of module.settings) {
      const given = (kit.context?.values[setting.key] ?? weak?.values[setting.key])?.value;
      const answer =
        (given === undefined ? undefined : fromProject(given)) ??
        setting.default.replace(/\{([\w-]+)\}/g, (whole, key: string) => plain.get(key) ?? whole);
      plain.set(setting.key, answer);
      answers.push([setting.key, setting.result.replace('{value}', () => answer)]);
    }
    values.set(module.code, Object.fromEntries(answers));
  }
  const { core, ...others } = Object.fromEntries(values);
  const agents = Object.fromEntries(
    modules.flatMap(({ code: module, roster }) =>
      roster.map(({ code, ...entry }) => [code, { module, ...entry }]),
    ),
  );
  const all = { ...(core === undefined ? {} : { core }), modules: others, agents };
  const unknown = Object.entries(kit.memory?.values ?? {}).filter(
    ([key]) => !modules.some(({ settings }) => settings.some((setting) => setting.key === key)),
  );
  return kit.memory === undefined
    ? all
    : withKit(all, { ...kit.memory, values: Object.fromEntries(unknown) });
}
