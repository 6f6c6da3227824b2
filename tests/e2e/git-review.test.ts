import { cp, mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentFile, type TestRepository } from '../support/git-repository.ts';
import { connectClient, textsOf } from '../support/mcp-client.ts';
import { GitMachine } from '../support/git-machine.ts';
import type { Ended } from '../support/programs.ts';

let machine: GitMachine;
let team: TestRepository;
let first: string;

beforeEach(async () => {
  machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
  team = await machine.repository('team', { 'agents/ada.md': agentFile('ada', 'First', 'Version one.') });
  first = team.head;
});

async function connected(here = machine, env: Record<string, string> = {}): Promise<Client> {
  const client = await connectClient({ cwd: here.project, home: here.home, env });
  onTestFinished(() => client.close());
  return client;
}

async function ada(client: Client): Promise<string> {
  const result = await client.callTool({ name: 'bmad', arguments: { operation: 'execute', agent: 'ada' } });
  return textsOf(result).join('\n');
}

const untilAda = (client: Client, text: string): Promise<void> =>
  vi.waitFor(async () => expect(await ada(client)).toContain(text), { timeout: 120_000, interval: 50 });

async function command(here: GitMachine, ...args: string[]): Promise<string> {
  return saidBy(await here.bmad(args), args);
}

function saidBy({ code, stdout, stderr }: Ended, args: readonly string[]): string {
  if (code !== 0) throw new Error(`bmad ${args.join(' ')}: ${code} ${stderr}`);
  return stdout.toString();
}

describe('a running server', () => {
  it('keeps serving what is approved through new commits, a force-push and a moved tag, until approve', async () => {
    await team.git('tag', 'v1');
    await team.git('push', '--quiet', 'origin', '--tags');
    await machine.write(machine.config, `git = ["${team.source}#main", "${team.source}#v1"]\n`);
    const client = await connected();
    await untilAda(client, 'Version one.');
    await team.commit({ 'agents/ada.md': agentFile('ada', 'Second', 'Version two.') });
    expect(await command(machine, 'sources', 'update')).toContain('WAITS FOR APPROVAL (new commits)');
    expect(await ada(client)).toContain('Version one.');
    await team.git('reset', '--quiet', '--hard', first);
    const third = await team.commit({ 'agents/ada.md': agentFile('ada', 'Third', 'Version three.') });
    await team.git('tag', '--force', 'v1');
    await team.git('push', '--quiet', '--force', 'origin', 'v1');
    // On top of what is approved, so for the branch these are new commits again.
    const told = await command(machine, 'sources', 'update');
    expect(told).toContain(`#main: ${third.slice(0, 12)} WAITS FOR APPROVAL (new commits)`);
    expect(told).toContain(`#v1: ${third.slice(0, 12)} WAITS FOR APPROVAL (TAG MOVED since it was approved)`);
    expect(await ada(client)).toContain('Version one.');
    await command(machine, 'sources', 'diff', 'team#main');
    await command(machine, 'sources', 'approve', 'team#main', '--commit', third);
    await team.git('reset', '--quiet', '--hard', first);
    await team.commit({ 'agents/ada.md': agentFile('ada', 'Fourth', 'Version four.') });
    expect(await command(machine, 'sources', 'update', 'team#main')).toContain('HISTORY REWRITTEN');
    expect(await ada(client)).toContain('Version three.');
    const doctor = await machine.bmad(['doctor', '--no-handshake']);
    expect(doctor.stdout.toString()).toContain(
      `${team.source}#main has changes that wait for your approval (rewritten).`,
    );
    expect(doctor.stderr).toContain('See the changes: bmad sources diff\n');
  });

  it('serves what another process has approved at its next call, also what it removes', async () => {
    await team.commit({ 'agents/bob.md': agentFile('bob') });
    await machine.write(machine.config, `git = ["${team.source}"]\n`);
    const client = await connected();
    await untilAda(client, 'Version one.');
    const program = async (...args: string[]): Promise<string> => saidBy(await machine.program(args), args);
    const next = await team.commit({
      'agents/bob.md': undefined,
      'agents/ada.md': agentFile('ada', 'Next', 'Version two.'),
    });
    await program('sources', 'update');
    expect(await program('sources', 'diff')).toMatch(/- agent team\/bob[^]*-Version one\.\n\+Version two\./);
    await program('sources', 'approve', '--commit', next);
    const changed: string[] = [];
    for (const list of ['prompts', 'resources'] as const)
      client.setNotificationHandler(`notifications/${list}/list_changed`, () => void changed.push(list));
    expect(await ada(client)).toContain('Version two.');
    await vi.waitFor(() => expect(changed.sort()).toEqual(['prompts', 'resources']), { timeout: 120_000 });
    const { resources } = await client.listResources();
    expect(resources.map(({ uri }) => uri).filter((uri) => uri.includes('bob'))).toEqual([]);
  });
});

