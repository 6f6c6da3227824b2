import { afterEach } from 'vitest';
import {
  type Exchange,
  type HttpRoute,
  refuseAsProblem,
  refuseAsRpc,
} from '../../src/base/http/http-route.ts';
import { createLog } from '../../src/base/log.ts';
import { createSecrets } from '../../src/base/secrets/rules.ts';
import { openFrontDoor, type FrontDoor, type FrontDoorOptions } from '../../src/surfaces/http/front-door.ts';

/** What the front doors of a test have logged. */
export const logged: string[] = [];
const log = createLog({
  level: 'debug',
  write: (line) => logged.push(line),
  json: true,
  secrets: createSecrets(),
});

const doors: FrontDoor[] = [];
afterEach(async () => void (await Promise.all(doors.splice(0).map((door) => door.close()))));

/** Says who the front door takes the caller for. */
export const whoami: HttpRoute = {
  path: '/who',
  methods: ['GET', 'POST'],
  refuse: refuseAsRpc,
  handle: async ({ caller, request }) => Response.json({ caller, body: await request.text() }),
};
const health: HttpRoute = {
  path: '/health',
  methods: ['GET'],
  open: true,
  refuse: refuseAsProblem,
  handle: async ({ caller }) => Response.json({ caller }),
};

/** Answers when the test says so. */
export function slowRoute(): { route: HttpRoute; begun: Promise<Exchange>; answer(): void } {
  let begin: (exchange: Exchange) => void;
  let answer: () => void;
  const begun = new Promise<Exchange>((resolve) => (begin = resolve));
  const told = new Promise<void>((resolve) => (answer = resolve));
  const route: HttpRoute = {
    path: '/slow',
    methods: ['GET'],
    refuse: refuseAsProblem,
    async handle(exchange) {
      begin(exchange);
      await told;
      return Response.json({ done: true });
    },
  };
  return { route, begun, answer: () => answer() };
}

/** A front door on a free port, closed when the test is over. */
export async function serve(options: Partial<FrontDoorOptions> = {}): Promise<FrontDoor> {
  const door = await openFrontDoor({ port: 0, routes: [whoami, health], log, ...options });
  doors.push(door);
  return door;
}
