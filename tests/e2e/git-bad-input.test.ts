import { chmod, mkdir, readdir, readFile, symlink } from 'node:fs/promises';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { once } from 'node:events';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { agentFile, type TestRepository } from '../support/git-repository.ts';
import { agentsOf, GitMachine, untilListed } from '../support/git-machine.ts';

let hosts: GitMachine;
let good: TestRepository;
let machine: GitMachine;
let machines = 0;

beforeAll(async () => {
  hosts = await GitMachine.make(afterAll);
  good = await hosts.repository('good', { 'agents/ada.md': agentFile('ada'), 'docs/x.txt': 'x' });
});

beforeEach(async () => {
  machine = await hosts.another(`m${++machines}`);
});

/** A port of this machine; nobody listens, or somebody who never says a word. */
async function port(answers: 'refuses' | 'is silent'): Promise<number> {
  const server: Server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: number } = server.address() as AddressInfo;
  if (answers === 'refuses') {
    server.close();
    await once(server, 'close');
  } else onTestFinished(() => void server.close());
  return number;
}

interface Case {
  source(): Promise<string>;
  /** What is told about it, and the next step. */
  told: RegExp;
  step: RegExp;
  env?: Record<string, string>;
}

const CASES: Record<string, Case> = {
  'a host that refuses': {
    source: async () => `git+https://127.0.0.1:${await port('refuses')}/org/x.git`,
    told: /the host cannot be reached/,
    step: /Check the address and the network/,
  },
  'a host that never answers': {
    source: async () => `git+https://127.0.0.1:${await port('is silent')}/org/x.git`,
    told: /did not respond within 1 s/,
    step: /BMAD_GIT_TIMEOUT_MS/,
    env: { BMAD_GIT_TIMEOUT_MS: '1000' },
  },
  'an ssh host that refuses': {
    source: async () => `git+ssh://git@127.0.0.1:${await port('refuses')}/org/x.git`,
    told: /the host cannot be reached/,
    step: /Check the address and the network/,
  },
  'a ref that is not there': {
    source: async () => `${good.source}#nope`,
    told: /no branch or tag "nope"/,
    step: /It has: main\./,
  },
  'a commit that is not there': {
    source: async () => `${good.source}#${'0'.repeat(39)}1`,
    told: /no branch, tag or commit/,
    step: /Check the part after "#"/,
  },
  'a subpath that is not there': {
    source: async () => `${good.source}#main:/nope`,
    told: /no folder "nope"/,
    step: /Check the part after ":\/"/,
  },
  'an empty repository': {
    source: async () => (await machine.repository(`empty${machines}`)).source,
    told: /is an empty repository/,
    step: /Push content to it/,
  },
  'a repository that is not there': {
    source: async () => good.source.replace('good', 'nowhere'),
    told: /there is no such repository/,
    step: /Check the address/,
  },
};

