import { join } from 'node:path';
import { ours } from '../../base/errors.ts';
import { readState, stateNames, writeAtomic } from '../../base/files/file-state.ts';
import { folderAt, isUnused, type Keeping, type Kit, type StatePart } from '../../kit/kit.ts';
import { DECISIONS_FILE } from '../../kit/memories/entries.ts';
import { MUSEUM_FILE, MUSEUM_LOG } from '../../kit/museum/museum.ts';
import { runsFolders } from '../../kit/runs/run-folders.ts';
import { ACTIVITY_FILE } from '../../kit/memories/write.ts';
import { LEARNINGS_FOLDER } from '../../kit/agents.ts';
import { HANDOFF_FILE } from '../../kit/session/handoffs.ts';
import { SESSION_FILE } from '../../kit/session/session-state.ts';

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
