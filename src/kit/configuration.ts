import { join } from 'node:path';
import { attempt, orElse, BmadError, noted } from '../base/errors.ts';
import { readInside, realFolder } from '../base/files/files.ts';
import { KeptByStamp } from '../base/files/file-stamps.ts';
import {
  field,
  isTable,
  parseConfig,
  type Table,
  textField,
  parseYaml,
  tableOf,
} from '../base/parse/parse.ts';
import { fromProject, inProject } from '../base/files/paths.ts';
import { BMAD_FOLDERS, OUTPUT_FOLDERS, ROOT_FOLDERS } from '../base/product.ts';
import { t } from '../base/text/message.ts';
import type { Seen } from '../base/files/keeper.ts';
import { conflictsIn } from '../base/text/diff.ts';
import type { Problem } from '../model/record.ts';

const MAX_BYTES = 2_000_000;

/** Where BMAD's configuration names the output folder, the file that decides first. */
const OVERRIDES = ['custom/config.user.toml', 'custom/config.toml'];
const INSTALLED = [
  'config.user.toml',
  'config.toml',
  ...['core', 'bmm', 'bmgd', 'gds', '_memory'].map((folder) => `${folder}/config.yaml`),
];
export const CONFIG_FILES: readonly string[] = [...OVERRIDES, ...INSTALLED];

/** What the configuration files of all versions say, the one that decides first: read once for all that is asked of them. */
type Configuration = Awaited<ReturnType<typeof readConfiguration>>;

export async function readConfiguration(root: string) {
  const files: { isOverride: boolean; core: Table }[] = [];
  for (const top of ROOT_FOLDERS) {
    // Most projects have one of these at most, and this is asked with every call.
    if ((await realFolder(join(root, top))) === undefined) continue;
    for (const file of CONFIG_FILES) {
      const config = await configTable(root, `${top}/${file}`);
      if (config === undefined) continue;
      const core = field(config, 'core');
      files.push({ isOverride: OVERRIDES.includes(file), core: isTable(core) ? core : config });
    }
  }
  /** What is said for a setting of BMAD's core, by all of them or by some. */
  const said = (setting: string, which?: 'overrides' | 'installed'): string[] =>
    files.flatMap(({ isOverride, core }) =>
      which !== undefined && isOverride !== (which === 'overrides') ? [] : (textField(core, setting) ?? []),
    );
  return {
    said,
    /** The output folders that they name, without doubles. */
    outputs(problems: string[] = []): string[] {
      const inside = said('output_folder').flatMap((value) => insideProject(root, value, problems) ?? []);
      return [...new Set(inside)];
    },
  };
}

/** The folder of a project for what its agents produce, below its root: `_bmad-output`, or what its configuration names. */
export async function outputFolder(root: string, own: string, { outputs }: Configuration): Promise<string> {
  const usual = `${own}-output`;
  const named = outputs().filter((folder) => folder !== '');
  let found = named[0] ?? usual;
  for (const folder of [...named, usual].toReversed())
    if ((await realFolder(join(root, folder))) !== undefined) found = folder;
  return found;
}

/**
 * Which files of a project, by their paths, are BMAD's whatever git says: those in its folders, and what
 * its agents have produced. The project's own configuration names the folder of the latter, so it is not believed any further.
 */
export async function ownFilesOf({
  root,
  output,
}: {
  root: string;
  output: string | undefined;
}): Promise<(path: string) => boolean> {
  const folders: string[] = [];
  for (const sign of BMAD_FOLDERS)
    if ((await realFolder(join(root, sign))) !== undefined) folders.push(`${sign.split('/', 1)[0]}/`);
  return (path) =>
    folders.some((folder) => path.startsWith(folder)) ||
    (output !== undefined && path.startsWith(`${output}/`) && (isOutputName(output) || NOTE.test(path)));
}

/** Only this name says that nothing else is in a folder: `apps/bmad-ui` may be a program, and `.env.d` hold keys. */
export const isOutputName = (folder: string): boolean =>
  /(?:^|\/)[._]?(?:bmad|grimoire)-output$/i.test(folder);

/** What BMAD writes into any folder it is given; other documents may be what a program is made from. */
export const NOTE = /\.md$|status\.ya?ml$/i;

/** Whether the project is one of BMAD's: it has an output folder, or a folder of BMAD's own. */
export async function hasBmad(root: string, { outputs }: Configuration): Promise<boolean> {
  for (const folder of [...OUTPUT_FOLDERS, ...BMAD_FOLDERS])
    if ((await realFolder(join(root, folder))) !== undefined) return true;
  return outputs().length > 0;
}

