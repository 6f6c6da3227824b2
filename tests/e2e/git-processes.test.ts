import { chmod, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentFile, type TestRepository } from '../support/git-repository.ts';
import type { LineClient } from '../support/line-client.ts';
import { agentsOf, GitMachine, untilListed } from '../support/git-machine.ts';

let machine: GitMachine;
let team: TestRepository;

beforeEach(async () => {
  machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
  team = await machine.repository('team', { 'agents/ada.md': agentFile('ada') });
});

/** Waits for something that another process does. */
const until = (check: () => Promise<void>): Promise<void> =>
  vi.waitFor(check, { timeout: 120_000, interval: 20 });

/** What a server has logged beside that a source is on its way. */
const complaints = ({ stderr }: LineClient): string[] =>
  stderr.split('\n').filter((line) => line !== '' && !line.includes('is being fetched'));

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

/** The full measure takes minutes on a small machine; it is run on request. */
const RUNS = process.env['BMAD_TEST_FULL'] === undefined ? 2 : 20;

describe('many servers on an empty cache', () => {
  it('fetch once between them and all serve, again and again', { timeout: 300_000 }, async () => {
    for (let run = 0; run < RUNS; run++) {
      const here = await machine.another(`run${run}`);
      const { env, calls } = await here.loggingGit();
      const clients = await Promise.all(
        Array.from({ length: 8 }, () => here.connect([`${team.source}#main`], env)),
      );
      await Promise.all(clients.map((client) => untilListed(client, 'ada')));
      const fetches = (await calls()).filter((call) => call.startsWith('fetch'));
      expect([run, fetches.length]).toEqual([run, 1]);
      await Promise.all(clients.map((client) => client.close()));
      expect(clients.map(complaints)).toEqual(clients.map(() => []));
      expect(await readdir(join(here.cache, 'work'))).toEqual([]);
      expect(await readdir(join(here.cache, 'locks'))).toEqual([]);
      expect(await readdir(join(here.cache, 'trees'))).toHaveLength(1);
    }
  });

  it('share the objects of one repository when each wants another ref of it', async () => {
    const refs = ['a', 'b', 'c', 'd'];
    for (const ref of refs) {
      await team.commit({ [`agents/${ref}.md`]: agentFile(ref) });
      await team.git('tag', ref);
    }
    await team.git('push', '--quiet', 'origin', '--tags');
    const clients = await Promise.all(refs.map((ref) => machine.connect([`${team.source}#${ref}`])));
    await Promise.all(clients.map((client, index) => untilListed(client, refs[index] ?? '')));
    await Promise.all(clients.map((client) => client.close()));
    expect(await readdir(join(machine.cache, 'repositories'))).toHaveLength(1);
    expect(await readdir(join(machine.cache, 'trees'))).toHaveLength(4);
    expect(Object.keys(await machine.pins())).toEqual(refs.map((ref) => `${team.source}#${ref}`));
  });
});

describe('a server whose cache is cleared', () => {
  it('goes on without the source, and has it back after an update', async () => {
    const env = { BMAD_GIT: team.source };
    const client = await machine.connect([], env);
    await untilListed(client, 'ada');
    expect((await machine.bmad(['sources', 'clear', '--all'], env)).stdout.toString()).toContain('1 copy');
    const left = (await agentsOf(client)).split(', ');
    expect(left).toContain('analyst');
    expect(left).not.toContain('ada');
    await machine.bmad(['sources', 'update'], env);
    expect((await agentsOf(client)).split(', ')).toContain('ada');
    await client.close();
  });
});

describe('a fetch that is cut off', () => {
  /** A host that sends half of a pack and then nothing more, until it is made whole again. */
  async function stuckHost(): Promise<{ started(): Promise<void>; repair(): Promise<void> }> {
    const hook = join(machine.folder, 'half-a-pack');
    const mark = join(machine.folder, 'half-sent');
    await team.commit({ 'agents/large.md': agentFile('large', 'Large', 'x'.repeat(300_000)) });
    await machine.write(hook, `#!/bin/sh\n"$@" | head -c 300\ntouch '${mark}'\nexec sleep 600\n`);
    await chmod(hook, 0o755);
    const config = join(machine.home, '.gitconfig');
    await machine.write(config, `[uploadpack]\n\tpackObjectsHook = ${hook}\n`);
    return {
      started: () => until(async () => expect(await readFile(mark, 'utf8')).toBe('')),
      repair: () => machine.write(config, ''),
    };
  }

  const pidsFile = (): string => join(machine.folder, 'git-pids');
  const gitPids = async (): Promise<number[]> =>
    (await readFile(pidsFile(), 'utf8')).trim().split('\n').map(Number).filter(exists);

  /** A server in the middle of its first fetch. */
  async function fetchingServer(): Promise<LineClient> {
    const { env } = await machine.loggingGit(`echo $$ >> '${pidsFile()}'`);
    const client = await machine.connect([team.source], env);
    onTestFinished(async () => {
      client.child.kill('SIGKILL');
      for (const pid of await gitPids()) process.kill(-pid, 'SIGKILL');
    });
    return client;
  }

  async function cleanStart(): Promise<void> {
    const client = await machine.connect([team.source]);
    await untilListed(client, 'ada');
    await untilListed(client, 'large');
    await client.close();
    expect(await readdir(join(machine.cache, 'work'))).toEqual([]);
    expect(await readdir(join(machine.cache, 'locks'))).toEqual([]);
    expect(complaints(client)).toEqual([]);
  }

  it('by kill -9 of the server and its git leaves nothing that disturbs the next start', async () => {
    const { started, repair } = await stuckHost();
    const client = await fetchingServer();
    await started();
    const pids = await gitPids();
    expect(pids).not.toEqual([]);
    expect(await readdir(join(machine.cache, 'work'))).toHaveLength(1);
    client.child.kill('SIGKILL');
    for (const pid of pids) process.kill(-pid, 'SIGKILL');
    await client.ended;
    await repair();
    await cleanStart();
  });

  it('by kill -9 of the server alone, whose git goes on, does not either', async () => {
    const { started, repair } = await stuckHost();
    const client = await fetchingServer();
    await started();
    client.child.kill('SIGKILL');
    await until(async () => expect(exists(client.child.pid ?? 0)).toBe(false));
    expect(await gitPids()).not.toEqual([]);
    await repair();
    await cleanStart();
  });

  it('by the host leaving ends git with the server, and the work folder is empty', async () => {
    const { started, repair } = await stuckHost();
    const client = await fetchingServer();
    await started();
    const answered = await agentsOf(client);
    expect(answered).toContain('analyst');
    expect(await client.close()).toEqual({ code: 0, signal: null });
    await until(async () => expect(await gitPids()).toEqual([]));
    expect(await readdir(join(machine.cache, 'work'))).toEqual([]);
    expect(await readdir(join(machine.cache, 'locks'))).toEqual([]);
    await repair();
    await cleanStart();
  });
});
