import { posix } from 'node:path';
import type { Run } from '../../model/run.ts';
import type { ProjectState, StatePort } from '../context.ts';
import type { StepFile } from './step-files.ts';

/** Without folders and its ending. */
export const plainName = (step: string): string =>
  posix
    .basename(step.trim().replaceAll('\\', '/'))
    .toLowerCase()
    .replace(/\.(?:md|xml)$/, '');

/** The route of a run among those that its workflow has a file for; nothing where it takes the numbered steps. */
export type RouteOf = (routes: readonly string[]) => Promise<string | undefined>;

const STEP = 'step-';

/** A run on a route does the steps up to the last that names the file of the route, and then that file. */
export async function withRoute(
  files: readonly StepFile[],
  uris: readonly string[],
  read: (uri: string) => Promise<string>,
  routeOf: RouteOf,
): Promise<StepFile[] | undefined> {
  const folder = posix.dirname(files[0]?.uri ?? '');
  const routes = uris.flatMap((uri) =>
    posix.dirname(uri) === folder ? (/\/step-([a-z][a-z_-]*)\.md$/i.exec(uri)?.[1] ?? []) : [],
  );
  const route = routes.length === 0 ? undefined : await routeOf(routes);
  const name = `${STEP}${route ?? ''}`;
  const uri = uris.find((each) => each === `${folder}/${name}.md`);
  if (route === undefined || uri === undefined) return undefined;
  for (const { number, uri: step } of files.toReversed())
    if ((await read(step)).includes(`${name}.md`))
      return [...files.filter((file) => file.number <= number), { number: number + 1, part: '', name, uri }];
  return undefined;
}

/** The route that the spec of a run has taken, or whose step was told by its name. */
export function routeOfRun(
  run: Pick<Run, 'state'>,
  told: unknown,
  context: StatePort,
  project: string | undefined,
) {
  const names = new Set(
    [told, run.state?.lastStep].map((step) => (typeof step === 'string' ? plainName(step) : '')),
  );
  return async (routes: readonly string[]): Promise<string | undefined> =>
    routes.find((route) => names.has(`${STEP}${route.toLowerCase()}`)) ??
    (await workOfRun(run, await context.state(project))).route;
}

/** The story of a run and the route of its spec, by the values and files that are recorded with it. */
export async function workOfRun(
  { state: run }: Pick<Run, 'state'>,
  state: Pick<ProjectState, 'progress'>,
): Promise<{ story?: string; route?: string }> {
  const values = [
    ...Object.values(run?.variables ?? {}),
    ...(run?.artefacts ?? []).map(({ file, path }) => file ?? path),
  ].filter((value) => typeof value === 'string');
  return values.length === 0 ? {} : (await state.progress()).workIn(values);
}
