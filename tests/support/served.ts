import type { HttpRoute } from '../../src/base/http/http-route.ts';
import type { Context } from '../../src/operations/context.ts';
import { openFrontDoor, type FrontDoor } from '../../src/surfaces/http/front-door.ts';

/** Routes behind the real front door, on a free port of this machine. */
export async function served(
  context: Context,
  routes: readonly HttpRoute[],
  onEnd: (cleanUp: () => Promise<void>) => void,
): Promise<FrontDoor> {
  const door = await openFrontDoor({ port: 0, routes, log: context.log });
  onEnd(() => door.close());
  return door;
}
