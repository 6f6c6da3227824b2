import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { connectOver, ERAS } from '../support/http-client.ts';
import { startHttpServer, type HttpServerProcess } from '../support/http-server.ts';
import { textsOf } from '../support/mcp-client.ts';
import {
  INITIALIZE,
  modern,
  openRequest,
  openSocket,
  requestText,
  sendRequest,
} from '../support/raw-http.ts';

const CLIENTS = 200;
const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
let server: HttpServerProcess;

beforeAll(async () => {
  server = await startHttpServer({ cwd, home });
  return async () => void (await server.stop());
});

const LIST_AGENTS = { name: 'bmad', arguments: { operation: 'list', query: 'agents' } };
const fingerprint = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex');

describe.each(ERAS)(`${CLIENTS} at once: $name`, ({ mode }) => {
  it('each gets the right answer', async () => {
    const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connectOver(server.url, mode)));
    const answers = await Promise.all(clients.map((client) => client.callTool(LIST_AGENTS)));
    expect(new Set(answers.map((answer) => fingerprint(textsOf(answer)))).size).toBe(1);
    expect(textsOf(answers[0] as never)[0]).toContain('architect');
    await Promise.all(clients.map((client) => client.close()));
  });
});

describe('clients that misbehave', () => {
  it('with slow headers do not keep others from being served', async () => {
    const sockets = await Promise.all(Array.from({ length: 60 }, () => openSocket(server.url)));
    for (const socket of sockets) socket.write('POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    expect((await sendRequest(server.url, { body: INITIALIZE })).status).toBe(200);
    for (const socket of sockets) socket.destroy();
  });

  it('that never read cost no memory to speak of', async () => {
    const request = requestText(modern('tools/call', LIST_AGENTS));
    const sockets = await Promise.all(Array.from({ length: 20 }, () => openSocket(server.url)));
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    for (const socket of sockets) {
      socket.pause();
      socket.write(request.repeat(100));
    }
    const after = await sendRequest(server.url, modern('tools/call', LIST_AGENTS));
    expect(after.status).toBe(200);
    if (process.platform === 'linux') expect(await residentMegabytes()).toBeLessThan(500);
  });

  it('may not open more streams than there may be', async () => {
    const few = await startHttpServer({ cwd, home, more: ['--http-requests', '10'] });
    onTestFinished(async () => void (await few.stop()));
    const open = async (): Promise<number> => {
      const opened = await sendRequest(few.url, { body: INITIALIZE });
      const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
      const stream = await openRequest(few.url, { method: 'GET', headers });
      onTestFinished(() => void stream.destroy());
      return stream.statusCode ?? 0;
    };
    for (let count = 0; count < 9; count += 1) expect(await open()).toBe(200);
    const opened = await sendRequest(few.url, { body: INITIALIZE });
    expect(opened.status).toBe(200);
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const tenth = await openRequest(few.url, { method: 'GET', headers });
    onTestFinished(() => void tenth.destroy());
    expect(tenth.statusCode).toBe(200);
    // Those who only listen shut out nobody who asks, nor those who look after the server.
    const again = await sendRequest(few.url, { body: INITIALIZE });
    expect(again.status).toBe(200);
    for (const path of ['/healthz', '/readyz'])
      expect((await sendRequest(few.url, { method: 'GET', path })).status).toBe(200);
    const one = { 'mcp-session-id': String(again.headers['mcp-session-id']) };
    const refused = await sendRequest(few.url, { method: 'GET', headers: one });
    expect(refused.status).toBe(503);
    expect(refused.headers['retry-after']).toBe('5');
    expect(refused.text).toContain('Too many streams are open');
  });
});

async function residentMegabytes(): Promise<number> {
  const status = await readFile(`/proc/${server.child.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
}