/** A configured path as one from the top of the project. */
export function insideProject(root: string, value: string, problems: string[]): string | undefined {
  if (fromProject(value.trim()) === '') return undefined;
  // Installers have left the placeholder in; what it stood for is the default.
  const path = inProject(root, value.replace('{output_folder}', '_bmad-output'));
  if (path === undefined) {
    problems.push(t`The configured output folder is outside the project and is not used.`);
    return undefined;
  }
  if (path.split('/').some((part) => part.toLowerCase() === '.git')) {
    problems.push(t`The configured output folder is one of git and is not used.`);
    return undefined;
  }
  return path;
}

/** One call asks for the same settings many times. */
const TABLES = new KeptByStamp<Table | undefined>();

/** A configuration file; one that is missing or cannot be read names nothing. */
export function configTable(root: string, path: string): Promise<Table | undefined> {
  return TABLES.read(join(root, path), async () => {
    const bytes = await readInside(root, path, MAX_BYTES);
    const value = attempt(() => parseConfig(path, bytes.toString('utf8')), orElse(undefined));
    return isTable(value) ? value : undefined;
    // One that cannot be read now may be so the next time without a change: that is not kept.
  }).catch(orElse(undefined));
}

/** Where the kit keeps the script that says whether work is done, below the folder of BMAD. */
export const CONTRACT_SCRIPT = '_config/custom/cc-verify.sh';

/** The two families of the kit differ in the names of their folders only. */
export const FAMILIES = [
  { family: 'bmad', folder: '_bmad' },
  { family: 'grimoire', folder: '_grimoire' },
] as const;

const CONTEXT_FILE = 'project-context.yaml';

/** The folder of BMAD in a project, whether it is there or would be. */
async function familyFolder(root: string, seen?: Seen): Promise<string> {
  return ((await familyOf(root, seen)) ?? FAMILIES[0]).folder;
}

export async function familyOf(root: string, seen?: Seen): Promise<(typeof FAMILIES)[number] | undefined> {
  for (const depth of ['_memory', ''])
    for (const family of FAMILIES) {
      const place = join(root, family.folder, depth);
      seen?.find(place);
      if ((await realFolder(place)) !== undefined) return family;
    }
  return undefined;
}

/** The name under which a project's memories are kept, in collections and ids: `bmad-demo-shop`. */
export function appId(family: 'bmad' | 'grimoire', name: string): string {
  return `${family}-${slug(name)}`;
}

/** Lower case, and a hyphen for each space; accents stay. */
export function slug(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}

/** Where the page about the project may be; the kit has it at the top, its specification in the memory folder. */
export function contextFiles(folder: string): string[] {
  return [CONTEXT_FILE, `${folder}/_memory/${CONTEXT_FILE}`];
}

/** The first of some files that is there, as a table; of one that cannot be read or parsed, what can still be told, and why. */
export async function firstPage(
  root: string,
  paths: readonly string[],
  seen?: Seen,
): Promise<{ path: string; text: string; value: unknown; failure?: unknown } | undefined> {
  for (const path of paths) {
    let text = '';
    try {
      text = (await readInside(root, path, MAX_BYTES, { seen })).toString('utf8');
      return { path, text, value: parseYaml(path, text) ?? {} };
    } catch (failure) {
      if (failure instanceof BmadError && failure.code === 'not_found') continue;
      return { path, text, value: plainPairs(text), failure };
    }
  }
  return undefined;
}

/**
 * What can still be told from a page that is not valid YAML: the plain pairs of the tables that say who and what the project
 * is. Its memories are kept under its name, which must not change because of a slip elsewhere in the file.
 */
