import { join } from 'node:path';
import { isThereNow } from '../base/files/file-identity.ts';
import { stateNames } from '../base/files/file-state.ts';
import { realFolder } from '../base/files/files.ts';
import { projectKey } from '../base/files/project-key.ts';
import { OWN_FOLDER } from './kit-lock.ts';
import { readKit, strayPart, type Kit } from './kit.ts';
import { hasBmad, outputFolder } from './output.ts';

/** What a user has set: the rule below, always in the project, or always with the user. */
export type Keeping = 'auto' | 'project' | 'user';

/** A kind of state of a project. */
export type StatePart = 'memories' | 'pages' | 'runs' | 'tasks' | 'receipts';

/** Beside what agents produce, where the project has no memory folder of its own. */
const MEMORY = '.memory';
const IN_OUTPUT = [MEMORY, '.runs', '.tasks', '.receipts'];

/** Where the state of a project is while it is kept with the user, and how each part is recognised. */
export function userPlaces(root: string, state: string): Record<StatePart, { folder: string; sign: RegExp }> {
  const key = projectKey(root);
  return {
    memories: { folder: join(state, 'memory', key), sign: /^\.bmad-memory\.(?:db|jsonl)$/ },
    pages: { folder: join(state, 'projects', key, '_memory'), sign: /\.md$/ },
    runs: { folder: join(state, 'projects', key, '.runs'), sign: /^[^.]/ },
    tasks: { folder: join(state, 'tasks', key), sign: /^task-.*\.json$/ },
    receipts: { folder: join(state, 'receipts', key), sign: /^receipts\.jsonl$/ },
  };
}

interface UsersPart {
  part: StatePart;
  folder: string;
}

/** The parts that are kept with the user; for the question whether there are any, the first is enough. */
export async function partsWithUser(root: string, state: string, most = Infinity): Promise<UsersPart[]> {
  const found: UsersPart[] = [];
  for (const [part, { folder, sign }] of Object.entries(userPlaces(root, state))) {
    if (found.length >= most) break;
    // Most are not there, and this is asked with every call.
    if (!isThereNow(folder)) continue;
    if ((await stateNames(folder).catch((): string[] => [])).some((name) => sign.test(name)))
      found.push({ part: part as StatePart, folder });
  }
  return found;
}

/**
 * The project with the one place that all of its state has: the project itself, if it keeps some already or is one of BMAD's;
 * the user's folder, if it began there or the project has no BMAD in it. Nothing moves by itself.
 */
export async function kitAtHome(root: string, state: string, keep: Keeping = 'auto'): Promise<Kit> {
  const kit = await readKit(root);
  // The files of a memory folder are the kit's: its own programs look for them there.
  const home = kit.memory !== undefined ? 'project' : keep === 'auto' ? await homeOf(kit, state) : keep;
  return home === 'user' ? { ...kit, home } : atProject(kit);
}

/** The same as if its state were kept in the project: where it goes when it is moved. */
export async function kitInProject(root: string): Promise<Kit> {
  return atProject(await readKit(root));
}

async function homeOf(kit: Kit, state: string): Promise<'project' | 'user'> {
  if (await keepsState(kit)) return 'project';
  if ((await partsWithUser(kit.root, state, 1)).length > 0) return 'user';
  return (await hasBmad(kit)) ? 'project' : 'user';
}

async function atProject(kit: Kit): Promise<Kit> {
  const own: Kit = { ...kit, home: 'project' };
  if (kit.memory !== undefined) return own;
  const output = await stateFolder(own);
  if (output === undefined) return own;
  const path = `${output}/${MEMORY}`;
  if ((await strayPart(kit.root, path)) !== undefined)
    return { ...own, problems: [...kit.problems, `${path} points outside the project and is not used.`] };
  return { ...own, keptWith: 'output', memory: join((await realFolder(kit.root)) ?? kit.root, path) };
}

/** The folder in the project that its state is in; nothing where the state is with the user. */
export async function stateFolder(kit: Kit): Promise<string | undefined> {
  if (kit.home === 'user') return undefined;
  const output = await outputFolder(kit);
  if (output !== undefined || kit.home === undefined) return output;
  const usual = `${kit.folder}-output`;
  return (await strayPart(kit.root, usual)) === undefined ? usual : undefined;
}

/** Whether the project has state in it, beside its memory folder. */
async function keepsState(kit: Kit): Promise<boolean> {
  const output = await outputFolder(kit);
  if (output === undefined) return false;
  return IN_OUTPUT.some((name) => isThereNow(join(kit.root, output, name)));
}

/** Whether nothing was ever kept for this project, in either place. */
export async function isUnused(kit: Kit, state: string): Promise<boolean> {
  if ((await partsWithUser(kit.root, state, 1)).length > 0 || (await keepsState(kit))) return false;
  return (
    kit.memory === undefined || !(await stateNames(kit.memory).catch((): string[] => [])).includes(OWN_FOLDER)
  );
}
