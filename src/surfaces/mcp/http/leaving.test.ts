import { once } from 'node:events';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../../tests/support/app.ts';
import { INITIALIZE, openRequest, openSocket, sendRequest } from '../../../../tests/support/raw-http.ts';
import { openFrontDoor, type FrontDoor } from '../../http/front-door.ts';
import { openGate, type Gate } from '../../http/gate.ts';
import { createHealthRoutes } from '../../http/health.ts';
import { createMcpRoute, type McpRoute } from './route.ts';

const context = await contextIn(await temporaryFolder(afterAll));
const doors: FrontDoor[] = [];
afterEach(async () => void (await Promise.all(doors.splice(0).map((door) => door.close()))));

/** A gate that takes its time when it is told to, as one does that has to fetch the keys of an issuer. */
function pausingGate(): { gate: Gate; pause(): { asked: Promise<void>; goOn(): void } } {
  let waiting: { asked(): void; told: Promise<void> } | undefined;
  return {
    gate: {
      async admit(authorization) {
        const here = waiting;
        waiting = undefined;
        here?.asked();
        await here?.told;
        return openGate.admit(authorization);
      },
    },
    pause() {
      let goOn: () => void = () => undefined;
      const told = new Promise<void>((resolve) => (goOn = resolve));
      const asked = new Promise<void>((resolve) => (waiting = { asked: resolve, told }));
      return { asked, goOn };
    },
  };
}

async function serve(): Promise<{
  origin: string;
  mcp: McpRoute;
  leave(request: string, body?: unknown): Promise<void>;
}> {
  const { gate, pause } = pausingGate();
  const mcp = createMcpRoute(context, { sessions: 1 });
  const door = await openFrontDoor({
    port: 0,
    routes: [mcp, ...createHealthRoutes(context)],
    log: context.log,
    gate,
    limits: { shutdownMs: 100 },
  });
  doors.push(door);
  /** Sends a request and leaves while the gate is still busy with it. */
  async function leave(request: string, body?: unknown): Promise<void> {
    const { asked, goOn } = pause();
    const socket = await openSocket(door.origin);
    const text = body === undefined ? '' : JSON.stringify(body);
    const length = text === '' ? '' : `Content-Length: ${text.length}\r\nContent-Type: application/json\r\n`;
    const accept = 'Accept: application/json, text/event-stream\r\n';
    socket.write(`${request}\r\nHost: localhost\r\n${accept}${length}\r\n${text}`);
    await asked;
    socket.resetAndDestroy();
    await once(socket, 'close');
    // The server has heard of it once it answers what came later.
    for (let count = 0; count < 3; count += 1)
      expect((await sendRequest(door.origin, { method: 'GET', path: '/healthz' })).status).toBe(200);
    goOn();
    await sendRequest(door.origin, { method: 'GET', path: '/healthz' });
  }
  return { origin: door.origin, mcp, leave };
}

async function openSession(origin: string): Promise<Record<string, string>> {
  const { status, headers } = await sendRequest(origin, { body: INITIALIZE });
  expect(status).toBe(200);
  return { 'mcp-session-id': String(headers['mcp-session-id']) };
}

describe('a client that leaves while it is asked who it is', () => {
  it('finds its session as it was', async () => {
    const { origin, leave } = await serve();
    const session = await openSession(origin);
    await leave(`GET /mcp HTTP/1.1\r\nMcp-Session-Id: ${session['mcp-session-id']}`);
    const stream = await openRequest(origin, { method: 'GET', headers: session });
    expect(stream.statusCode).toBe(200);
    stream.destroy();
  });

  it('takes no room from those who come later', async () => {
    const { origin, leave } = await serve();
    const session = await openSession(origin);
    await leave(`GET /mcp HTTP/1.1\r\nMcp-Session-Id: ${session['mcp-session-id']}`);
    expect((await sendRequest(origin, { body: INITIALIZE })).status).toBe(200);
  });

  it('opens no session', async () => {
    const { mcp, leave } = await serve();
    await leave('POST /mcp HTTP/1.1', INITIALIZE);
    expect(mcp.sessions()).toBe(0);
  });
});
