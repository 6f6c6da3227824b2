import { spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { CallToolResult, Client } from '@modelcontextprotocol/client';
import { serverFile, temporaryFolder } from '../support/app.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { connectClient, textsOf } from '../support/mcp-client.ts';
import { connectHere } from '../support/mcp-here.ts';
import { bmadHere } from '../support/command-line.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';
import { isDeep, rounds } from '../support/how-much.ts';

async function project(): Promise<{ cwd: string; home: string }> {
  const [cwd, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
  await writeFiles(cwd, KIT_FILES);
  return { cwd, home };
}

async function call(client: Client, name: string, args: Record<string, unknown>): Promise<string> {
  const result: CallToolResult = await client.callTool({ name, arguments: args });
  const [body = ''] = textsOf(result);
  if (result.isError === true) throw new Error(body);
  return body;
}

describe('two hosts at once', () => {
  it('remember and recall in the same project, and nothing is lost', async () => {
    const place = await project();
    const hosts = await Promise.all([connectClient(place), connectClient(place)]);
    const many = rounds(5, 15);
    const NAMES = ['North', 'South'];
    await Promise.all(
      hosts.map(async (client, host) => {
        for (let round = 0; round < many; round++) {
          const body = await call(client, 'remember_structured', {
            type: round % 2 === 0 ? 'decisions' : 'agent-learnings',
            agent: 'stack',
            text: `${NAMES[host] ?? ''} has settled matter M${100 + round} for good`,
          });
          expect(body).toMatch(/^Remembered\./);
        }
      }),
    );
    const [first, second] = hosts;
    // Each host finds at once what the other has said.
    expect(await call(first, 'recall_structured', { query: `south M${100 + many - 3}` })).toContain(
      `South has settled matter M${100 + many - 3} for good`,
    );
    expect(await call(second, 'recall_structured', { query: `north M${100 + many - 1}` })).toContain(
      `North has settled matter M${100 + many - 1} for good`,
    );
    const { length: inFiles } = await call(first, 'manage_memories', { action: 'list', args: { limit: 200 } })
      .then((text) => text.match(/^[0-9a-f-]{36} /gm) ?? [])
      .then((all) => all.slice(many * 2));
    expect(await call(first, 'manage_memories', { action: 'count' })).toBe(String(many * 2 + inFiles));
    await Promise.all(hosts.map((client) => client.close()));
    const memory = join(place.cwd, '_bmad/_memory');
    const list = JSON.parse(await readFile(join(memory, 'memories.json'), 'utf8')) as { id: unknown }[];
    expect(list).toHaveLength(3 + many * 2);
    expect(new Set(list.map(({ id }) => id)).size).toBe(list.length);
    const lines = (await readFile(join(memory, 'decisions-log.md'), 'utf8')).match(/has settled/g);
    const learnt = (await readFile(join(memory, 'agent-learnings/fullstack-dev.md'), 'utf8')).match(
      /has settled/g,
    );
    expect((lines ?? []).length + (learnt ?? []).length).toBe(many * 2);
    for (const line of (await readFile(join(memory, 'activity.jsonl'), 'utf8')).trim().split('\n'))
      expect(JSON.parse(line)).toMatchObject({
        cmd: expect.stringMatching(/^(?:remember|recall)$/) as string,
      });
  });
});

describe('a server that is killed', () => {
  it.runIf(isDeep)('has kept everything it answered for, and leaves files whole', async () => {
    const place = await project();
    let known = 0;
    for (let round = 0; round < rounds(1, 3); round++) {
      const acknowledged = await killedWhileRemembering(place, round, 6 + round * 8);
      known += acknowledged;
      const count = await bmadHere(['memory', 'count'], { cwd: place.cwd, env: bareEnvironment(place.home) });
      expect(count.stderr).toBe('');
      expect(Number(count.stdout.toString())).toBeGreaterThanOrEqual(known);
    }
    const memory = join(place.cwd, '_bmad/_memory');
    expect(JSON.parse(await readFile(join(memory, 'memories.json'), 'utf8'))).toBeInstanceOf(Array);
    const log = await readFile(join(memory, 'decisions-log.md'), 'utf8');
    expect(
      log
        .split('\n')
        .filter((line) => line.includes('Round'))
        .every((line) => line.endsWith('kept.')),
    ).toBe(true);
    expect((await readdir(memory)).filter((name) => name.endsWith('.tmp')).length).toBeLessThanOrEqual(4);
  });
});

/** Sends calls without waiting and kills the server after some answers; gives how many it had answered. */
async function killedWhileRemembering(
  { cwd, home }: { cwd: string; home: string },
  round: number,
  answers: number,
): Promise<number> {
  const server = spawn(process.execPath, [serverFile], {
    cwd,
    env: bareEnvironment(home),
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const send = (message: object): void =>
    void server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  server.stdin.on('error', () => undefined);
  const ended = new Promise<void>((resolve) => server.once('close', () => resolve()));
  let seen = 0;
  let rest = '';
  server.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    seen += lines.filter((line) => line.includes('Remembered.')).length;
    if (seen >= answers) server.kill('SIGKILL');
  });
  send({
    id: 0,
    method: 'initialize',
    params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } },
  });
  send({ method: 'notifications/initialized' });
  for (let number = 1; number <= rounds(20, 60); number++)
    send({
      id: number,
      method: 'tools/call',
      params: {
        name: 'remember_structured',
        arguments: { type: 'decisions', agent: 'dev', text: `Round ${round} decision ${number} is kept.` },
      },
    });
  await ended;
  return seen;
}

