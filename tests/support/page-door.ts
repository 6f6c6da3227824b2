import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { Context } from '../../src/operations/context.ts';
import { createApiRoutes } from '../../src/surfaces/http/api/route.ts';
import { openFrontDoor } from '../../src/surfaces/http/front-door.ts';
import { openGate, type Gate } from '../../src/surfaces/http/gate.ts';
import { createEventsRoute } from '../../src/surfaces/http/page/events.ts';
import { openPasses } from '../../src/surfaces/http/page/passes.ts';
import { personGate } from '../../src/surfaces/http/page/person-gate.ts';
import { createPageRoutes } from '../../src/surfaces/http/page/routes.ts';
import type { HttpRoute } from '../../src/base/http/http-route.ts';

export interface PageDoorOptions {
  /** The user's state folder, and the folder with the files of the page. */
  state: string;
  folder?: string;
  behind?: Gate;
  now?: () => number;
  routes?: readonly HttpRoute[];
  commentMs?: number;
  /** A free one without it. */
  port?: number;
  /** Further projects to choose from. */
  others?: readonly string[];
}

/** The page behind the real front door, on a free port of this machine. */
export async function pageDoor(
  context: Context,
  onEnd: (cleanUp: () => Promise<void>) => void,
  {
    state,
    folder = join(state, 'built'),
    behind = openGate,
    now,
    routes = [],
    commentMs,
    port = 0,
    others = [],
  }: PageDoorOptions,
) {
  const passes = openPasses(state, now);
  const place = randomUUID();
  let address = '';
  const door = await openFrontDoor({
    port,
    log: context.log,
    gate: personGate(behind, { passes, own: true, origins: () => [] }),
    routes: [
      createEventsRoute(context, { passes, ...(commentMs === undefined ? {} : { commentMs }) }),
      ...createPageRoutes(context, {
        passes,
        places: [place],
        folder,
        projects: async () => [(await context.describeProject()).root ?? [], ...others].flat(),
        instances: async () => [],
        address: () => address,
      }),
      ...createApiRoutes(context, { secured: behind !== openGate, page: true }),
      ...routes,
    ],
  });
  address = door.origin;
  onEnd(() => door.close());
  return { ...door, passes, place, link: () => passes.link(place) };
}

export type PageDoor = Awaited<ReturnType<typeof pageDoor>>;

/** A browser as far as the server can tell: what it sends by itself, and what the page adds. */
export async function signedIn({ origin, link }: PageDoor) {
  const { key } = await link();
  const entered = await fetch(`${origin}/page/enter?key=${key}`, { redirect: 'manual' });
  const cookie = (entered.headers.get('set-cookie') ?? '').split(';', 1)[0] ?? '';
  const own = { cookie, 'sec-fetch-site': 'same-origin' };
  const session = (await (await fetch(`${origin}/api/page/session`, { headers: own })).json()) as {
    csrf: string;
    person: { id: string };
  };
  const headers = { ...own, origin, 'content-type': 'application/json', 'x-bmad-csrf': session.csrf };
  return {
    cookie,
    headers,
    session,
    get: (path: string) => fetch(`${origin}${path}`, { headers: own }),
    act: (operation: string, args: object, changed: Record<string, string | undefined> = {}) =>
      fetch(`${origin}/api/page/act`, {
        method: 'POST',
        headers: Object.fromEntries(
          Object.entries({ ...headers, ...changed }).filter(([, value]) => value !== undefined),
        ) as Record<string, string>,
        body: JSON.stringify({ operation, args }),
      }),
  };
}
