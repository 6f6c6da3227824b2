import type { Kit } from '../../kit/kit.ts';
import { outputFolder } from '../../kit/output.ts';
import { composeBrief } from './brief.ts';
import { TaskStore } from './task-store.ts';
import { Tasks } from './tasks.ts';

export interface TaskQueue {
  queue: Tasks;
  composeBrief: typeof composeBrief;
}

const FOLDER = '.tasks';

/** The queue of a project: in its output folder, or with the user when the project has no BMAD in it. */
export async function openTasks(kit: Kit, userFolder: { root: string; folder: string }): Promise<TaskQueue> {
  const output = await outputFolder(kit);
  const place =
    output === undefined
      ? { root: userFolder.root, folder: userFolder.folder, owner: 'user' as const }
      : { root: kit.root, folder: `${output}/${FOLDER}`, owner: 'project' as const };
  return { queue: new Tasks({ store: new TaskStore(place), now: () => new Date() }), composeBrief };
}
