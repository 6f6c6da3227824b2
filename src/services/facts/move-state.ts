import { t } from '../../base/text/message.ts';
import { join } from 'node:path';
import { BmadError, unlessMissing, ours } from '../../base/errors.ts';
import { withLock } from '../../base/files/file-lock.ts';
import { readState, removeTree, setAside, stateNames, writeAtomic } from '../../base/files/file-state.ts';
import { bringPieces, piecesFor, sameTree } from '../../base/files/file-tree.ts';
import { readInside } from '../../base/files/files.ts';
import { projectKey } from '../../base/files/paths.ts';
import { jsonIn } from '../../base/parse/json.ts';
import {
  folderAt,
  projectPages,
  usersPages,
  type StateMove,
  OWN_FOLDER,
  type KitWithMemory,
  inProject,
  strayRefusal,
  type Kit,
  isUnused,
  type Keeping,
  type StatePart,
} from '../../kit/kit.ts';
import { inTurn, kitLock, whileLocked } from '../../kit/text.ts';
import { SHARED_CONTEXT_FILE, DECISIONS_FILE } from '../../kit/memories/entries.ts';
import { runsFolders } from '../../kit/runs/run-folders.ts';
import { readRuns } from '../../kit/runs/scan.ts';
import { bringHandoffs, HANDOFF_FILE } from '../../kit/session/handoffs.ts';
import { bringSession, lastSession, SESSION_FILE } from '../../kit/session/session-state.ts';
import { readContextFacts } from './context-facts.ts';
import { MUSEUM_FILE, MUSEUM_LOG } from '../../kit/museum/museum.ts';
import { ACTIVITY_FILE } from '../../kit/memories/write.ts';
import { LEARNINGS_FOLDER } from '../../kit/agents.ts';

export interface StatePlace {
  home: 'project' | 'user';
  /** What is set about it. */
  keep: Keeping;
  /** Whether nothing has been kept yet. */
  unused: boolean;
  /** The folders that have all of it: from the top of the project, or of the user. */
  folders: string[];
  /** Each part with its folder; `shared` ones are not ignored by a file of their own. */
  parts: { part: StatePart; folder: string; shared: boolean }[];
  /** Whether a person has said who gets the memories. */
  chosen: boolean;
  /** Lines for git's own files, so that two people who commit the kit's files can merge them. */
  merging: GitLines[];
}

interface GitLines {
  file: '.gitattributes' | '.gitignore';
  lines: string[];
}

/** Files of the kit that only grow, so that both sides of a merge are wanted. */
const GROWING = [DECISIONS_FILE, HANDOFF_FILE, MUSEUM_FILE, MUSEUM_LOG, `${LEARNINGS_FOLDER}/*.md`];
/** Files that tell of one machine's last moments, and differ on every other. */
const PASSING = [ACTIVITY_FILE, SESSION_FILE];

/** Not for others until a person takes back the `.gitignore` in their folder: lines of memories, and receipts. */
const PRIVATE = new Set<StatePart>(['memories', 'receipts']);

/** Where nothing has been kept yet, the file comes with the first that is. */
async function isLeftOut(folder: string, inside: string): Promise<boolean> {
  const text = await readState(join(folder, '.gitignore'), { inside }).catch(ours(() => '*'));
  return text === undefined ? (await stateNames(folder, inside)).length === 0 : /^\*$/m.test(text);
}

/**
 * Git sees the days of lines and nothing else of the folder: locks, and what an earlier version has left. The file ignores itself,
 * so that the choice of one person does not come to others with the next pull.
 */
const SHARED = '/*\n!/[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]/\n';

/** What a person has chosen differs from what comes with the first line, so that nobody is asked twice. */
const HIDDEN = '# private\n*\n';

/** Lets git see the lines of a project, or hides them from it again; false where that was so before. */
export async function shareLines({ places }: Kit, isShared: boolean): Promise<boolean> {
  const { project } = places.memories;
  const folder = folderAt(project);
  const isNew = (await isLeftOut(folder, project.base)) === isShared;
  if (isNew || !(await isChosen(folder, project.base)))
    await writeAtomic(join(folder, '.gitignore'), isShared ? SHARED : HIDDEN, { inside: project.base });
  return isNew;
}

async function isChosen(folder: string, inside: string): Promise<boolean> {
  const text = await readState(join(folder, '.gitignore'), { inside }).catch(ours(() => undefined));
  return text === SHARED || text === HIDDEN;
}