describe('the command line', () => {
  it('remembers, recalls, and prints data', async () => {
    const { cwd, home } = await project();
    const run = (...args: string[]) => bmadHere(args, { cwd, env: bareEnvironment(home) });
    const said = ['decisions', 'dev', 'Tags come from the command line', '--tags', 'a,b', '--json'];
    const made = await bmad(['memory', 'remember', ...said], { cwd, env: bareEnvironment(home) });
    expect(made.code).toBe(0);
    const { memory } = JSON.parse(made.stdout.toString()) as { memory: { id: string; tags: string[] } };
    expect(memory.tags).toEqual(['a', 'b']);
    const found = await run(
      'memory',
      'recall',
      'zebra',
      '--alt-queries',
      'tags, command line',
      '--min-score',
      '0.1',
      '--limit',
      '1',
    );
    expect(found.stdout.toString()).toContain(memory.id);
    expect((await run('read', `bmad://memory/decisions/${memory.id}`)).stdout.toString()).toContain(
      'Tags come from',
    );
    const forgotten = await run('memory', 'forget', memory.id);
    expect(forgotten.stderr).toContain(`Undo it: bmad memory restore ${memory.id}`);
    expect((await run('memory', 'get', 'nothing')).code).toBe(2);
    expect((await run('memory', 'recall', 'x', '--limit', 'five')).code).toBe(2);
  });
});

describe('resources', () => {
  it('have the memories by type and by id, and complete both', async () => {
    const client = await connectHere(await project());
    const body = await call(client, 'remember_structured', {
      type: 'failures',
      agent: 'dev',
      text: 'The nightly build failed on a full disk',
    });
    const id = /id ([0-9a-f-]{36})/.exec(body)?.[1] ?? '';
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri)).toContain('bmad://memory/failures');
    for (const uri of ['bmad://memory/failures', `bmad://memory/failures/${id}`]) {
      const { contents } = await client.readResource({ uri });
      expect(contents[0]).toMatchObject({
        mimeType: 'text/markdown',
        text: expect.stringContaining('nightly build') as unknown,
      });
    }
    const ref = { type: 'ref/resource', uri: 'bmad://memory/{memory}/{memory_id}' } as const;
    const types = await client.complete({ ref, argument: { name: 'memory', value: 'f' } });
    expect(types.completion.values[0]).toBe('failures');
    const ids = await client.complete({ ref, argument: { name: 'memory_id', value: id.slice(0, 4) } });
    expect(ids.completion.values).toEqual([id]);
    await client.close();
  });
});
