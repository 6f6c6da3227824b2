import type { IncomingMessage } from 'node:http';
import { afterAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder } from '../../../../tests/support/app.ts';
import {
  INITIALIZE,
  LIST,
  modern,
  openRequest,
  sendRequest,
  type Sent,
} from '../../../../tests/support/raw-http.ts';
import { waitingContract } from '../../../../tests/support/waiting-contract.ts';
import { openFrontDoor, type FrontDoor } from '../../http/front-door.ts';
import { tokenGate } from '../../http/gate.ts';
import { createMcpRoute } from './route.ts';

const EVE = 'the-token-of-eve-1234';
const ADA = 'the-token-of-ada-1234';
const context = await contextIn(await temporaryFolder(afterAll));

const gate = tokenGate([EVE, ADA].map((token) => ({ token, mayWrite: true })));

let door: FrontDoor;
beforeEach(async () => {
  door = await openFrontDoor({
    port: 0,
    routes: [createMcpRoute(context, { sessions: 4 })],
    log: context.log,
    gate,
  });
  return () => door.close();
});

const as = (token: string, sent: Sent): Sent => ({
  ...sent,
  headers: { ...sent.headers, authorization: `Bearer ${token}` },
});

async function openSession(token: string, at = door): Promise<Sent['headers']> {
  const { status, headers } = await sendRequest(at.origin, as(token, { body: INITIALIZE }));
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

  it('says to a call of a session that makes room why it ends', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const contract = await waitingContract(folder, onTestFinished);
    const running = await contextIn(folder, {
      flags: { contractsOverHttp: 'true', trustProject: 'true' },
    });
    const busy = await openFrontDoor({
      port: 0,
      routes: [createMcpRoute(running, { sessions: 2 })],
      log: running.log,
      gate,
    });
    onTestFinished(() => busy.close());
    const sessions: Record<string, string>[] = [];
    for (let count = 0; count < 2; count += 1) sessions.push((await openSession(EVE, busy)) ?? {});
    const params = { name: 'run_completion_contract', arguments: {} };
    const called = sendRequest(
      busy.origin,
      as(EVE, { body: { jsonrpc: '2.0', id: 9, method: 'tools/call', params }, headers: sessions[0] ?? {} }),
    );
    const waiting = await contract.begun();
    const stream = await openRequest(busy.origin, as(EVE, { method: 'GET', headers: sessions[1] ?? {} }));
    await openSession(ADA, busy);
    const { text } = await called;
    expect(text).toContain('to make room for another. Initialize again.');
    expect(text).not.toContain('The server shut down');
    stream.destroy();
    await waiting.close();
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
