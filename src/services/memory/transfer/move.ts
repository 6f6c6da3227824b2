import { setAside } from '../../../base/files/file-state.ts';
import { readKitAgents } from '../../../kit/agents.ts';
import { folderAt, projectPages, type StateMove } from '../../../kit/home.ts';
import { jailOf } from '../../../kit/kit-lock.ts';
import { strayRefusal } from '../../../kit/kit.ts';
import { mirrorOf } from '../../../kit/project-log.ts';
import { writeKitFiles } from '../../../kit/memories/write.ts';
import { copyLines, lineFiles } from '../../../lines/files.ts';
import type { MemoryEntry, MemoryType } from '../../../model/memory.ts';
import type { MemoryStore } from '../engine.ts';
import { isOnQdrant, type StoreSetup } from '../open.ts';
import { allEntries } from './transfer.ts';

/** Copies the lines of a project that are on this machine only into the project. */
export async function moveIntoProject(
  setup: StoreSetup,
  opened: () => Promise<MemoryStore>,
): Promise<StateMove | undefined> {
  const { kit } = setup;
  const { project, user } = kit.places.memories;
  const [from, to] = [folderAt(user), folderAt(project)];
  const inside = jailOf(to);
  if (isOnQdrant(setup.engine) || (await lineFiles(from)).length === 0) return undefined;
  const home = projectPages(kit);
  const store = await opened();
  return {
    part: 'memories',
    count: await store.count({ includeSuperseded: true }),
    from,
    to: project.path,
    async obstacles() {
      const stray = await strayRefusal(kit.root, project.path, 'nothing was moved');
      return stray === undefined ? [] : [stray.line];
    },
    async copy() {
      await copyLines(from, {
        folder: to,
        inside,
        mirror: await mirrorOf(setup, to, inside),
        isPrivate: true,
      });
      const all = home.keptWith === undefined ? (await allEntries(store, {})).toReversed() : [];
      const living = (type: MemoryType): Promise<MemoryEntry[]> =>
        Promise.resolve(all.filter((entry) => entry.type === type));
      const agents = await readKitAgents(kit);
      for (const entry of all)
        await writeKitFiles({ kit: home, agents, locks: to, living }, entry, { mode: 'local' });
      // The same lines in both places are the same memories.
      return () => Promise.resolve();
    },
    setAside: () => setAside(from),
  };
}
