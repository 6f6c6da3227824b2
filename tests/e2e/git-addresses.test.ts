import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parseFlags } from '../../src/config/flags.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { agentFile, type TestRepository } from '../support/git-repository.ts';
import { agentsOf, GitMachine, textOf, untilListed } from '../support/git-machine.ts';
import { some } from '../support/how-much.ts';

/** One set of hosts for all tests; each has a machine of its own. */
let hosts: GitMachine;
let team: TestRepository;
let first: string;
let machines = 0;

beforeAll(async () => {
  hosts = await GitMachine.make(afterAll);
  team = await hosts.repository('team', {
    'agents/one.md': agentFile('one'),
    'packs/näh kästchen/agents/sub.md': agentFile('sub'),
  });
  first = team.head;
  await team.git('tag', 'v1');
  await team.git('tag', '-a', 'v1-annotated', '-m', 'First');
  await team.git('push', '--quiet', 'origin', '--tags', `${first}:refs/heads/feature/x`);
  await team.commit({ 'agents/one.md': undefined, 'agents/two.md': agentFile('two') });
});

/** A machine whose git is told that a host on the network is the folder with the repositories. */
async function machineWithHosts(): Promise<GitMachine> {
  const machine = await hosts.another(`m${++machines}`);
  const forms = ['https://git.test/org/', 'ssh://git@git.test/org/', 'git@git.test:org/'];
  await machine.write(
    join(machine.home, '.gitconfig'),
    `[url "file://${machine.hosts}/"]\n${forms.map((form) => `\tinsteadOf = ${form}\n`).join('')}`,
  );
  return machine;
}

describe('every form of an address, as an argument of the server', () => {
  /** An address with a scheme and one without are given to a server; the others are read and fetched in this process. */
  const STARTED = new Set(['git+file, default branch', 'scp-like with git+ and a ref']);
  /** Every scheme, and every kind of point; a long trial has each of them with each. */
  const file = (point: string) => () => `${team.source}${point}`;
  const FORMS: [string, () => string, string][] = [
    ['git+file, default branch', file(''), 'two'],
    ['git+file, branch with a slash', file('#feature/x'), 'one'],
    ['git+file, annotated tag', file('#v1-annotated'), 'one'],
    ['git+file, short commit', () => `${team.source}#${first.slice(0, 8)}`, 'one'],
    ['git+file, subpath', file('#main:/packs/näh kästchen'), 'sub'],
    ['git+https', () => 'git+https://git.test/org/team.git#main', 'two'],
    ['git+ssh with a commit', () => `git+ssh://git@git.test/org/team.git#${first}`, 'one'],
    ['scp-like with git+ and a ref', () => 'git+git@git.test:org/team.git#v1', 'one'],
    ['git+file, branch', file('#main'), 'two'],
    ['git+file, tag', file('#v1'), 'one'],
    ['git+file, full commit', () => `${team.source}#${first}`, 'one'],
    ['git+file, subpath of the default branch', file('#:/packs/näh kästchen'), 'sub'],
    ['git+https without .git and with a tag', () => 'git+https://git.test/org/team#v1', 'one'],
    ['git+https with a host in capitals', () => 'git+https://GIT.test/org/team.git', 'two'],
    ['git+ssh', () => 'git+ssh://git@git.test/org/team.git', 'two'],
    ['scp-like', () => 'git@git.test:org/team.git', 'two'],
  ];
  it.each(some(8, FORMS))('%s', async (form, source, agent) => {
    const machine = await machineWithHosts();
    if (!STARTED.has(form)) {
      const { settings: flags } = parseFlags([source()], []);
      const { data } = await machine.ok(list, { what: 'agents' }, { flags });
      expect((data['items'] as { name: string }[]).map(({ name }) => name)).toContain(agent);
      return;
    }
    const client = await machine.connect([source()]);
    await untilListed(client, agent);
    expect(client.strays).toEqual([]);
    await client.close();
  });

  it('a folder with spaces and other letters in its name', async () => {
    const odd = await hosts.repository('ein täam 100%', { 'agents/odd.md': agentFile('odd') });
    const machine = await hosts.another(`m${++machines}`);
    const client = await machine.connect(['--git', odd.source]);
    await untilListed(client, 'odd');
    expect(Object.keys(await machine.pins())).toEqual([odd.source]);
    await client.close();
  });

  it('several at once, the first before the others where they have the same name', async () => {
    const rival = await hosts.repository('rival', { 'agents/two.md': agentFile('two', 'The rival') });
    const machine = await machineWithHosts();
    const client = await machine.connect([
      rival.source,
      '--git',
      'git@git.test:org/team.git',
      `${team.source}#v1`,
    ]);
    await untilListed(client, 'one');
    await untilListed(client, 'team/two');
    const started = textOf(await client.callTool({ operation: 'execute', agent: 'two' }));
    expect(started).toContain(`From outside the project: ${rival.source}`);
    await client.close();
  });
});

describe('every place to name a source', () => {
  const source = 'git+https://git.test/org/team.git#main';

  const PLACES: [string, (machine: GitMachine) => Promise<[string[], Record<string, string>]>][] = [
    ['the flag --git', async () => [['--git', source], {}]],
    ['BMAD_GIT', async () => [[], { BMAD_GIT: source }]],
    [
      'the user’s configuration file',
      async (machine) => {
        await machine.write(machine.config, `git = ["${source}"]\n`);
        return [[], {}];
      },
    ],
  ];
  it.each(some(1, PLACES))('%s: the server fetches it by itself', async (_place, prepare) => {
    const machine = await machineWithHosts();
    const [args, env] = await prepare(machine);
    const client = await machine.connect(args, env);
    await untilListed(client, 'two');
    await client.close();
    expect(Object.keys(await machine.pins())).toEqual([source]);
  });

  it('the file of a project: nothing is fetched before the user does', async () => {
    const machine = await machineWithHosts();
    await machine.write(machine.projectConfig, `git = ["${source}"]\n`);
    const { env, calls } = await machine.loggingGit();
    const client = await machine.connect([], { ...env, BMAD_GIT_REFRESH: '1' });
    onTestFinished(() => void client.close());
    expect(await agentsOf(client)).not.toContain('two');
    const doctor = await machine.bmad(['doctor', '--no-handshake'], env);
    expect(doctor.stdout.toString()).toContain(
      `${source} is listed by the project and not on this machine yet.`,
    );
    expect(doctor.stderr).toContain('Fetch it: bmad sources update\n');
    expect((await machine.bmad(['list', 'agents'], env)).stdout.toString()).not.toContain('two');
    // The project itself may be asked about; nothing of the source is.
    expect((await calls()).filter((call) => !call.startsWith('rev-parse'))).toEqual([]);
    const { code, stdout } = await machine.bmad(['sources', 'update'], env);
    expect([code, stdout.toString()]).toEqual([0, expect.stringContaining('pinned to')]);
    expect(Object.keys(await machine.pins(machine.projectLock))).toEqual([source]);
    // The server that runs already sees it at its next call.
    expect((await agentsOf(client)).split(', ')).toContain('two');
  });
});
