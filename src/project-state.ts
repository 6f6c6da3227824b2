import { join } from 'node:path';
import { BmadError } from './base/errors.ts';
import { projectKey } from './base/project-key.ts';
import { readKit } from './kit/kit.ts';
import type { ProjectState } from './operations/context.ts';
import type { Project } from './sources/project-root.ts';

export interface StateSetup {
  /** The user's folder for what has no place in a project. */
  userState: string;
}

/**
 * What a project knows about itself. Its files change under our feet, so nothing is kept from one call to the next;
 * each part is loaded when a call first needs it.
 */
export function projectState(project: Project, { userState }: StateSetup): ProjectState {
  const root = rootOf(project);
  return {
    root,
    kit: () => readKit(root),
    async deliveries() {
      const { openContracts } = await import('./services/delivery-contracts/open-contracts.ts');
      return openContracts(await readKit(root), join(userState, 'runs', projectKey(root)));
    },
    async tasks() {
      const { openTasks } = await import('./services/tasks/open-tasks.ts');
      return openTasks(await readKit(root), { root: userState, folder: `tasks/${projectKey(root)}` });
    },
  };
}

function rootOf({ root, from }: Project): string {
  if (root !== undefined) return root;
  throw new BmadError('invalid_input', `There is no project whose state could be read (${from}).`, {
    hint: 'Start the server in a project, or name its folder with --project or BMAD_PROJECT_ROOT.',
  });
}