export function plainPairs(text: string): Table {
  const tables: Record<string, Record<string, string>> = {};
  let table: Record<string, string> | undefined;
  // Of a merge that is not finished, the first side is what was here before.
  const said = conflictsIn(text)?.sides[0] ?? text;
  // At every line end that a pattern knows: one that meets another would try the rest of the line again and again.
  for (const line of said.split(/\r\n?|[\n\u2028\u2029]/)) {
    const top = /^([\w-]+)\s*:\s*(?:#.*)?$/.exec(line)?.[1];
    if (top === 'project' || top === 'user') tables[top] = table = tables[top] ?? {};
    else if (/^\S/.test(line) && !line.startsWith('#')) table = undefined;
    const [, key, quoted, plain] =
      /^ {1,4}([\w-]+)\s*:\s*(?:["']([^"']*)["']|([^\s#"'[{&*|>!][^#]*))\s*(?:#.*)?$/.exec(line) ?? [];
    if (table !== undefined && key !== undefined && table[key] === undefined)
      table[key] = (quoted ?? plain ?? '').trim();
  }
  return tables;
}

/** One file of the kit that says something BMAD's own configuration has a name for. */
export interface KitLayer {
  /** As a path in the project. */
  file: string;
  /** By BMAD's name: `user_name`, `project_name`, …; with the file where it is another one. */
  values: Readonly<Record<string, { value: string; line?: number; file?: string }>>;
}

/** What the kit's files set. The memory folder's own file gives way to an install, the project's page does not. */
export interface KitSettings {
  memory: KitLayer | undefined;
  context: KitLayer | undefined;
  problems: Problem[];
}

export const NO_KIT_SETTINGS: KitSettings = { memory: undefined, context: undefined, problems: [] };

/** Names of BMAD's settings, and where the kit's page about the project has them. */
const IN_CONTEXT: Readonly<Record<string, readonly [table: string, key: string]>> = {
  project_name: ['project', 'name'],
  user_name: ['user', 'name'],
  communication_language: ['user', 'language'],
  document_output_language: ['user', 'document_language'],
  user_skill_level: ['user', 'skill_level'],
};

const IN_MEMORY = ['user_name', 'communication_language', 'document_output_language', 'output_folder'];

/** What BMAD's installers write for a name where nobody gives one. */
const NO_NAME = /^(?:bmad|bmad user|user)$/i;

/** Whether a name is the installer's, not the person's: it gives way to every name that was really given. */
export function isPlaceholderName(key: string, value: unknown): boolean {
  return key === 'user_name' && typeof value === 'string' && NO_NAME.test(value.trim());
}

/** The settings that the kit's files know of. */
export const KIT_SETTINGS: readonly string[] = [...new Set([...Object.keys(IN_CONTEXT), ...IN_MEMORY])];

/** `seen` hears of every place that they are read from. */
export async function readKitSettings(root: string, seen?: Seen): Promise<KitSettings> {
  const problems: Problem[] = [];
  const folder = await familyFolder(root, seen);
  const read = (paths: readonly string[]) => firstTable(root, paths, problems, seen);
  const config = await read([`${folder}/_memory/config.yaml`]);
  const context = await read(contextFiles(folder));
  return {
    memory: layer(config, (key) => (IN_MEMORY.includes(key) ? [key] : undefined)),
    context: layer(context, (key) => IN_CONTEXT[key]),
    problems,
  };
}

interface SettingsFile {
  file: string;
  text: string;
  table: Table;
}

/** The first of the files that is there; one that cannot be parsed is a problem, and sets what can be told from it. */
async function firstTable(
  root: string,
  paths: readonly string[],
  problems: Problem[],
  seen: Seen | undefined,
): Promise<SettingsFile | undefined> {
  const found = await firstPage(root, paths, seen);
  if (found?.failure !== undefined) noted(problems, found.path, undefined)(found.failure);
  return found && { file: found.path, text: found.text, table: tableOf(found.value) };
}

function layer(
  found: SettingsFile | undefined,
  placeOf: (key: string) => readonly string[] | undefined,
): KitLayer | undefined {
  if (found === undefined) return undefined;
  const { file, text, table } = found;
  const places = KIT_SETTINGS.flatMap((key) => {
    const place = placeOf(key) ?? [];
    const name = place.at(-1);
    if (name === undefined) return [];
    const inner = place.length === 1 ? table : tableOf(field(table, place[0] ?? ''));
    const value = givenValue(inner, name);
    return value === undefined ? [] : [{ key, value, place }];
  });
  if (places.length === 0) return undefined;
  const lines = linesOf(text, new Set(places.flatMap(({ place }) => place)));
  const values = places.map(({ key, value, place }) => [key, { value, ...lineOf(lines, place) }] as const);
  return { file, values: Object.fromEntries(values) };
}

/** On which lines each of some names stands as a key, in their order. */
function linesOf(text: string, names: ReadonlySet<string>): ReadonlyMap<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [index, line] of text.split('\n').entries()) {
    const name = /^\s*["']?([\w-]+)["']?\s*:/.exec(line)?.[1];
    if (name === undefined || !names.has(name)) continue;
    const lines = found.get(name);
    if (lines === undefined) found.set(name, [index + 1]);
    else lines.push(index + 1);
  }
  return found;
}

/** The line of a key, or of a key within a table; written on one line, it is the line of the table. */
function lineOf(lines: ReadonlyMap<string, readonly number[]>, place: readonly string[]): { line?: number } {
  let at = 0;
  for (const name of place) {
    const next = lines.get(name)?.find((line) => line > at);
    if (next === undefined) break;
    at = next;
  }
  return at === 0 ? {} : { line: at };
}

/** Values that the installer writes when nobody gives one. */
const TEMPLATE_VALUES = new Set(['', 'Description courte', 'À compléter', '—']);

/** A text that somebody has really given; what the installer left to be filled in is none. */
export function givenValue(from: Table, name: string): string | undefined {
  const value = textField(from, name)?.trim();
  return value === undefined || TEMPLATE_VALUES.has(value) || /\{\{[^{}]*\}\}/.test(value)
    ? undefined
    : value;
}
