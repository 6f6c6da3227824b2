import { once } from 'node:events';
import { text as textOf } from 'node:stream/consumers';
import { StreamableHTTPClientTransport, Client } from '@modelcontextprotocol/client';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { gone } from '../support/contract-project.ts';
import { connectOver, ERAS } from '../support/http-client.ts';
import { startHttpServer, type HttpServerProcess } from '../support/http-server.ts';
import { newClient, textsOf } from '../support/mcp-client.ts';
import {
  INITIALIZE,
  LIST,
  modern,
  openRequest,
  openSocket,
  requestText,
  sendRequest,
} from '../support/raw-http.ts';
import { delegate, servers } from '../support/sampling-client.ts';
import { waitingContract, type WaitingContract } from '../support/waiting-contract.ts';

const { project } = await servers();
const CALL = { name: 'run_completion_contract', arguments: {} };

async function start(more: readonly string[] = []): Promise<HttpServerProcess & WaitingContract> {
  const cwd = await temporaryFolder(onTestFinished);
  const contract = await waitingContract(cwd, onTestFinished);
  const home = await temporaryFolder(onTestFinished);
  const server = await startHttpServer({
    cwd,
    home,
    more: ['--contracts-over-http', '--trust-project', ...more],
  });
  onTestFinished(() => void server.child.kill('SIGKILL'));
  return { ...server, ...contract };
}

/** Waits until the server takes no more connections; the test's own time limit ends the waiting. */
async function noMoreConnections({ url, child, stderr, ended }: HttpServerProcess): Promise<void> {
  // It says so when it begins to wait for a call that runs: before, asking would only take its time.
  while (!stderr().includes('Waiting for')) await Promise.race([once(child.stderr ?? child, 'data'), ended]);
  for (;;) {
    const socket = await openSocket(url).catch(() => undefined);
    if (socket === undefined) return;
    socket.destroy();
  }
}

describe.each(ERAS)('a server that is told to end, with $name', ({ mode }) => {
  it('finishes the running call, then exits with code 0', async () => {
    const server = await start();
    const client = await connectOver(server.url, mode);
    const called = client.callTool(CALL);
    const running = await server.begun();
    server.child.kill('SIGTERM');
    await noMoreConnections(server);
    await running.close();
    expect(textsOf(await called)[0]).toContain('CC ');
    expect(await server.ended).toBe(0);
  });

  it.each([
    ['whose progress is told', { onprogress: () => undefined }],
    ['of which nothing was heard', {}],
  ])('ends a call that takes longer than it may, %s', async (_which, options) => {
    const server = await start(['--http-shutdown-ms', '0']);
    const client = await connectOver(server.url, mode);
    const called = client.callTool(CALL, options).then(
      () => 'answered',
      (error: Error) => error.message,
    );
    const running = await server.begun();
    server.child.kill('SIGINT');
    // The client is told so: it does not have to wait until it gives up.
    expect(await called).toContain('The server shut down before this call finished.');
    expect(await server.ended).toBe(0);
    await client.close();
    await running.close();
  });
});

describe('a server that is told to end while the model of a client of 2025 is asked', () => {
  it('answers with the brief at once: nobody could reach it with the answer', async () => {
    const home = await temporaryFolder(onTestFinished);
    const more = ['--http-shutdown-ms', '600000'];
    const server = await startHttpServer({ cwd: await project(), home, more });
    onTestFinished(() => void server.child.kill('SIGKILL'));
    let tellAsked: () => void;
    const asked = new Promise<void>((resolve) => (tellAsked = resolve));
    const client = newClient({
      mode: 'legacy',
      sample() {
        tellAsked();
        return new Promise(() => undefined);
      },
    });
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    const answered = delegate(client);
    await asked;
    server.child.kill('SIGTERM');
    expect(await answered).toContain('the server is shutting down');
    expect(await server.ended).toBe(0);
    await client.close();
  });
});

