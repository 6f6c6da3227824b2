import { realFolder } from '../base/files/files.ts';
import { isBelow } from '../base/files/open-file.ts';
import type { Bounds } from '../base/http/http-route.ts';
import { BmadError } from '../base/errors.ts';
import { t } from '../base/text/message.ts';
import type { Call, Context } from './context.ts';
import type { AnyOperation } from './operation.ts';
import { isInToolsets } from './toolsets.ts';

/** What a token is bounded to is checked here, for every surface. */

const HINT = 'Ask the server’s operator, whose token file says what a token reaches.';
const RETRY_SECONDS = 60;

/** Whether a project is one of those, or below one. */
export async function isInProjects(root: string | undefined, bounds: Bounds | undefined): Promise<boolean> {
  if (bounds?.projects === undefined) return true;
  if (root === undefined) return false;
  for (const project of bounds.projects) {
    const real = (await realFolder(project)) ?? project;
    if (isBelow(real, root)) return true;
  }
  return false;
}

export async function refuseOutside(
  operations: readonly AnyOperation[],
  context: Context,
  { bounds }: Call,
): Promise<void> {
  if (bounds === undefined) return;
  const outside = operations.find((each) => !isInToolsets(each, bounds));
  if (outside !== undefined)
    throw new BmadError('forbidden', t`Your token is not for ${outside.name}.`, { hint: HINT });
  if (bounds.projects !== undefined) await refuseProject(context, bounds);
}

async function refuseProject(context: Context, bounds: Bounds): Promise<void> {
  // Whether a folder that the token does not reach exists is not told either.
  const root = await context.workspace().then(
    ({ project }) => project.root,
    () => undefined,
  );
  if (!(await isInProjects(root, bounds)))
    throw new BmadError('forbidden', t`Your token is not for this project.`, {
      hint: t`Name another one with "project". ${HINT}`,
    });
}

/** What adds to a project, and what there may be only so many of. */
const ADDS: Readonly<Record<string, 'tasks' | 'memories'>> = {
  spawn_subagent_task: 'tasks',
  outside_task_add: 'tasks',
  remember_structured: 'memories',
  log_decision: 'memories',
  log_learning: 'memories',
  log_failure: 'memories',
};

/** Work that adds no more than there may be by the caller's token; other work is done at once. */
export async function withinQuota<T>(
  operations: readonly AnyOperation[],
  context: Context,
  { bounds = {} }: Call,
  work: () => Promise<T>,
): Promise<T> {
  const what = operations.map(({ name }) => ADDS[name]).find((each) => each !== undefined);
  const most = what === undefined ? undefined : bounds[what];
  if (what === undefined || most === undefined) return work();
  const { adding = (now: typeof work) => now() } = context;
  return adding(async () => {
    await refuseMore(what, most, context);
    return work();
  });
}

/** Refuses what would be one more than a project may have by this token. */
async function refuseMore(what: 'tasks' | 'memories', most: number, context: Context): Promise<void> {
  const isTask = what === 'tasks';
  const count = isTask
    ? (await (await (await context.state()).tasks()).queue.open()).length
    : await (await context.memory()).count({});
  if (count < most) return;
  const why = isTask
    ? t`Open tasks of the project: ${count}; your token may have ${most}.`
    : t`Memories of the project: ${count}; your token may have ${most}.`;
  throw new BmadError('unavailable', why, { reason: 'quota', seconds: RETRY_SECONDS, hint: HINT });
}
