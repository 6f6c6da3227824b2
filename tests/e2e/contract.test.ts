import { spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cliFile, serverFile, temporaryFolder } from '../support/app.ts';
import { gone, KIT_LIKE_SCRIPT, receiptsIn, SCRIPT_PATH } from '../support/contract-project.ts';
import { writeFiles } from '../support/folders.ts';
import { serveHere } from '../support/http-server.ts';
import { LineClient } from '../support/line-client.ts';
import { connectClient, textsOf } from '../support/mcp-client.ts';
import { bmadHere } from '../support/command-line.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';
import { some } from '../support/how-much.ts';

const TOOL = 'run_completion_contract';
/** What consent is about has its own tests. */
const TRUSTED = { BMAD_TRUST_PROJECT: 'true' };
const FILES = { [SCRIPT_PATH]: KIT_LIKE_SCRIPT, '.verify/go': 'go test ./...|tests OK\n' };

async function project(files: Record<string, string> = FILES): Promise<{ cwd: string; home: string }> {
  const cwd = await temporaryFolder(onTestFinished);
  await writeFiles(cwd, files);
  return { cwd, home: await temporaryFolder(onTestFinished) };
}

describe('the completion contract over stdin', () => {
  it('gives the verdict as data, and tells how far it is', async () => {
    const place = await project();
    const client = await connectClient({ ...place, args: ['--trust-project', '--output', 'structured'] });
    onTestFinished(() => client.close());
    const told: string[] = [];
    const result = await client.callTool(
      { name: TOOL, arguments: { stack: 'go' } },
      { onprogress: ({ message }) => told.push(message ?? '') },
    );
    expect(result.structuredContent).toMatchObject({
      status: 'PASS',
      stacks: ['go'],
      exit_code: 0,
      said: expect.stringMatching(/^CC PASS/),
    });
    expect(textsOf(result)[0]).toMatch(/^CC PASS/);
    expect(told).toContain('▶ go test ./...');
    expect(await receiptsIn(place.cwd)).toHaveLength(1);
  });

  it('ends the script when the client leaves, and says so before the server ends (TOOL-03)', async () => {
    const place = await project({ [SCRIPT_PATH]: `sleep 600 & echo "▶ pid $$ pid $!"; wait\n` });
    const client = await LineClient.connect({ ...place, args: ['--trust-project'] });
    const params = { name: TOOL, arguments: {}, _meta: { progressToken: 1 } };
    await client.send({ jsonrpc: '2.0', id: 7, method: 'tools/call', params });
    let pids: number[] = [];
    while (pids.length === 0) {
      const { message } = (await client.asked('notifications/progress')).params as { message: string };
      pids = [...message.matchAll(/pid (\d+)/g)].map((match) => Number(match[1]));
    }
    const answered = client.answer(7);
    client.child.stdin.end();
    // A server that waits for the script itself is gone without an answer.
    expect((await answered).result ?? (await answered).error).toBeDefined();
    expect(await client.ended).toMatchObject({ code: 0 });
    for (const pid of pids) await gone(pid);
  });

  it('leaves nothing running when the server is killed', async () => {
    const { cwd, home } = await project({
      [SCRIPT_PATH]: `trap '' TERM HUP; sleep 600 & echo "▶ pid $$ pid $!"; wait; while :; do sleep 1; done\n`,
    });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [serverFile, '--trust-project'],
      cwd,
      env: bareEnvironment(home),
      stderr: 'ignore',
    });
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(transport);
    const pids = await new Promise<number[]>((resolve) => {
      client
        .callTool(
          { name: TOOL, arguments: {} },
          {
            onprogress({ message }) {
              const found = [...(message ?? '').matchAll(/pid (\d+)/g)].map((match) => Number(match[1]));
              if (found.length > 0) resolve(found);
            },
          },
        )
        .catch(() => undefined);
    });
    expect(pids).toHaveLength(2);
    process.kill(transport.pid ?? 0, 'SIGKILL');
    await Promise.all(pids.map(gone));
    expect(await receiptsIn(cwd)).toEqual([]);
    await client.close();
    // The lock of the one that was killed holds nobody up.
    await writeFiles(cwd, FILES);
    const next = await bmad(['contract', 'run', '--json', '--trust-project'], {
      cwd,
      env: bareEnvironment(home),
    });
    expect(JSON.parse(next.stdout.toString('utf8'))).toMatchObject({ status: 'PASS' });
  });
});