/** Where all state of a project is, or will be once there is some. */
export async function statePlace(kit: Kit, state: string, keep: Keeping): Promise<StatePlace> {
  const { home, places, output, astray } = kit;
  const pages = places.pages.project.path;
  const inOutput = output !== undefined && pages.startsWith(`${output}/`);
  const runs = (await runsFolders(kit)).own.path;
  return {
    home,
    keep,
    unused: await isUnused(kit),
    chosen: await isChosen(folderAt(places.memories.project), places.memories.project.base),
    folders:
      home === 'user' ? [state] : [...(inOutput ? [] : [pages]), ...(output === undefined ? [] : [output])],
    merging:
      home === 'user' || astray.has('pages')
        ? []
        : [
            { file: '.gitattributes', lines: GROWING.map((name) => `${pages}/${name} merge=union`) },
            { file: '.gitignore', lines: PASSING.map((name) => `${pages}/${name}`) },
          ],
    parts: await Promise.all(
      (Object.keys(places) as StatePart[]).map(async (part) => {
        const own = home === 'project' && !astray.has(part);
        const { project, user } = places[part];
        const folder = !own ? folderAt(user) : part === 'runs' ? runs : project.path;
        const isPrivate = PRIVATE.has(part) && (await isLeftOut(folderAt(project), project.base));
        return { part, folder, shared: own && !isPrivate };
      }),
    ),
  };
}

/**
 * The parts of a project's state that are plain files, on their way from the user into the project. What is brought is
 * noted in the folder it comes from before anything is copied: after a crash, what the project has of it is not in the way,
 * though somebody may have changed it there since.
 */

const LOCK_WAIT_MS = 30_000;
/** Somebody else may be moving a lot. */
const MOVE_WAIT_MS = 300_000;
const WORK = '.moving';
const NOTE = '.moving.json';
const LOCK = '.lock';
/** Pages that are joined line by line. */
const JOINED = [HANDOFF_FILE, SHARED_CONTEXT_FILE, SESSION_FILE];
const WITHOUT = new Set([NOTE, OWN_FOLDER]);
/** The project's own stand: they are about its folders, or were made with them. */
const OWN = new Set(['branch.json', '.active-branch', '.gitignore']);
const PAGES_BYTES = 20_000_000;

/** Runs a move while no other process moves state of this project. */
export async function whileMoving<T>(root: string, state: string, work: () => Promise<T>): Promise<T> {
  return withLock(join(state, 'moving', `${projectKey(root)}.lock`), { waitMs: MOVE_WAIT_MS }, work);
}

export async function moveRuns(kit: Kit): Promise<StateMove> {
  const user = kit.places.runs.user;
  const { branches } = await readRuns(kit);
  const count = branches.flatMap(({ runs }) => runs).filter(({ place }) => place.base === user.base).length;
  return moveFiles(kit, 'runs', (await runsFolders(kit)).own.path, count);
}

export async function moveTasks(kit: Kit): Promise<StateMove> {
  const names = await stateNames(folderAt(kit.places.tasks.user));
  const ids = names.map((name) => /^(task-[\w-]+)\.(?:json|brief\.md)$/.exec(name)?.[1]);
  const count = new Set(ids.filter((id) => id !== undefined)).size;
  return moveFiles(kit, 'tasks', kit.places.tasks.project.path, count);
}

/** Files of any kind: each whole, under its own name. */
function moveFiles(kit: Kit, part: 'runs' | 'tasks', to: string, count: number): StateMove {
  const { root } = kit;
  const from = folderAt(kit.places[part].user);
  const files = filesBetween(from, join(root, to), { depth: 1, without: WITHOUT });
  return {
    part,
    count,
    from,
    to,
    async obstacles() {
      const stray = await strayRefusal(root, `${to}/${WORK}`, t`nothing was moved`);
      return stray === undefined ? files.different() : [stray.line];
    },
    locked: (work) =>
      withLock(join(from, LOCK), { waitMs: LOCK_WAIT_MS }, () =>
        withLock(join(root, to, LOCK), { waitMs: LOCK_WAIT_MS, inside: root, tidy: true }, work),
      ),
    copy: files.copy,
    async setAside() {
      const kept = await setAside(from);
      // The lock that is held went along, and means nothing there.
      await removeTree(join(kept, LOCK));
      return kept;
    },
  };
}