describe('a source that cannot be had', () => {
  it.each(Object.entries(CASES))('%s', async (_what, { source: make, told, step, env = {} }) => {
    const source = await make();
    await machine.write(machine.config, `git = ["${source}", "${good.source}"]\n`);
    const client = await machine.connect([], env);
    // The first answer does not wait for anybody.
    expect(await agentsOf(client)).toContain('analyst');
    await untilListed(client, 'ada');
    await vi.waitFor(() => expect(client.stderr.replaceAll('\\"', '"')).toMatch(told), {
      timeout: 120_000,
      interval: 50,
    });
    expect(client.stderr).toContain(`${source} cannot be fetched: `);
    await client.close();
    const update = await machine.bmad(['sources', 'update', source], env);
    expect(update.code).not.toBe(0);
    const said = update.stdout.toString() + update.stderr;
    for (const expected of [source, told, step]) expect(said).toMatch(literal(expected));
    const shown = (await machine.bmad(['sources', 'list'], env)).stdout.toString();
    expect(shown).toMatch(literal(source));
    expect(shown).toMatch(told);
    const doctor = (await machine.bmad(['doctor', '--no-handshake'], env)).stdout.toString();
    for (const expected of [`Warning: ${source} is not served`, told, step])
      expect(doctor).toMatch(literal(expected));
    expect(doctor).toContain('good@');
  });

  it('a repository without BMAD content is told, and the others are served', async () => {
    const source = `${good.source}#main:/docs`;
    const client = await machine.connect([source, good.source]);
    await untilListed(client, 'ada');
    await client.logged(`${source}: there is no BMAD content in it`, 1);
    await client.close();
    const doctor = await machine.bmad(['doctor', '--no-handshake', '--git', source]);
    expect(doctor.stdout.toString()).toContain(`${source}: there is no BMAD content in it`);
  });

  it('no git on the machine', async () => {
    const bin = join(machine.folder, 'no-git');
    await mkdir(bin, { recursive: true });
    await symlink(process.execPath, join(bin, 'node')).catch(() => undefined);
    const client = await machine.connect([good.source], { PATH: bin });
    expect(await agentsOf(client)).toContain('analyst');
    await client.logged('git was not found', 1);
    expect(client.stderr).toContain(good.source);
    await client.close();
    const args = ['--git', good.source];
    const doctor = await machine.bmad(['doctor', '--no-handshake', ...args], { PATH: bin });
    expect(warningOf(doctor)).toMatch(/is not served: .*git was not found.*Install git/);
    // What was fetched before needs no git.
    await machine.bmad(['sources', 'update', ...args]);
    const listed = await machine.bmad(['list', 'agents', ...args], { PATH: bin });
    expect(listed.stdout.toString()).toContain('ada');
  });

  it.each([
    ['is a file', 'is a file', async (place: string) => machine.write(place, '')],
    ['is a loop of links', 'cannot be written', async (place: string) => symlink(place, place)],
  ])('a cache folder that %s', async (_what, told, make) => {
    const place = join(machine.folder, `cache${machines}`);
    await make(place);
    const client = await machine.connect([good.source], { BMAD_CACHE: place });
    expect(await agentsOf(client)).toContain('analyst');
    await client.logged(told, 1);
    expect(client.stderr).toContain(good.source);
    expect(client.stderr).toContain(place);
    await client.close();
    const doctor = await machine.bmad(['doctor', '--no-handshake', '--git', good.source], {
      BMAD_CACHE: place,
    });
    expect(warningOf(doctor)).toMatch(/is not served: .*Check the folder/);
    expect(warningOf(doctor)).toContain(told);
  });

  it('a disk that is full, as git tells it', async () => {
    const bin = join(machine.folder, `full${machines}`);
    await machine.write(
      join(bin, 'git'),
      `#!/bin/sh\nPATH='${process.env['PATH'] ?? ''}'\ncase "$*" in *fetch*) echo 'remote: Enumerating objects: 5, done.' >&2; echo 'fatal: write error: No space left on device' >&2; exit 128;; esac\nexec git "$@"\n`,
    );
    await chmod(join(bin, 'git'), 0o755);
    const { stdout } = await machine.bmad(['sources', 'update', '--git', good.source], {
      PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}`,
    });
    expect(stdout.toString()).toMatch(
      /FAILED: .*the disk is full \(git: fatal: write error: No space left on device\)\. Free some space/,
    );
    expect(await readdir(join(machine.cache, 'work'))).toEqual([]);
  });
});

describe('credentials in an address', () => {
  const forms = [
    (at: string) => `git+https://ada:s%40cret-pass@${at}/org/x.git#main`,
    (at: string) => `git+https://tok3n-alone@${at}/org/x.git`,
    (at: string) => `git+https://ada:p4ss@${at}/org/short.git`,
    (at: string) => `git+https://ada:br/oken-pass@${at}/org/x.git`,
    (at: string) => `https://ada:plain-pass@${at}/org/y.git`,
    (at: string) => `git+ftp://ada:ftp-pass@${at}/org/x.git`,
  ];
  const SECRET = /s%40cret|s@cret|tok3n|p4ss|oken-pass|plain-pass|ftp-pass/;

  it('are in no output, log or file', async () => {
    const at = `127.0.0.1:${await port('refuses')}`;
    const env = { BMAD_GIT: forms.map((form) => form(at)).join(' '), BMAD_LOG_LEVEL: 'debug' };
    const client = await machine.connect([], env);
    expect(await agentsOf(client)).toContain('analyst');
    await client.logged('the host cannot be reached', 4);
    await client.close();
    expect(client.stderr).not.toMatch(SECRET);
    for (const args of [
      ['sources', 'list'],
      ['sources', 'list', '--json', '--copies'],
      ['sources', 'update'],
      ['sources', 'update', '--json'],
      ['sources', 'diff'],
      ['doctor', '--no-handshake'],
      ['doctor', '--json'],
      ['config', 'show'],
      ['config', 'show', '--json'],
      ['list', 'agents'],
      ['sources', 'remove', forms[0]?.(at) ?? ''],
      ['sources', 'add', forms[0]?.(at) ?? ''],
    ]) {
      const { stdout, stderr } = await machine.program(args, env);
      expect([args, stdout.toString() + stderr]).toEqual([args, expect.not.stringMatching(SECRET)]);
    }
    for (const entry of await readdir(machine.home, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      expect([path, await readFile(path, 'latin1')]).toEqual([path, expect.not.stringMatching(SECRET)]);
    }
  });

  it('are not in what a server or a command says about arguments it does not take', async () => {
    const at = '127.0.0.1:1';
    await machine.write(machine.config, `git = ["${forms[0]?.(at)}", 7]\n`);
    const { stdout, stderr } = await machine.program(['config', 'show']);
    expect(stdout.toString() + stderr).not.toMatch(SECRET);
    const server = await machine.server(['https://ada:plain-pass@127.0.0.1:1/x.git']);
    expect(server.code).toBe(2);
    expect(server.stderr).not.toMatch(SECRET);
  });
});

/** What the doctor says about the source. */
function warningOf({ stdout }: { stdout: Buffer }): string {
  return (
    stdout
      .toString()
      .split('\n')
      .find((line) => line.startsWith(`Warning: ${good.source}`)) ?? ''
  );
}

function literal(expected: string | RegExp): RegExp {
  return typeof expected === 'string'
    ? new RegExp(expected.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`))
    : expected;
}
