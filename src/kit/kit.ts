import { t } from '../base/text/message.ts';
import { join, relative, sep } from 'node:path';
import { isNamed } from '../base/files/file-stamps.ts';
import { isFileInside, isLink, readInside, realFolder } from '../base/files/files.ts';
import type { Seen } from '../base/files/keeper.ts';
import { field, parseYaml, type Table, tableOf, textField } from '../base/parse/parse.ts';
import { BmadError } from '../base/errors.ts';
import { conflictsIn, conflictText } from '../base/text/diff.ts';
import { slug } from './memories/ids.ts';

/** The two families of the kit differ in the names of their folders only. */
const FAMILIES = [
  { family: 'bmad', folder: '_bmad' },
  { family: 'grimoire', folder: '_grimoire' },
] as const;

const CONTEXT_FILE = 'project-context.yaml';
const MAX_BYTES = 2_000_000;

/** A kind of state of a project. */
export type StatePart = 'memories' | 'pages' | 'runs' | 'tasks' | 'receipts';

/** A folder of state, seen from a folder that nothing may lead out of. */
export interface StateFolder {
  base: string;
  /** From there, with slashes. */
  path: string;
  owner: 'project' | 'user';
}

/** What the files of a project say about itself, and where its state is. */
export interface Kit {
  root: string;
  family: 'bmad' | 'grimoire';
  /** The folder of BMAD in the project: `_bmad`. */
  folder: string;
  /** The real path of its memory folder, which is inside the project; nothing when it has none. */
  memory: string | undefined;
  /** Where new state goes. */
  home: 'project' | 'user';
  /** The folder for what its agents produce, from its top; nothing where there is none and none is made. */
  output: string | undefined;
  /** The folders of each part in the project, there or not, and with the user. Both are read. */
  places: Readonly<Record<StatePart, { project: StateFolder; user: StateFolder }>>;
  /** Parts whose folder in the project would be elsewhere, behind a link: it is not used. */
  astray: ReadonlySet<StatePart>;
  /** Set where the memory folder stands in for one that the project does not have: of the user, or beside its output. */
  keptWith?: 'user' | 'output';
  app: string;
  /** Whether somebody has given it that name in its page. */
  isNamed: boolean;
  user: string;
  /** What the project's page said when this was read. */
  page: ContextPage;
  problems: string[];
}

/** The part of it that the project's files say by themselves. */
export interface ReadKit extends Pick<
  Kit,
  'root' | 'family' | 'folder' | 'memory' | 'user' | 'page' | 'problems'
> {
  /** What its page calls it. */
  name: string | undefined;
}

/** What a project says about itself, and where; of a broken page, what can still be told. */
interface ContextPage {
  path?: string;
  value?: unknown;
  isBroken?: true;
}

/** Reads which project it is. */
export async function readKit(root: string): Promise<ReadKit> {
  const problems: string[] = [];
  const { family, folder } = (await familyOf(root)) ?? FAMILIES[0];
  const memory = await memoryFolder(root, folder, problems);
  const page = await readContextFile(root, folder, problems);
  const section = (name: string, key: string): string | undefined =>
    textField(tableOf(field(tableOf(page.value), name)), key)?.trim() || undefined;
  return {
    root,
    family,
    folder,
    memory,
    name: section('project', 'name'),
    user: slug(section('user', 'name') ?? 'user'),
    page,
    problems,
  };
}

/** The folder of BMAD in a project, whether it is there or would be. */
export async function familyFolder(root: string, seen?: Seen): Promise<string> {
  return ((await familyOf(root, seen)) ?? FAMILIES[0]).folder;
}

async function familyOf(root: string, seen?: Seen): Promise<(typeof FAMILIES)[number] | undefined> {
  for (const depth of ['_memory', ''])
    for (const family of FAMILIES) {
      const place = join(root, family.folder, depth);
      seen?.find(place);
      if ((await realFolder(place)) !== undefined) return family;
    }
  return undefined;
}

/** A memory folder that is a link to elsewhere is left alone: nothing is written outside the project. */
async function memoryFolder(root: string, folder: string, problems: string[]): Promise<string | undefined> {
  const memory = await realFolder(join(root, folder, '_memory'));
  if (memory === undefined) return undefined;
  const real = (await realFolder(root)) ?? root;
  if (memory.startsWith(real + sep)) return memory;
  problems.push(t`${folder}/_memory points outside the project and is not used.`);
  return undefined;
}

/**
 * The first part of a path below a folder that a link takes out of that folder, or that is not a folder; undefined if
 * all is well. Missing parts are fine: this is called before folders are created, so that none is created elsewhere.
 */
export async function strayPart(root: string, path: string): Promise<string | undefined> {
  const real = (await realFolder(root)) ?? root;
  let folder = real;
  const parts = path.split('/');
  for (const [index, name] of parts.entries()) {
    if (!isNamed(join(folder, name))) return undefined;
    const next = await realFolder(join(folder, name));
    if (next === undefined || !next.startsWith(real + sep)) return parts.slice(0, index + 1).join('/');
    folder = next;
  }
  return undefined;
}

/** The same as a refusal in true words: a link that leads away is one thing, a file in place of a folder another. */
export async function strayRefusal(root: string, path: string, so: string): Promise<BmadError | undefined> {
  const stray = await strayPart(root, path);
  if (stray === undefined) return undefined;
  const isFile = await isFileInside(root, stray);
  if (!isFile && (await isLink(join(root, stray))))
    return new BmadError('forbidden', t`${stray} leads outside the project; ${so}.`, {
      reason: 'outside',
      subject: stray,
      hint: t`Remove the link, or replace it with a real folder.`,
    });
  const what = isFile ? t`${stray} is a file, not a folder; ${so}.` : t`${stray} is not a folder; ${so}.`;
  return new BmadError('unavailable', what, {
    reason: 'file',
    subject: stray,
    hint: t`Move it away or rename it, so that the folder can be created, then try again.`,
  });
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

/** What the project says about itself, and where. */
async function readContextFile(root: string, folder: string, problems: string[]): Promise<ContextPage> {
  const found = await firstPage(root, contextFiles(folder));
  if (found === undefined) return {};
  const { path, text, value, failure } = found;
  if (failure === undefined) return { path, value };
  const why = failure instanceof Error ? failure.message : t`it cannot be read`;
  const conflicts = conflictsIn(text);
  if (conflicts !== undefined) problems.push(`${conflictText(path, conflicts)}.`);
  else problems.push(why.startsWith(path) ? why : `${path}: ${why}`);
  return { path, value, isBroken: true };
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

/** A path in the memory folder as a person finds it: in the project, or in the folder of the user. */
export function inProject(kit: Pick<Kit, 'root' | 'memory' | 'keptWith'>, path: string): string {
  if (kit.memory !== undefined && kit.keptWith === 'user') return join(kit.memory, path);
  return kit.memory === undefined ? path : [...relative(kit.root, kit.memory).split(sep), path].join('/');
}
