import { t } from '../base/text/message.ts';
import type { Told } from '../base/files/keeper.ts';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isNamed, isThereNow } from '../base/files/file-stamps.ts';
import { stateNames } from '../base/files/file-state.ts';
import { isFileInside, isLink, realFolder } from '../base/files/files.ts';
import { field, tableOf, textField } from '../base/parse/parse.ts';
import { BmadError } from '../base/errors.ts';
import { conflictsIn, conflictText } from '../base/text/diff.ts';
import { projectKey } from '../base/files/paths.ts';
import {
  hasBmad,
  outputFolder,
  readConfiguration,
  contextFiles,
  FAMILIES,
  appId,
  slug,
  familyOf,
  firstPage,
} from './configuration.ts';

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
  /** Who may answer for its files. */
  told?: Told;
}

/** A project that has a memory folder, which is where its files are. */
export type KitWithMemory = Kit & { memory: string };

/** Our own files beside the project's memory files, in a folder that git leaves out. */
export const OWN_FOLDER = '.bmad-memory';

/** What the folder of our own files may not lead out of; where folders of the user lead is the user's business. */
export function jailOf(folder: string): string | undefined {
  return basename(folder) === OWN_FOLDER ? dirname(folder) : undefined;
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
  return strayBelow((await realFolder(root)) ?? root, path);
}

