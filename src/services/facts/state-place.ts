import { join } from 'node:path';
import { projectKey } from '../../base/files/project-key.ts';
import { isUnused, stateFolder, userPlaces, type Keeping, type StatePart } from '../../kit/home.ts';
import { OWN_FOLDER } from '../../kit/kit-lock.ts';
import { inProject, type Kit } from '../../kit/kit.ts';
import { runsFolders } from '../../kit/runs/places.ts';

export interface StatePlace {
  home: 'project' | 'user';
  /** What is set about it. */
  keep: Keeping;
  /** Whether nothing has been kept yet. */
  unused: boolean;
  /** Each part with its folder; `shared` ones are not ignored by a file of their own. */
  parts: { part: StatePart; folder: string; shared: boolean }[];
}

/** Not for others: a store that changes with every question, and receipts that prove something here only. */
const PRIVATE = new Set<StatePart>(['memories', 'receipts']);

/** Where the project keeps each part itself, from its top; a part is missing where it has no place for it. */
export async function ownPlaces(kit: Kit, state: string): Promise<Partial<Record<StatePart, string>>> {
  const output = await stateFolder(kit);
  const runs = await runsFolders(kit, join(state, 'projects', projectKey(kit.root)));
  const memories = inProject(kit, OWN_FOLDER);
  return {
    ...(kit.memory === undefined ? {} : { memories, pages: memories.slice(0, -OWN_FOLDER.length - 1) }),
    ...(runs.write.owner === 'user' ? {} : { runs: runs.write.path }),
    ...(output === undefined ? {} : { tasks: `${output}/.tasks`, receipts: `${output}/.receipts` }),
  };
}

/** Where all state of a project is, or will be once there is some. */
export async function statePlace(kit: Kit, state: string, keep: Keeping): Promise<StatePlace> {
  const own = kit.home === 'user' ? {} : await ownPlaces(kit, state);
  return {
    home: kit.home ?? 'user',
    keep,
    unused: await isUnused(kit, state),
    parts: Object.entries(userPlaces(kit.root, state)).map(([name, { folder }]) => {
      const part = name as StatePart;
      return { part, folder: own[part] ?? folder, shared: own[part] !== undefined && !PRIVATE.has(part) };
    }),
  };
}