const ERAS: [string, VersionNegotiationMode][] = [
  ['2026', { pin: '2026-07-28' }],
  ['2025', 'legacy'],
];

// Whether it may run hangs on the server, not on the era of the client.
describe.each(some(1, ERAS))('the completion contract over HTTP, era %s', (_era, mode) => {
  async function connected(args: string[]): Promise<{ client: Client; cwd: string }> {
    const { cwd, home } = await project();
    const server = await serveHere({ cwd, home, more: ['--trust-project', ...args] });
    onTestFinished(async () => void (await server.stop()));
    const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } });
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url)));
    onTestFinished(() => client.close());
    return { client, cwd };
  }

  it('is neither offered nor run by default', async () => {
    const { client, cwd } = await connected([]);
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain(TOOL);
    const result = await client.callTool({ name: TOOL, arguments: {} });
    expect(result.isError).toBe(true);
    expect(textsOf(result)[0]).toContain('contracts_over_http');
    expect(await receiptsIn(cwd)).toEqual([]);
  });

  it('is run when it is switched on', async () => {
    const { client } = await connected(['--contracts-over-http']);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain(TOOL);
    const result = await client.callTool({ name: TOOL, arguments: {} });
    expect(textsOf(result)[0]).toMatch(/^CC PASS/);
  });

  it('is not run in read-only mode, whatever is switched on', async () => {
    const { client } = await connected(['--contracts-over-http', '--read-only']);
    expect((await client.listTools()).tools.map(({ name }) => name)).not.toContain(TOOL);
    await expect(client.callTool({ name: TOOL, arguments: {} })).rejects.toThrow(/read_only/);
  });
});

describe('the commands of the contract', () => {
  it.each([
    ['FAIL', 'go test ./...|tests FAILED\n', ['contract', 'run'], 1],
    ['PASS', 'go test ./...|tests OK\n', ['contract', 'run'], 0],
    ['an error', '', ['contract', 'run', '--working-dir', 'nowhere', '--json'], 3],
  ])('keep their exit code when nobody reads: %s', async (_what, go, words, code) => {
    const { cwd, home } = await project({ ...FILES, '.verify/go': go });
    for (const closed of some(1, [['stdout', 'stderr'], ['stdout']] as const)) {
      const child = spawn(process.execPath, [cliFile, ...words], {
        cwd,
        env: bareEnvironment(home, TRUSTED),
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      child.stderr.resume();
      for (const stream of closed) child[stream].destroy();
      expect(await new Promise((resolve) => child.once('exit', resolve)), closed.join()).toBe(code);
    }
  });

  it.runIf(process.platform === 'linux')('fail when their output is lost on a full disk', async () => {
    const { cwd, home } = await project();
    const full = await open('/dev/full', 'w');
    onTestFinished(() => full.close());
    const child = spawn(process.execPath, [cliFile, 'contract', 'run'], {
      cwd,
      env: bareEnvironment(home, TRUSTED),
      stdio: ['ignore', full.fd, 'pipe'],
    });
    const told = child.stderr === null ? '' : await text(child.stderr);
    expect(told).toContain('the output could not be written (ENOSPC)');
    expect(child.exitCode ?? (await new Promise((resolve) => child.once('exit', resolve)))).toBe(6);
  });

  it('end with 0 only if all is well', async () => {
    const { cwd, home } = await project();
    const run = async (...words: string[]) =>
      bmadHere(['contract', ...words], { cwd, env: bareEnvironment(home, TRUSTED) });
    expect((await run('verify')).code).toBe(1);
    const first = await bmad(['contract', 'run'], { cwd, env: bareEnvironment(home, TRUSTED) });
    expect(first.code).toBe(0);
    // How far it is concerns a person at a terminal, not a pipe.
    expect(first.stderr).not.toContain('▶');
    expect((await run('verify')).code).toBe(0);
    await writeFiles(cwd, { '.verify/go': 'go test ./...|tests FAILED\n' });
    const changed = await bmad(['contract', 'verify'], { cwd, env: bareEnvironment(home, TRUSTED) });
    expect(changed.code).toBe(1);
    expect(changed.stdout.toString('utf8')).toContain('.verify/go: changed');
    expect((await run('run')).code).toBe(1);
    expect((await run('receipts')).stdout.toString('utf8').trim().split('\n')).toHaveLength(2);
  });
});
