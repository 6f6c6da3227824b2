import { join } from 'node:path';
import { BmadError, noted } from '../base/errors.ts';
import { readInside, realFolder } from '../base/files/files.ts';
import type { Seen } from '../base/files/keeper.ts';
import { field, parseYaml, type Table, tableOf, textField } from '../base/parse/parse.ts';
import { conflictsIn } from '../base/text/diff.ts';
import type { Problem } from '../model/record.ts';

/** The two families of the kit differ in the names of their folders only. */
export const FAMILIES = [
  { family: 'bmad', folder: '_bmad' },
  { family: 'grimoire', folder: '_grimoire' },
] as const;

const CONTEXT_FILE = 'project-context.yaml';
const MAX_BYTES = 2_000_000;

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