/** The same from the real path of the folder. */
async function strayBelow(real: string, path: string): Promise<string | undefined> {
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

/** A path in the memory folder as a person finds it: in the project, or in the folder of the user. */
export function inProject(kit: Pick<Kit, 'root' | 'memory' | 'keptWith'>, path: string): string {
  if (kit.memory !== undefined && kit.keptWith === 'user') return join(kit.memory, path);
  return kit.memory === undefined ? path : [...relative(kit.root, kit.memory).split(sep), path].join('/');
}

/** What a user has set: the rule below, always in the project, or always with the user. */
export type Keeping = 'auto' | 'project' | 'user';

/** How a part is known to be in its folder with the user. Receipts are read in both places and stay where they were written. */
const SIGNS: Partial<Record<StatePart, RegExp>> = {
  memories: /^\d{4}-\d\d-\d\d$/,
  pages: /\.md$/,
  runs: /^[^.]/,
  tasks: /^task-.*\.(?:json|md)$/,
};

/** Beside what agents produce, where the project has no memory folder of its own. */
const MEMORY = '.memory';
const IN_OUTPUT = [MEMORY, '.runs', '.tasks', '.receipts'];

/**
 * The project, and where its state lives: in the project if it has a folder of BMAD, an install of any version or what
 * agents produce, otherwise with the user. What is in the other place is read too, and nothing moves by itself. `state` is
 * the user's folder for all projects.
 */
export async function kitAtHome(root: string, state: string, keep: Keeping = 'auto'): Promise<Kit> {
  const { name, ...found } = await readKit(root);
  const configuration = await readConfiguration(root);
  const isOfBmad = await hasBmad(root, configuration);
  // The files of a memory folder are the kit's: its own programs look for them there.
  const home =
    found.memory !== undefined ? 'project' : keep !== 'auto' ? keep : isOfBmad ? 'project' : 'user';
  const output = await outputFolder(root, found.folder, configuration);
  const real = (await realFolder(root)) ?? root;
  const isOutputAstray = (await strayBelow(real, output)) !== undefined;
  const pages =
    found.memory === undefined ? `${output}/${MEMORY}` : relative(real, found.memory).split(sep).join('/');
  const arePagesAstray = found.memory === undefined && (await strayBelow(real, pages)) !== undefined;
  if (arePagesAstray && !isOutputAstray)
    found.problems.push(t`${pages} points outside the project and is not used.`);
  const stands = home === 'project' && found.memory === undefined && !arePagesAstray;
  return {
    ...found,
    app: appId(found.family, name ?? configuration.said('project_name')[0] ?? basename(root)),
    isNamed: name !== undefined,
    home,
    output: (isOfBmad || home === 'project') && !isOutputAstray ? output : undefined,
    ...(stands ? { keptWith: 'output' as const, memory: join(real, pages) } : {}),
    places: placesIn(root, state, output, pages),
    astray: new Set([
      ...(arePagesAstray ? (['memories', 'pages'] as const) : []),
      ...(isOutputAstray ? (['tasks', 'receipts'] as const) : []),
    ]),
  };
}

function placesIn(root: string, state: string, output: string, pages: string): Kit['places'] {
  const key = projectKey(root);
  const place = (path: string, base: string, users: string) => ({
    project: { base: root, path, owner: 'project' as const },
    user: { base, path: users, owner: 'user' as const },
  });
  const projects = join(state, 'projects', key);
  return {
    memories: place(`${pages}/${OWN_FOLDER}`, state, `memory/${key}`),
    pages: place(pages, projects, '_memory'),
    runs: place(`${output}/.runs`, projects, '.runs'),
    tasks: place(`${output}/.tasks`, state, `tasks/${key}`),
    receipts: place(`${output}/.receipts`, state, `receipts/${key}`),
  };
}

export const folderAt = ({ base, path }: StateFolder): string => join(base, path);

/** The folders of a part: the one that new state goes into, then the other. */
export function placesOf({ home, places, astray }: Kit, part: StatePart): [StateFolder, ...StateFolder[]] {
  const { project, user } = places[part];
  if (astray.has(part)) return [user];
  return home === 'project' ? [project, user] : [user, project];
}

/** The same for the pages of the kit, as projects whose memory folder that is. */
export function pagesOf(kit: Kit): [KitWithMemory, ...KitWithMemory[]] {
  const [first, ...others] = placesOf(kit, 'pages').map(({ owner }) =>
    owner === 'user' ? usersPages(kit) : projectPages(kit),
  );
  return [first ?? usersPages(kit), ...others];
}

export const usersPages = (kit: Kit): KitWithMemory => ({
  ...kit,
  memory: folderAt(kit.places.pages.user),
  keptWith: 'user',
});

export const projectPages = (kit: Kit): KitWithMemory =>
  kit.memory === undefined
    ? { ...kit, memory: folderAt(kit.places.pages.project), keptWith: 'output' }
    : { ...kit, memory: kit.memory };

/** The parts of its state that are on this machine only; for the question whether there are any, the first is enough. */
export async function partsWithUser({ places }: Kit, most = Infinity): Promise<StatePart[]> {
  const found: StatePart[] = [];
  for (const part of Object.keys(places) as StatePart[]) {
    if (found.length >= most) break;
    const folder = folderAt(places[part].user);
    // Most are not there, and this is asked with every call that keeps something.
    if (!isThereNow(folder)) continue;
    const names = await stateNames(folder).catch((): string[] => []);
    if (names.some((name) => SIGNS[part]?.test(name))) found.push(part);
  }
  return found;
}

/** Whether nothing has been kept yet where new state goes. */
export async function isUnused(kit: Kit): Promise<boolean> {
  const { home, root, output, memory } = kit;
  if (home === 'user') return (await partsWithUser(kit, 1)).length === 0;
  if (output !== undefined && IN_OUTPUT.some((name) => isThereNow(join(root, output, name)))) return false;
  return memory === undefined || !isThereNow(join(memory, OWN_FOLDER));
}

/** The folder that has what happened in a project, as lines. */
export interface LinesPlace {
  folder: string;
  /** Whose it is. */
  owner: 'project' | 'user';
  /** The other folder that may have lines of the project. */
  also?: string | undefined;
}

export function linesPlace(kit: Kit): LinesPlace {
  const { project, user } = kit.places.memories;
  if (kit.memory !== undefined)
    return { folder: join(kit.memory, OWN_FOLDER), owner: 'project', also: folderAt(user) };
  return {
    folder: folderAt(user),
    owner: 'user',
    also: kit.astray.has('memories') ? undefined : folderAt(project),
  };
}

/** The author of the project may have put a link there: state would be read from and written to any place of the user. */
export async function refuseLinks(folder: string): Promise<void> {
  if (basename(folder) !== OWN_FOLDER) return;
  const stray = await strayRefusal(dirname(folder), OWN_FOLDER, t`memories are kept only inside the project`);
  if (stray !== undefined) throw stray;
}

/** One part of a project's state on its way from the user into the project. */
export interface StateMove {
  part: StatePart;
  /** How many there are: memories, runs, tasks, receipts; of pages, what they have. */
  count: number;
  /** The folder of the user. */
  from: string;
  /** From the top of the project. */
  to: string;
  /** What keeps it from being moved, in words. */
  obstacles(): Promise<string[]>;
  /** Runs `work` while nobody else writes in either place; nothing where copying itself sees to that. */
  locked?<T>(work: () => Promise<T>): Promise<T>;
  /** Copies what the project does not have, and checks it. Answers with the undo; one that fails has undone itself. */
  copy(): Promise<() => Promise<void>>;
  /** Takes the user's out of use; it is kept under the name that is returned. */
  setAside(): Promise<string>;
}