describe('automatic refresh', () => {
  /** Makes the last look at the remote so many minutes older. */
  async function lookedBefore(minutes: number): Promise<void> {
    const folder = join(machine.cache, 'sightings');
    for (const name of await readdir(folder)) {
      const seen = JSON.parse(await readFile(join(folder, name), 'utf8')) as { checkedAt: number };
      seen.checkedAt -= minutes * 60_000;
      await writeFile(join(folder, name), JSON.stringify(seen));
    }
  }

  const minutes = { BMAD_GIT_REFRESH: '60' };

  beforeEach(async () => {
    await machine.write(machine.config, `git = ["${team.source}"]\n`);
    await command(machine, 'sources', 'update');
    await team.commit({ 'agents/ada.md': agentFile('ada', 'Second', 'Version two.') });
  });

  it('asks no remote that was asked within the interval', async () => {
    await lookedBefore(30);
    const { env, calls } = await machine.loggingGit();
    const client = await connected(machine, { ...env, ...minutes, BMAD_GIT_APPROVAL: 'auto' });
    expect(await ada(client)).toContain('Version one.');
    await client.close();
    expect(await calls()).toEqual([]);
  });

  it('finds what is new after the interval, and with auto serves it', async () => {
    await lookedBefore(61);
    const client = await connected(machine, { ...minutes, BMAD_GIT_APPROVAL: 'auto' });
    await untilAda(client, 'Version two.');
    expect(await command(machine, 'sources', 'list')).not.toContain('WAITS FOR APPROVAL');
  });

  it('lets it wait without auto', async () => {
    await lookedBefore(61);
    const client = await connected(machine, minutes);
    await vi.waitFor(
      async () => expect(await command(machine, 'sources', 'list')).toContain('WAITS FOR APPROVAL'),
      { timeout: 120_000, interval: 200 },
    );
    expect(await ada(client)).toContain('Version one.');
  });

  it('never serves a rewritten history by itself', async () => {
    await team.git('checkout', '--quiet', '--orphan', 'other');
    await team.commit({ 'agents/ada.md': agentFile('ada', 'Evil', 'Version evil.') });
    await team.git('push', '--quiet', '--force', 'origin', 'HEAD:main');
    await lookedBefore(61);
    const client = await connected(machine, { ...minutes, BMAD_GIT_APPROVAL: 'auto' });
    await vi.waitFor(
      async () => expect(await command(machine, 'sources', 'list')).toContain('HISTORY REWRITTEN'),
      { timeout: 120_000, interval: 200 },
    );
    expect(await ada(client)).toContain('Version one.');
  });
});

