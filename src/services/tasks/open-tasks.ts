import type { Kit } from '../../kit/kit.ts';
import type { Decisions } from '../../model/decision.ts';
import { stateFolder } from '../../kit/home.ts';
import { composeBrief } from './brief.ts';
import { TaskFollower } from './follow-task.ts';
import { KeptTasks } from './kept-tasks.ts';
import { TaskStore } from './task-store.ts';
import { Tasks } from './tasks.ts';

export { KeptTasks };

export type TaskQueue = Awaited<ReturnType<typeof openTasks>>;

/** The queue of a project: in its output folder, or with the user where its state is kept there. */
export async function openTasks(
  kit: Kit,
  userFolder: { root: string; folder: string },
  decisions: Decisions,
  kept = new KeptTasks(),
) {
  const output = await stateFolder(kit);
  const place =
    output === undefined
      ? { ...userFolder, owner: 'user' as const }
      : { root: kit.root, folder: `${output}/.tasks`, owner: 'project' as const };
  const queue = new Tasks(new TaskStore(place, kept), decisions);
  const follower = new TaskFollower(queue);
  return { queue, composeBrief, follow: follower.follow.bind(follower) };
}
