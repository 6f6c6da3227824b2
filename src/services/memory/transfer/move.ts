import { BmadError } from '../../../base/errors.ts';
import { ensureFolder, setAside } from '../../../base/files/file-state.ts';
import { readKitAgents } from '../../../kit/agents.ts';
import { folderAt, projectPages, type StateMove } from '../../../kit/home.ts';
import { strayRefusal } from '../../../kit/kit.ts';
import { writeKitFiles } from '../../../kit/memories/write.ts';
import type { Analyser } from '../../../meaning/analyser.ts';
import type { MemoryEntry, MemoryType } from '../../../model/memory.ts';
import type { MemoryStore } from '../engine.ts';
import type { MemorySetup } from '../memory.ts';
import { isOnQdrant, openConfigured } from '../open.ts';
import { isUsed, preparePlace, type MemoryPlace } from '../place.ts';
import { allEntries, copyAll } from './transfer.ts';

interface Move extends Pick<MemorySetup, 'kit' | 'engine'> {
  analyser: Analyser;
}

const ALL = { includeForgotten: true, includeSuperseded: true };

/** Brings the memories of a project from the user's folder into the project itself, whose folder for them it makes. */
export async function moveIntoProject({ kit, engine, analyser }: Move): Promise<StateMove | undefined> {
  const { project, user } = kit.places.memories;
  const from = folderAt(user);
  // On a server there are no files to move.
  if (isOnQdrant(engine) || !(await isUsed(from))) return undefined;
  const options = { project: kit.app, analyser };
  const source = <T>(use: (store: MemoryStore) => Promise<T>): Promise<T> =>
    using(openConfigured(engine, from, options, false, { writes: false }), use);
  const home = projectPages(kit);
  return {
    part: 'memories',
    count: await source((store) => store.count({ includeSuperseded: true })),
    from,
    to: project.path,
    async obstacles() {
      const stray = await strayRefusal(kit.root, project.path, 'nothing was moved');
      return stray === undefined ? [] : [stray.line];
    },
    async copy() {
      const place: MemoryPlace = { folder: folderAt(project), owner: 'project' };
      await ensureFolder(home.memory, kit.root);
      await preparePlace(place);
      await using(openConfigured(engine, place.folder, options), (target) =>
        source(async (store) => {
          await copyAll(store, target, true);
          for (const { type, id, updatedAt } of await allEntries(store, ALL)) {
            const there = await target.get({ type, id });
            if (there === undefined || there.updatedAt < updatedAt) throw notCopied(place.folder);
          }
          const all = (await allEntries(target, {})).toReversed();
          const living = (type: MemoryType): Promise<MemoryEntry[]> =>
            Promise.resolve(all.filter((entry) => entry.type === type));
          const agents = await readKitAgents(kit);
          for (const entry of all)
            await writeKitFiles({ kit: home, agents, locks: place.folder, living }, entry, { mode: 'local' });
        }),
      );
      // The same memories under the same ids: while both places have them, they are one.
      return () => Promise.resolve();
    },
    setAside: () => setAside(from),
  };
}

async function using<T>(opening: Promise<MemoryStore>, use: (store: MemoryStore) => Promise<T>): Promise<T> {
  const store = await opening;
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const notCopied = (folder: string): BmadError =>
  new BmadError('unavailable', `${folder} does not have all memories that were copied; nothing was moved.`, {
    subject: folder,
    hint: 'Check the disk of the project, then try again.',
  });
