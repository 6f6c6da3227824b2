import type { IncomingMessage } from 'node:http';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../../tests/support/app.ts';
import {
  INITIALIZE,
  LIST,
  modern,
  openRequest,
  sendRequest,
  type Sent,
} from '../../../../tests/support/raw-http.ts';
import { openFrontDoor, type FrontDoor } from '../../http/front-door.ts';
import { tokenGate } from '../../http/gate.ts';
import { createMcpRoute } from './route.ts';

const EVE = 'the-token-of-eve-1234';
const ADA = 'the-token-of-ada-1234';
const context = await contextIn(await temporaryFolder(afterAll));

let door: FrontDoor;
beforeEach(async () => {
  const tokens = [EVE, ADA].map((token) => ({ token, mayWrite: false }));
  door = await openFrontDoor({
    port: 0,
    routes: [createMcpRoute(context, { sessions: 4 })],
    log: context.log,
    gate: tokenGate(tokens),
  });
  return () => door.close();
});

const as = (token: string, sent: Sent): Sent => ({
  ...sent,
  headers: { ...sent.headers, authorization: `Bearer ${token}` },
});

async function openSession(token: string): Promise<Sent['headers']> {
  const { status, headers } = await sendRequest(door.origin, as(token, { body: INITIALIZE }));
  expect(status).toBe(200);
  return { 'mcp-session-id': String(headers['mcp-session-id']) };
}

const listen = (token: string, uris: readonly string[]): Promise<IncomingMessage> =>
  openRequest(
    door.origin,
    as(token, modern('subscriptions/listen', { notifications: { resourceSubscriptions: uris } })),
  );

describe('a flood of one caller', () => {
  it('ends no session of another', async () => {
    const ada = await openSession(ADA);
    for (let count = 0; count < 20; count += 1) await openSession(EVE);
    expect((await sendRequest(door.origin, as(ADA, { body: LIST, headers: ada ?? {} }))).status).toBe(200);
  });

  it('keeps nobody from opening one, even where it listens on all it has', async () => {
    const streams: IncomingMessage[] = [];
    for (let count = 0; count < 4; count += 1) {
      const headers = (await openSession(EVE)) ?? {};
      streams.push(await openRequest(door.origin, as(EVE, { method: 'GET', headers })));
    }
    expect((await sendRequest(door.origin, as(EVE, { body: INITIALIZE }))).status).toBe(503);
    await openSession(ADA);
    for (const stream of streams) stream.destroy();
  });

  it('leaves others resources to listen for', async () => {
    const many = (from: number): string[] =>
      Array.from({ length: 500 }, (_, index) => `bmad://none/${from + index}`);
    const first = await listen(EVE, many(0));
    expect(first.statusCode).toBe(200);
    expect((await listen(EVE, many(500))).statusCode).toBe(503);
    const other = await listen(ADA, ['bmad://config/current']);
    expect(other.statusCode).toBe(200);
    for (const each of [first, other]) each.destroy();
  });

  it.each(['https://example.org/', 'none', `bmad://${'x'.repeat(3_000)}`])(
    'cannot be of what is not served: %.30s',
    async (uri) => {
      expect((await listen(EVE, [uri])).statusCode).toBe(400);
    },
  );
});