describe('a lock file on another machine', () => {
  const source = (): string => `${team.source}#main`;

  async function master(client: Client, here: GitMachine): Promise<string> {
    const { contents } = await client.readResource({ uri: 'bmad://manifests/master.json' });
    return JSON.stringify(contents).replaceAll(here.cache, '<cache>').replaceAll(here.project, '<project>');
  }

  it('gives the same commit, digest and catalogue, although the branch went on', async () => {
    await machine.write(machine.projectConfig, `git = ["${source()}"]\n`);
    await command(machine, 'sources', 'update');
    await team.commit({ 'agents/ada.md': agentFile('ada', 'Second', 'Version two.') });
    const other = await machine.another('b');
    for (const file of ['bmad-mcp.toml', 'bmad-mcp.lock.json'])
      await cp(join(machine.project, file), join(other.project, file));
    expect(await command(other, 'sources', 'update')).toContain('WAITS FOR APPROVAL');
    expect(await readFile(other.projectLock, 'utf8')).toBe(await readFile(machine.projectLock, 'utf8'));
    const [one, two] = [await connected(machine), await connected(other)];
    expect(await ada(two)).toContain('Version one.');
    // The folders have names of different lengths, and that is all the two may differ in.
    const plain = (text: string): string => text.replaceAll(other.project, machine.project);
    expect(plain(await ada(two))).toBe(plain(await ada(one)));
    const catalogue = await master(one, machine);
    expect(catalogue).toContain(first);
    expect(await master(two, other)).toBe(catalogue);
  });

  it('with another digest is told, and the content is not served', async () => {
    await machine.write(machine.config, `git = ["${source()}"]\n`);
    await command(machine, 'sources', 'update');
    const other = await machine.another('b');
    await mkdir(dirname(other.lock), { recursive: true });
    await cp(machine.config, other.config);
    const { digest } = (await machine.pins())[source()] ?? { digest: '' };
    const wrong = (await readFile(machine.lock, 'utf8')).replace(digest, `sha256:${'0'.repeat(64)}`);
    await writeFile(other.lock, wrong);
    const listed = await other.bmad(['list', 'agents', '--detail', 'brief']);
    expect(listed.stdout.toString()).not.toContain('ada');
    expect(listed.stdout.toString()).toContain('analyst');
    const words = `${source()}: commit ${first.slice(0, 12)} does not match the lock file and is not served. Compare the lock file with your team’s.`;
    expect(listed.stderr).toContain(words);
    expect(await command(other, 'sources', 'list')).toContain(`trouble: ${words}`);
    expect((await other.bmad(['doctor', '--no-handshake'])).stdout.toString()).toContain(words);
    expect(await readFile(other.lock, 'utf8')).toBe(wrong);
    // An update must not repair it behind the user's back.
    const update = await other.bmad(['sources', 'update']);
    expect([update.code, update.stdout.toString()]).toEqual([1, expect.stringContaining(words)]);
    expect(await readFile(other.lock, 'utf8')).toBe(wrong);
    await command(other, 'sources', 'remove', source());
    await command(other, 'sources', 'add', source());
    expect(await readFile(other.lock, 'utf8')).toBe(await readFile(machine.lock, 'utf8'));
  });
});

describe('offline', () => {
  it('serves what it has however old it is, and says how old and why', async () => {
    await machine.write(machine.config, `git = ["${team.source}"]\n`);
    await command(machine, 'sources', 'update');
    const folder = join(machine.cache, 'sightings');
    const [name = ''] = await readdir(folder);
    const seen = JSON.parse(await readFile(join(folder, name), 'utf8')) as { checkedAt: number };
    await writeFile(
      join(folder, name),
      JSON.stringify({ ...seen, checkedAt: seen.checkedAt - 40 * 86_400_000 }),
    );
    await rename(team.folder, `${team.folder}.away`);
    const update = await machine.bmad(['sources', 'update']);
    expect(update.code).not.toBe(0);
    expect(update.stdout.toString()).toMatch(
      /FAILED: .*no such repository.*The copy of \w{12} is still served/,
    );
    const client = await connected(machine, { BMAD_GIT_REFRESH: '1' });
    expect(await ada(client)).toContain('Version one.');
    const shown = await command(machine, 'sources', 'list');
    expect(shown).toMatch(/served: commit \w{12}, 1 file, fetched just now, remote asked 40 days ago/);
    expect(shown).toContain('trouble: ');
    const doctor = (await machine.bmad(['doctor', '--no-handshake'])).stdout.toString();
    expect(doctor).toMatch(/team\.git is served from the copy of 40 days ago: .*no such repository/);
    await rename(`${team.folder}.away`, team.folder);
    expect(await command(machine, 'sources', 'update')).toContain('unchanged at');
    expect(await command(machine, 'sources', 'list')).not.toContain('trouble');
  });
});