/** Hand-offs, requests and sessions: those of both places are joined. */
export async function movePages(kit: Kit): Promise<StateMove> {
  const { root, places } = kit;
  const [from, to] = [usersPages(kit), projectPages(kit)];
  const { path } = places.pages.project;
  const { requests, handoffs } = await readContextFacts(kit, [from]);
  const session = await lastSession([from], []);
  const files = filesBetween(from.memory, to.memory, { depth: 1, without: new Set([...WITHOUT, ...JOINED]) });
  return {
    part: 'pages',
    count: requests.length + handoffs.length + (session === undefined ? 0 : 1),
    from: from.memory,
    to: path,
    async obstacles() {
      const stray = await strayRefusal(root, `${path}/${WORK}`, t`nothing was moved`);
      return stray === undefined ? files.different() : [stray.line];
    },
    locked: (work) => inTurn(join(from.memory, OWN_FOLDER), () => whileLocked(to, work)),
    async copy() {
      const before = await Promise.all(JOINED.map((name) => bytesOf(to, name)));
      const undo = await files.copy();
      const undoAll = async (): Promise<void> => {
        for (const [index, name] of JOINED.entries()) await restore(to, name, before[index]);
        await undo();
      };
      try {
        await bringHandoffs(from, to);
        await bringSession(from, to);
        await checkJoined(kit, from, to);
      } catch (error) {
        await undoAll();
        throw error;
      }
      return undoAll;
    },
    async setAside() {
      const kept = await setAside(from.memory);
      await removeTree(kitLock(join(kept, OWN_FOLDER)));
      return kept;
    },
  };
}

const bytesOf = (pages: KitWithMemory, name: string): Promise<Buffer | undefined> =>
  readInside(pages.memory, name, PAGES_BYTES).catch(unlessMissing);

async function restore(pages: KitWithMemory, name: string, bytes: Buffer | undefined): Promise<void> {
  const place = join(pages.memory, name);
  await (bytes === undefined ? removeTree(place) : writeAtomic(place, bytes, { inside: pages.memory }));
}

/** Whether all that the one has is in the other. */
async function checkJoined(kit: Kit, from: KitWithMemory, to: KitWithMemory): Promise<void> {
  const [before, after] = [await readContextFacts(kit, [from]), await readContextFacts(kit, [to])];
  const known = new Set([...after.requests, ...after.handoffs].map(({ id }) => id));
  const lost = [...before.requests, ...before.handoffs].find(({ id }) => !known.has(id));
  if (lost !== undefined) throw notWhole(inProject(to, HANDOFF_FILE));
}

const notWhole = (path: string): BmadError =>
  new BmadError('unavailable', t`${path} does not have all that was copied into it; nothing was moved.`, {
    subject: path,
    hint: t`Check the disk of the project, then try again.`,
  });

/** Brings the files of one folder into another. */
function filesBetween(from: string, to: string, { depth, without }: { depth: number; without: Set<string> }) {
  async function noted(): Promise<string[]> {
    const list = jsonIn((await readState(join(from, NOTE))) ?? '');
    return Array.isArray(list) ? list.filter((each) => typeof each === 'string') : [];
  }
  async function pieces(): Promise<{ missing: string[]; different: string[]; before: string[] }> {
    const before = await noted();
    const isNoted = (path: string): boolean => before.some((each) => `${path}/`.startsWith(`${each}/`));
    const { missing, different } = await piecesFor(from, to, { depth, without, own: OWN });
    return { missing, different: different.filter((path) => !isNoted(path)), before };
  }
  return {
    different: async (): Promise<string[]> =>
      (await pieces()).different.map((path) => t`${join(from, path)} is not what ${join(to, path)} is.`),
    async copy(): Promise<() => Promise<void>> {
      const { missing, before } = await pieces();
      const undo = async (): Promise<void> => {
        for (const piece of missing)
          if (await sameTree(join(from, piece), join(to, piece))) await removeTree(join(to, piece));
        await removeTree(join(from, NOTE));
      };
      await writeAtomic(join(from, NOTE), JSON.stringify([...before, ...missing]));
      try {
        await bringPieces(from, to, missing, join(to, WORK));
        const left = await pieces();
        if (left.missing.length + left.different.length > 0) throw notWhole(to);
      } catch (error) {
        await undo();
        throw error;
      }
      return undo;
    },
  };
}
