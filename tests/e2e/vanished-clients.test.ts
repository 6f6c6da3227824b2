import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { serverFile, temporaryFolder } from '../support/app.ts';
import { startHttpServer } from '../support/http-server.ts';
import { parseMetrics } from '../support/prometheus.ts';
import { INITIALIZE, sendRequest } from '../support/raw-http.ts';

/** The system says how much memory a process may have, and the clock how late it is: both are told to the server here. */
const TOLD = `
const os = require('node:os');
os.freemem = os.totalmem;
const { now } = Date;
const megabytes = Number(process.env.TOLD_MEGABYTES);
if (megabytes > 0) process.constrainedMemory = () => megabytes * 1_048_576;
let later = 0;
Date.now = () => now() + later;
process.on('SIGUSR2', () => { later += 120_000; process.stderr.write('It is later.\\n'); });
`;

it.skipIf(process.platform === 'win32').each([
  ['ends sessions of clients that were silent for two minutes, where memory is short', '60', 1],
  ['keeps them, where there is enough', '0', 7],
])('%s (F-13)', async (_what, megabytes, left) => {
  const [cwd, home] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
  await mkdir(join(cwd, '_bmad'));
  const told = join(home, 'told.cjs');
  await writeFile(told, TOLD);
  const args = ['--require', told, serverFile, '--http', '--port', '0'];
  const server = await startHttpServer({ cwd, home, args, env: { TOLD_MEGABYTES: megabytes } });
  onTestFinished(async () => void (await server.stop()));
  const { origin } = new URL(server.url);
  const opened = async (): Promise<string> => {
    const { headers } = await sendRequest(origin, { path: '/mcp', body: INITIALIZE });
    return String(headers['mcp-session-id']);
  };
  const list = async (session: string): Promise<number> => {
    const body = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
    const headers = { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' };
    return (await sendRequest(origin, { path: '/mcp', body, headers })).status;
  };
  const count = async (): Promise<number | undefined> =>
    parseMetrics(await (await fetch(`${origin}/metrics`)).text())
      .get('bmad_sessions')
      ?.value({});

  const vanished = [];
  for (let each = 0; each < 6; each += 1) vanished.push(await opened());
  expect(await count()).toBe(6);
  server.child.kill('SIGUSR2');
  await expect.poll(() => server.stderr()).toContain('It is later.');
  const next = await opened();
  expect(await count()).toBe(left);
  expect(await list(next)).toBe(200);
  expect(await list(vanished[0] ?? '')).toBe(left === 1 ? 404 : 200);
});
