import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { cliFile, serverFile, temporaryFolder } from '../support/app.ts';
import { INITIALIZE, LineClient } from '../support/line-client.ts';
import { bareEnvironment } from '../support/programs.ts';
import { DEFAULT_TOOLS } from '../support/tool-names.ts';
import { some } from '../support/how-much.ts';

/** Hosts wait two seconds before they get rough. */
const LIMIT_MS = 2_000;

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);

const EXECUTE = { name: 'bmad', arguments: { operation: 'execute', agent: 'architect' } };
/** A file of 20 kB. */
const READ = {
  name: 'bmad',
  arguments: { operation: 'read', uri: 'bmad://bmm/v6-shims/bmad-dev-story/SKILL.md' },
};
const request = (id: number, method: string, params: unknown): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`;

/** What a client of the 2026 era puts into every request. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': INITIALIZE.clientInfo,
  'io.modelcontextprotocol/clientCapabilities': {},
};

async function startClient(): Promise<LineClient> {
  const client = await LineClient.connect({ cwd, home });
  onTestFinished(() => void client.child.kill('SIGKILL'));
  return client;
}

/**
 * Waits for something that has to come in time. How long that is, depends on how busy the machine is meanwhile: it is
 * measured beside it, by the slowest start of a program that does nothing.
 */
async function inTime<T>(event: Promise<T>): Promise<T> {
  const started = performance.now();
  const done = event.then(() => performance.now() - started);
  let slowest = 0;
  let took: number | undefined;
  while (took === undefined) {
    const from = performance.now();
    await once(spawn(process.execPath, ['-e', ''], { stdio: 'ignore' }), 'exit');
    slowest = Math.max(slowest, performance.now() - from);
    took = await Promise.race([done, Promise.resolve(undefined)]);
  }
  expect(took).toBeLessThan(LIMIT_MS + 20 * slowest);
  return event;
}

describe('the server ends', () => {
  it('with code 0 when stdin ends', async () => {
    const client = await startClient();
    client.child.stdin.end();
    expect(await inTime(client.ended)).toEqual({ code: 0, signal: null });
    expect(client.stderr).toBe('');
  });

  it('with code 0 when stdin ends before anything was said', async () => {
    const client = new LineClient({ cwd, home });
    client.child.stdin.end();
    expect(await client.ended).toEqual({ code: 0, signal: null });
    expect(client.stderr).toBe('');
  });

  it('when stdin ends in the middle of calls, and has answered them', async () => {
    const client = await startClient();
    const calls = Array.from({ length: 60 }, (_value, id) => request(id, 'tools/call', EXECUTE));
    client.child.stdin.end(calls.join(''));
    expect(await inTime(client.ended)).toEqual({ code: 0, signal: null });
    expect(client.strays).toEqual([]);
    expect(client.unread).toHaveLength(calls.length);
  });

  it('when stdin ends in the middle of a line', async () => {
    const client = await startClient();
    client.child.stdin.end('{"jsonrpc":"2.0","id":1,"meth');
    expect(await inTime(client.ended)).toEqual({ code: 0, signal: null });
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('on %s', async (signal) => {
    const client = await startClient();
    client.child.kill(signal);
    expect(await inTime(client.ended)).toEqual({ code: 0, signal: null });
    expect(client.stderr).toBe('');
  });

  const UNREAD = [
    ['SIGTERM', 'legacy'],
    ['the end of stdin', 'modern'],
    ['SIGTERM', 'modern'],
    ['the end of stdin', 'legacy'],
  ] as const;
  it.each(some(2, UNREAD))('on %s when nobody reads its answers, in the %s era', async (how, era) => {
    const client = new LineClient({ cwd, home, env: { BMAD_LOG_LEVEL: 'debug' } });
    onTestFinished(() => void client.child.kill('SIGKILL'));
    const meta = era === 'modern' ? { _meta: ENVELOPE } : {};
    // An open subscription makes the server want to write one more message when it ends.
    if (era === 'modern')
      await client.write(request(-1, 'subscriptions/listen', { ...meta, notifications: {} }));
    await client.request('tools/list', meta);
    client.child.stdout.pause();
    const call = { ...READ, ...meta };
    await client.write(Array.from({ length: 50 }, (_value, id) => request(id, 'tools/call', call)).join(''));
    // A megabyte of answers fits into no pipe; the log tells that they have been made.
    await client.logged('"message":"operation"', 50);
    if (how === 'SIGTERM') client.child.kill('SIGTERM');
    else client.child.stdin.end();
    const [, signal] = (await inTime(once(client.child, 'exit'))) as [number | null, string | null];
    expect(signal).toBeNull();
    client.child.stdout.resume();
  });

  it('when the client closes its end of stdout and asks for more', async () => {
    const client = await startClient();
    client.child.stdout.destroy();
    await client.write(request(1, 'tools/call', EXECUTE));
    expect((await inTime(client.ended)).signal).toBeNull();
    expect(client.stderr).toBe('');
  });
});

/**
 * Starts the server as its child, shakes hands and tells the pids. The server writes to the stdout this parent was
 * given. On demand there is one more process, which holds the server's stdin open and does nothing else.
 */
const PARENT = `
  const { spawn } = require('node:child_process');
  const [serverFile, opening, held] = process.argv.slice(1);
  const server = spawn(process.execPath, [serverFile], { stdio: ['pipe', 'inherit', 'inherit'] });
  server.stdin.write(opening);
  const pids = [server.pid];
  if (held === 'true') {
    const stdio = ['ignore', 'ignore', 'ignore', server.stdin];
    pids.push(spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio }).pid);
  }
  process.send(pids);
