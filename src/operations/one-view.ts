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
  let looked = oneView(context);
  for (;;) {
    try {
      return await run(looked.view);
    } catch (error) {
      if (!(error instanceof BmadError) || error.code !== 'not_found') throw error;
      // Names are looked up before anything is written.
      if (!onlyReads && error.reason !== 'name') throw error;
      if (onlyReads && !looked.again && (await looked.isOver()))
        looked = { ...oneView(context), again: true };
      else return beside(error, await looked.everywhere(), run);
    }
  }
}

/** What is not there may be in a built-in module that lists leave out. */
async function beside<T>(
  error: BmadError,
  view: Context | undefined,
  run: (view: Context) => Promise<T>,
): Promise<T> {
  if (view === undefined) throw error;
  return run(view).catch((other: unknown) => {
    if (!(other instanceof BmadError)) throw other;
    const isNews = other.code !== 'not_found' || (error.reason === 'name' && other.reason !== 'name');
    throw isNews || error.suggestions.length === 0 ? other : error;
  });
}

interface OneView {
  view: Context;
  /** Whether it is the second that was looked at. */
  again: boolean;
  isOver(): Promise<boolean>;
  /** The same with all built-in modules, where there are some that it was without. */
  everywhere(): Promise<Context | undefined>;
}

/** A context in which each project's content is looked at once, and whether there is another state of it by now. */
function oneView(context: Context): OneView {
  const seen = new Map<string | undefined, Promise<Workspace>>();
  return {
    again: false,
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
    async everywhere() {
      const whole = new Map<string | undefined, Promise<Workspace>>();
      for (const [project, seenAs] of seen) {
        const workspace = await seenAs;
        if ((await workspace.beside()).length > 0) whole.set(project, workspace.everything());
      }
      if (whole.size === 0) return undefined;
      return { ...context, workspace: (project) => whole.get(project) ?? context.workspace(project) };
    },
  };
}
