import { Agent } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { PROJECT } from '../support/code-project.ts';
import { commitAll, KIT_LIKE_SCRIPT, SCRIPT_PATH } from '../support/contract-project.ts';
import { writeFiles } from '../support/folders.ts';
import { startHttpServer, type HttpServerProcess } from '../support/http-server.ts';
import { LineClient, type Message } from '../support/line-client.ts';
import { modern, openSocket, sendRequest } from '../support/raw-http.ts';
import { some } from '../support/how-much.ts';

const SEARCH = { name: 'search_codebase', arguments: { query: 'where is closeSession' } };
const EXECUTE = { name: 'bmad', arguments: { operation: 'execute', agent: 'architect', message: 'Hello' } };
/** What was asked for, or why it cannot be had at the moment. */
const ANSWER = /src\/session\.ts|lib\/retry\.py|CC PASS|ulimit -n/;
const OWN_AGENT = '```xml\n<agent id="own.agent.yaml" name="Own" title="Our own">\n</agent>\n```\n';
const FILES = {
  ...PROJECT,
  '_bmad/_config/custom/agents/own.md': OWN_AGENT,
  [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
  '.verify/go': 'go test ./...|tests OK\n',
};

async function place(): Promise<{ cwd: string; home: string }> {
  const cwd = await temporaryFolder(onTestFinished);
  await writeFiles(cwd, FILES);
  await commitAll(cwd);
  return { cwd, home: await temporaryFolder(onTestFinished) };
}

/** As many connections as can be had; those that the server drops are left out. */
async function holdAll(url: string, count: number): Promise<Socket[]> {
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(url)));
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
  return sockets;
}

/** The answer over a new connection, as soon as the server has noticed that handles are free and takes one. */
async function onceServed(server: HttpServerProcess, call: Record<string, unknown>): Promise<string> {
  while (server.child.exitCode === null) {
    const answered = await sendRequest(server.url, modern('tools/call', call)).catch(() => undefined);
    if (answered !== undefined && !answered.text.includes('ulimit -n')) return answered.text;
  }
  throw new Error(`The server has ended: ${server.stderr()}`);
}

describe.skipIf(process.platform !== 'linux')('a server that runs out of file handles', () => {
  it('answers the call and goes on serving (R-02)', async () => {
    const server = await startHttpServer({ ...(await place()), handles: 200 });
    onTestFinished(async () => void (await server.stop()));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    // This connection is there before the handles are gone.
    expect((await sendRequest(server.url, { ...modern('tools/list'), agent })).status).toBe(200);
    const sockets = await holdAll(server.url, 200);
    for (let count = 0; count < 2; count += 1) {
      const { status, text } = await sendRequest(server.url, { ...modern('tools/call', SEARCH), agent });
      expect(status).toBe(200);
      expect(text).toMatch(ANSWER);
      await sendRequest(server.url, { ...modern('tools/call', EXECUTE), agent });
    }
    for (const socket of sockets) socket.destroy();
    expect(await onceServed(server, SEARCH)).toContain('src/session.ts');
    expect(await onceServed(server, EXECUTE)).toContain('Winston');
    // What was looked for without handles has not been taken for missing.
    const list = { name: 'bmad', arguments: { operation: 'list', query: 'agents' } };
    expect(await onceServed(server, list)).toContain('Our own');
    expect(server.child.exitCode).toBeNull();
  });

  it.each(some(1, [29, 26, 32]))('answers whatever is asked with %d handles (R-02)', async (handles) => {
    const client = await LineClient.connect({ ...(await place()), handles, args: ['--trust-project'] });
    onTestFinished(async () => void (await client.close()));
    const ask = (name: string, args: object = {}): Promise<Message> =>
      client.request('tools/call', { name, arguments: args });
    const answers = await Promise.all([
      ask('run_completion_contract'),
      ask('search_codebase', SEARCH.arguments),
      ask('run_completion_contract'),
      ask('search_codebase', { query: 'retry with a pause' }),
    ]);
    for (const answer of answers) {
      expect(JSON.stringify(answer)).toMatch(ANSWER);
    }
    expect((await client.request('tools/list')).result?.['tools']).toBeInstanceOf(Array);
  });
});
