import { BmadError } from '../base/errors.ts';
import type { Context, Workspace } from './context.ts';

/**
 * Runs a call on one state of the content. What was there a moment ago may be gone when it is read: then one that only
 * reads is answered from the state that there is now.
 */
export async function onOneView<T>(
  context: Context,
  onlyReads: boolean,
  run: (view: Context) => Promise<T>,
): Promise<T> {
  const first = oneView(context);
  try {
    return await run(first.view);
  } catch (error) {
    const missing = error instanceof BmadError && error.code === 'not_found';
    if (!missing || !onlyReads || !(await first.isOver())) throw error;
    return run(oneView(context).view);
  }
}

/** A context in which each project's content is looked at once, and whether there is another state of it by now. */
function oneView(context: Context): { view: Context; isOver(): Promise<boolean> } {
  const seen = new Map<string | undefined, Promise<Workspace>>();
  return {
    view: {
      ...context,
      workspace(project) {
        const workspace = seen.get(project) ?? context.workspace(project);
        seen.set(project, workspace);
        return workspace;
      },
      refresh(project) {
        seen.clear();
        return context.refresh(project);
      },
    },
    async isOver() {
      for (const [project, workspace] of seen)
        if ((await workspace.catch(() => undefined)) !== (await context.workspace(project))) return true;
      return false;
    },
  };
}
