import { join } from 'node:path';
import { withLock } from '../../base/files/file-lock.ts';
import { ensureFolder, removeTree, setAside } from '../../base/files/file-state.ts';
import { bringInto, copyNamed, moveFolder } from '../../base/files/file-tree.ts';
import { realFolder } from '../../base/files/files.ts';
import { projectKey } from '../../base/files/project-key.ts';
import { inTurn, kitLock, OWN_FOLDER, whileLocked } from '../../kit/kit-lock.ts';
import { kitInProject, partsWithUser, type StatePart } from '../../kit/home.ts';
import { strayRefusal, type Kit } from '../../kit/kit.ts';
import { ownPlaces } from './state-place.ts';

export interface OlderPart {
  part: StatePart;
  /** The folder of the user it is in. */
  from: string;
  /** Where it belongs by now, from the top of the project. */
  to: string;
}

export interface BroughtPart {
  /** What came along, and what was left because the project has something else there; paths in the folder. */
  brought: string[];
  left: string[];
  /** Where the old folder lies now, whole; nothing where it stays as it is. */
  kept: string | undefined;
}

const LOCK_WAIT_MS = 30_000;
/** Somebody else may be moving a lot. */
const MOVE_WAIT_MS = 300_000;
const WORK = '.moving';
const FOLDER_LOCK = '.lock';
/** The project's own stand: they are about its folders, or were made with them. */
const OWN = new Set(['branch.json', '.active-branch', '.gitignore', OWN_FOLDER]);

/** What is kept with the user although all else is in the project by now; answers do not find most of it any more. */
export async function olderState(kit: Kit, state: string): Promise<OlderPart[]> {
  if (kit.home === 'user') return [];
  const used = await partsWithUser(kit.root, state);
  if (used.length === 0) return [];
  const places = await ownPlaces(kit, state);
  return used.flatMap(({ part, folder: from }) => {
    const to = places[part];
    return to === undefined ? [] : [{ part, from, to }];
  });
}

/** Brings one part of plain files into the project. The old folder is set aside; nothing of it is deleted. */
export async function bringPart(root: string, { part, from, to }: OlderPart): Promise<BroughtPart> {
  const so = 'nothing was moved';
  const stray = (await strayRefusal(root, to, so)) ?? (await strayRefusal(root, `${to}/${WORK}`, so));
  if (stray !== undefined) throw stray;
  await ensureFolder(join(root, to), root);
  return locked(root, { part, from, to }, async () => {
    const { brought, left } = await bringInto(from, join(root, to), {
      work: join(root, to, WORK),
      depth: 1,
      own: OWN,
    });
    // Done again while something is left, there is nothing new to keep a copy of.
    const kept = brought.length === 0 && left.length > 0 ? undefined : await setAsideBut(from, left);
    return { brought, left, kept };
  });
}

/** What was left stays in its place as well, so that it is still found and named. */
async function setAsideBut(from: string, left: readonly string[]): Promise<string> {
  const draft = `${from}.left`;
  await removeTree(draft);
  await copyNamed(from, left, draft);
  const kept = await setAside(from);
  // The lock that is held went along, and means nothing there.
  for (const lock of [FOLDER_LOCK, kitLock(OWN_FOLDER)]) await removeTree(join(kept, lock));
  if ((await realFolder(draft)) !== undefined) await moveFolder(draft, from);
  return kept;
}

/** Runs a move while no other process moves state of this project. */
export async function whileMoving<T>(root: string, state: string, work: () => Promise<T>): Promise<T> {
  return withLock(join(state, 'moving', `${projectKey(root)}.lock`), { waitMs: MOVE_WAIT_MS }, work);
}

/** Nobody writes there meanwhile: neither where it comes from nor where it goes. */
async function locked<T>(root: string, { part, from, to }: OlderPart, work: () => Promise<T>): Promise<T> {
  if (part === 'pages') {
    const kit = await kitInProject(root);
    const { memory } = kit;
    if (memory === undefined) throw new Error(`${to} exists but is not a memory folder`);
    return inTurn(join(from, OWN_FOLDER), () => whileLocked({ ...kit, memory }, work));
  }
  const options = { waitMs: LOCK_WAIT_MS };
  return withLock(join(from, FOLDER_LOCK), options, () =>
    withLock(join(root, to, FOLDER_LOCK), { ...options, inside: root }, work),
  );
}