`;

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('the server ends when its parent is killed', () => {
  it.each([
    ['and stdin ends with it', false],
    ['though somebody else still holds stdin open', true],
  ])('%s', async (_name, held) => {
    const opening = request(1, 'initialize', INITIALIZE);
    const parent = spawn(process.execPath, ['-e', PARENT, serverFile, opening, String(held)], {
      cwd,
      env: bareEnvironment(home),
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    });
    const { stdout } = parent;
    if (stdout === null) throw new Error('The parent has no stdout.');
    const [[[server, holder]], [answer]] = (await Promise.all([
      once(parent, 'message'),
      once(stdout, 'data'),
    ])) as [[[number, number?]], [Buffer]];
    onTestFinished(() => {
      for (const pid of [server, holder]) if (pid !== undefined && isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    expect(JSON.parse(answer.toString('utf8'))).toMatchObject({ id: 1, result: {} });
    // With the parent gone only the server holds the other end of stdout, so that its end is the server's end.
    const ended = once(stdout, 'end');
    stdout.resume();
    parent.kill('SIGKILL');
    await inTime(ended);
    expect(holder !== undefined && isAlive(holder)).toBe(held);
  });
});

/** Runs a program in a pseudo-terminal; Linux has it with util-linux. */
const TERMINAL = 'script';
const hasScript =
  spawnSync(TERMINAL, ['--version'], { encoding: 'utf8' }).stdout?.includes('util-linux') ?? false;

describe('the server in a terminal', () => {
  it.skipIf(!hasScript)(
    'says what it is, how to connect, and more to a question mark (needs "script" of util-linux)',
    async () => {
      const terminal = spawn(TERMINAL, ['-qec', `'${process.execPath}' '${serverFile}'`, '/dev/null'], {
        cwd,
        env: bareEnvironment(home),
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let shown = '';
      terminal.stdout
        .setEncoding('utf8')
        .on('data', (text: string) => (shown += text.replaceAll(/\u001b\[\d+m/g, '')));
      const until = async (text: string): Promise<void> => {
        while (!shown.includes(text)) await once(terminal.stdout, 'data');
      };
      await until('how to connect a host by hand');
      expect(shown).toContain('BMAD MCP Server');
      // Where the path of Node is long, the line is broken anywhere.
      const joined = shown.replaceAll(/\s+/g, '');
      expect(joined).toContain(`Connect${process.execPath}${cliFile}setup`.replaceAll(/\s+/g, ''));
      expect(shown).toContain('npm link');
      // A single key: there is no line to end.
      terminal.stdin.write('?');
      await until('npm start -- --http');
      expect(shown).toContain(`claude mcp add --scope user bmad -- "${process.execPath}" "${serverFile}"`);
      expect(shown).toContain('"mcpServers"');
      expect(shown).toMatch(/ tools registered — [^]*5 agents[^]* — Ready/);
      expect(shown).toContain(` ${DEFAULT_TOOLS.length} tools`);
      // Ctrl+D is how a person ends stdin.
      const ended = once(terminal, 'close');
      terminal.stdin.write('\u0004');
      expect((await inTime(ended))[0]).toBe(0);
    },
  );
});