describe('a server that is told to end', () => {
  it('says what it waits for', async () => {
    const server = await start();
    const client = await connectOver(server.url, 'legacy');
    const called = client.callTool(CALL);
    const running = await server.begun();
    server.child.kill('SIGINT');
    await noMoreConnections(server);
    await running.close();
    await called;
    expect(await server.ended).toBe(0);
    expect(server.stderr()).toContain('Waiting for 1 call, at most 10 s; press Ctrl+C again to stop now.\n');
    await client.close();
  });

  it('has nothing to say when nothing runs', async () => {
    const server = await start();
    const client = await connectOver(server.url, 'legacy');
    expect(await server.stop()).toBe(0);
    expect(server.stderr()).not.toContain('Waiting');
    await client.close();
  });

  it('refuses requests on connections that are kept', async () => {
    const server = await start();
    const opened = await sendRequest(server.url, { body: INITIALIZE });
    const session = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const call = { jsonrpc: '2.0', id: 9, method: 'tools/call', params: CALL };
    const socket = await openSocket(server.url);
    const body = JSON.stringify(call);
    const head = `POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMcp-Session-Id: ${session['mcp-session-id']}\r\n`;
    socket.write(`${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    const running = await server.begun();
    server.child.kill('SIGTERM');
    await noMoreConnections(server);
    const list = JSON.stringify(LIST);
    socket.write(`${head}Content-Length: ${Buffer.byteLength(list)}\r\n\r\n${list}`);
    await running.close();
    const said = await textOf(socket);
    expect(said).toMatch(/^HTTP\/1\.1 200 [^]*CC [^]*HTTP\/1\.1 503 [^]*shutting down/);
    expect(await server.ended).toBe(0);
  });

  it('ends streams at once when nothing runs', async () => {
    const server = await start();
    const opened = await sendRequest(server.url, { body: INITIALIZE });
    const headers = { 'mcp-session-id': String(opened.headers['mcp-session-id']) };
    const stream = await openRequest(server.url, { method: 'GET', headers });
    const listening = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'auto' } });
    await listening.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    server.child.kill('SIGTERM');
    await textOf(stream);
    expect(await server.ended).toBe(0);
    await listening.close();
  });

  it('goes on for the time that balancers are given, and is not ready then', async () => {
    const server = await start(['--http-drain-ms', '600000']);
    const { origin } = new URL(server.url);
    const status = async (path: string): Promise<number> => (await fetch(`${origin}${path}`)).status;
    await expect.poll(() => status('/readyz')).toBe(200);
    server.child.kill('SIGTERM');
    await expect.poll(() => status('/readyz')).toBe(503);
    expect([await status('/healthz'), await status('/api/list')]).toEqual([200, 200]);
    expect(server.stderr()).toContain(
      'Serving for another 600 s so that load balancers notice; press Ctrl+C again to stop now.\n',
    );
    expect(server.stderr()).not.toContain('Waiting');
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(130);
  });

  it('ends at once when it is told twice', async () => {
    const server = await start(['--http-shutdown-ms', '600000']);
    const client = await connectOver(server.url, 'legacy');
    const called = client.callTool(CALL).catch(() => 'ended');
    const running = await server.begun();
    server.child.kill('SIGTERM');
    await noMoreConnections(server);
    server.child.kill('SIGTERM');
    expect(await server.ended).toBe(130);
    await client.close();
    expect(await called).toBe('ended');
    await running.close();
  });
});

describe('a client that leaves in the middle of a call', () => {
  it('ends the program of the call, and nothing else', async () => {
    const server = await start();
    const client = await connectOver(server.url, { pin: '2026-07-28' });
    const leaving = new AbortController();
    let tellPid: (pid: number) => void;
    const pid = new Promise<number>((resolve) => (tellPid = resolve));
    const called = client
      .callTool(CALL, {
        signal: leaving.signal,
        onprogress: ({ message }) => {
          const found = /pid (\d+)/.exec(message ?? '')?.[1];
          if (found !== undefined) tellPid(Number(found));
        },
      })
      .catch(() => 'left');
    const running = await server.begun();
    const program = await pid;
    leaving.abort();
    expect(await called).toBe('left');
    await gone(program);
    await running.close();
    expect((await client.listTools()).tools).not.toEqual([]);
    await client.close();
  });

  it('also when its connection is cut', async () => {
    const server = await start();
    const socket = await openSocket(server.url);
    socket.write(requestText(modern('tools/call', CALL)));
    const running = await server.begun();
    socket.destroy();
    // The pipe breaks when its only reader is gone.
    for (;;) {
      const written = await running.write('x').catch((error: NodeJS.ErrnoException) => error.code);
      if (written === 'EPIPE') break;
    }
    expect((await sendRequest(server.url, { body: INITIALIZE })).status).toBe(200);
  });
});
