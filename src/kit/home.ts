import { t } from '../base/text/message.ts';
import { basename, dirname, join, relative, sep } from 'node:path';
import { isThereNow } from '../base/files/file-stamps.ts';
import { stateNames } from '../base/files/file-state.ts';
import { realFolder } from '../base/files/files.ts';
import { projectKey } from '../base/files/paths.ts';
import { OWN_FOLDER } from './kit-lock.ts';
import type { KitWithMemory } from './kit-text.ts';
import { readKit, strayPart, strayRefusal, type Kit, type StateFolder, type StatePart } from './kit.ts';
import { appId } from './memories/ids.ts';
import { configured, hasBmad, outputFolder } from './output.ts';

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
  const isOfBmad = await hasBmad(found);
  // The files of a memory folder are the kit's: its own programs look for them there.
  const home =
    found.memory !== undefined ? 'project' : keep !== 'auto' ? keep : isOfBmad ? 'project' : 'user';
  const output = await outputFolder(found);
  const isOutputAstray = (await strayPart(root, output)) !== undefined;
  const real = (await realFolder(root)) ?? root;
  const pages =
    found.memory === undefined ? `${output}/${MEMORY}` : relative(real, found.memory).split(sep).join('/');
  const arePagesAstray = found.memory === undefined && (await strayPart(root, pages)) !== undefined;
  if (arePagesAstray && !isOutputAstray)
    found.problems.push(t`${pages} points outside the project and is not used.`);
  const stands = home === 'project' && found.memory === undefined && !arePagesAstray;
  return {
    ...found,
    app: appId(found.family, name ?? (await configured(root, 'project_name'))[0] ?? basename(root)),
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
