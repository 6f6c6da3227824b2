import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  StreamableHTTPClientTransport,
  type Client,
  type ElicitRequestParams,
  type ElicitResult,
} from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { cliFile, temporaryFolder } from '../support/app.ts';
import { SCRIPT_PATH } from '../support/contract-project.ts';
import { writeFiles } from '../support/folders.ts';
import { serveHere } from '../support/http-server.ts';
import { connectClient, newClient, textsOf } from '../support/mcp-client.ts';
import { connectHere } from '../support/mcp-here.ts';
import { bmadHere } from '../support/command-line.ts';
import { bareEnvironment, bmad, runToEnd } from '../support/programs.ts';
import { WAYS, type Way } from '../support/sampling-client.ts';
import { isDeep, some } from '../support/how-much.ts';

const TOOL = 'run_completion_contract';
const TOKEN = 'a-token-of-this-test';
const FILES = {
  [SCRIPT_PATH]: 'touch "$PWD/ran"; echo "CC PASS — [go] — 2026-01-01 00:00:00"\n',
  '.gitignore': 'ran\n',
};

interface Place {
  cwd: string;
  home: string;
}

/** A project that somebody has just cloned, on a machine that has never seen it. */
async function clone(onEnd: OnEnd = onTestFinished): Promise<Place> {
  const cwd = await temporaryFolder(onEnd);
  await writeFiles(cwd, FILES);
  return { cwd, home: await temporaryFolder(onEnd) };
}

const ran = ({ cwd }: Place): boolean => existsSync(join(cwd, 'ran'));
type OnEnd = (cleanUp: () => Promise<void>) => void;
type Elicit = (params: ElicitRequestParams) => ElicitResult;

interface Connection {
  elicit?: Elicit | undefined;
  args?: readonly string[];
  env?: Record<string, string>;
  token?: string | undefined;
}

const SECURED: Connection = { env: { BMAD_HTTP_TOKEN: TOKEN }, token: TOKEN };

async function connected(
  { era, transport }: Way,
  place: Place,
  options: Connection = {},
  onEnd: OnEnd = onTestFinished,
): Promise<Client> {
  const { elicit, args = [], env = {}, token } = options;
  const mode = era === '2025' ? 'legacy' : { pin: '2026-07-28' };
  if (transport === 'stdio') {
    const connect = isDeep ? connectClient : connectHere;
    const client = await connect({
      ...place,
      mode,
      args,
      ...(elicit === undefined ? {} : { elicit }),
    });
    onEnd(() => client.close());
    return client;
  }
  const server = await serveHere({ ...place, more: args, env });
  onEnd(async () => void (await server.stop()));
  const client = newClient({ mode, elicit });
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers } }));
  onEnd(() => client.close());
  return client;
}

const program = (place: Place, ...words: string[]) =>
  bmad(words, { cwd: place.cwd, env: bareEnvironment(place.home) });
/** The same in this process. */
const command = (place: Place, ...words: string[]) =>
  bmadHere(words, { cwd: place.cwd, env: bareEnvironment(place.home) });

describe.skipIf(process.platform === 'win32')('a project that brings settings of a user', () => {
  it.each<[string, Record<string, string>]>([
    ['HOME is empty', { HOME: '' }],
    ['HOME is a ~ that nobody has resolved', { HOME: '~' }],
    ['XDG_CONFIG_HOME is a relative path', { XDG_CONFIG_HOME: '~/.config' }],
  ])('does not pass for the user, though %s (S-21)', async (_what, variables) => {
    const place = await clone();
    const settings = 'trust = ["always"]\n';
    await writeFiles(place.cwd, {
      '.config/bmad-mcp-server/config.toml': settings,
      '~/.config/bmad-mcp-server/config.toml': settings,
    });
    const kept = { XDG_STATE_HOME: join(place.home, 'state'), XDG_CACHE_HOME: join(place.home, 'cache') };
    const env = bareEnvironment(place.home, { ...kept, ...variables });
    const run = 'HOME' in variables && variables['HOME'] === '' ? bmad : bmadHere;
    const { stderr } = await run(['contract', 'run'], { cwd: place.cwd, env });
    expect(ran(place)).toBe(false);
    expect(stderr).toContain(
      "NOT_VERIFIED: this project's programs have not been allowed to run on this machine",
    );
    // Who types may be the user.
    expect(stderr).toContain('Only a person may allow it');
    expect(stderr).not.toContain('tell the user');
  });
});

const ANSWERING: [string, Connection][] = [
  ['with the full token of a server on this machine', SECURED],
  ['where everybody may run contracts', { args: ['--contracts-over-http'] }],
];

const OVER_STDIO = WAYS.filter(({ transport }) => transport === 'stdio');

describe.each(OVER_STDIO)('a person at a client of $era over $transport', (way) => {
  let place: Place;
  let client: Client;
  let elicit: Elicit;
  beforeAll(async () => {
    const ends: (() => Promise<void>)[] = [];
    const onEnd: OnEnd = (cleanUp) => void ends.unshift(cleanUp);
    place = await clone(onEnd);
    client = await connected(way, place, { elicit: (params) => elicit(params) }, onEnd);
    return async () => {
      for (const end of ends) await end();
    };
  });

  it.each<[string, ElicitResult]>([
    ['declines', { action: 'decline' }],
    ['cancels', { action: 'cancel' }],
    ['sends the form off untouched', { action: 'accept', content: { allow: false } }],
  ])('who %s has run nothing (S-12)', async (_what, answer) => {
    let asked = 0;
    elicit = () => {
      asked += 1;
      return answer;
    };
    const result = await client.callTool({ name: TOOL, arguments: {} });
    expect(asked).toBe(1);
    expect(result.isError).toBe(true);
    expect(textsOf(result)[0]).toContain(`bmad trust ${place.cwd} (for a person, in a terminal)`);
    expect(ran(place)).toBe(false);
  });

  // The last one: from here on it is allowed.
  it('sees what would run and allows it, once (S-12)', async () => {
    const asked: ElicitRequestParams[] = [];
    elicit = (params) => {
      asked.push(params);
      return { action: 'accept', content: { allow: true } };
    };
    const result = await client.callTool({ name: TOOL, arguments: {} });
    expect(textsOf(result)[0]).toMatch(/^CC PASS/);
    expect(ran(place)).toBe(true);
    expect(asked[0]?.message).toContain(place.cwd);
    expect(asked[0]?.message).toContain(`bash ${SCRIPT_PATH} .`);
    expect(asked[0]?.message).toContain(FILES[SCRIPT_PATH].trimEnd());
    await client.callTool({ name: TOOL, arguments: {} });
    expect(asked).toHaveLength(1);
    await writeFiles(place.cwd, { [SCRIPT_PATH]: `${FILES[SCRIPT_PATH]}${'# other\n'.repeat(1_000)}` });
    // What a form cannot show whole is not asked there.
    const long = await client.callTool({ name: TOOL, arguments: {} });
    expect(textsOf(long)[0]).toContain('too many to be shown in a form');
    expect(asked).toHaveLength(1);
    expect(String((await command(place, 'trust', '--list')).stdout)).toContain('(host)');
    await writeFiles(place.cwd, { [SCRIPT_PATH]: `${FILES[SCRIPT_PATH]}# other\n` });
    await client.callTool({ name: TOOL, arguments: {} });
    expect(asked[1]?.message).toContain('(changed)');
  });
});

describe.each(some(1, OVER_STDIO))('a client of $era that asks nobody', (way) => {
  it('is told how a person allows it, and runs it once allowed (S-12)', async () => {
    const place = await clone();
    const client = await connected(way, place);
    const tool = (await client.listTools()).tools.find(({ name }) => name === TOOL);
    expect(tool?.annotations).toEqual({ readOnlyHint: false, destructiveHint: true, openWorldHint: true });
    const refused = await client.callTool({ name: TOOL, arguments: {} });
    expect(refused.isError).toBe(true);
    expect(textsOf(refused)[0]).toContain(`bmad trust ${place.cwd} (for a person, in a terminal)`);
    // A machine that has the server need not have the command.
    expect(textsOf(refused)[0]).toContain(
      `where bmad is not installed: ${process.execPath} ${cliFile} trust ${place.cwd}`,
    );
    expect(ran(place)).toBe(false);
    expect((await command(place, 'trust', '--yes')).code).toBe(0);
    const result = await client.callTool({ name: TOOL, arguments: {} });
    expect(textsOf(result)[0]).toMatch(/^CC PASS/);
  });
});

const OVER_HTTP = WAYS.filter(({ transport }) => transport === 'HTTP').toReversed();

// Who may run what hangs on the request, not on the era of the client.
describe.each(some(1, OVER_HTTP))('a client of $era over HTTP', (way) => {
  const offered = async (client: Client): Promise<boolean> =>
    (await client.listTools()).tools.some(({ name }) => name === TOOL);

  it('runs a trusted project with the full token of a server on this machine (M-29)', async () => {
    const place = await clone();
    const client = await connected(way, place, SECURED);
    expect(await offered(client)).toBe(true);
    const refused = await client.callTool({ name: TOOL, arguments: {} });
    expect(textsOf(refused)[0]).toContain('bmad trust');
    expect(ran(place)).toBe(false);
    await command(place, 'trust', '--yes');
    expect(textsOf(await client.callTool({ name: TOOL, arguments: {} }))[0]).toMatch(/^CC PASS/);
  });

  it('is told what would help where it has no token (M-29, B-07)', async () => {
    const place = await clone();
    const client = await connected(way, place, { args: ['--trust-project'] });
    expect(await offered(client)).toBe(false);
    const [text = ''] = textsOf(await client.callTool({ name: TOOL, arguments: {} }));
    expect(text).toContain("with the server's full token (--http-auth token has one made)");
    expect(text).toContain('turn on contracts_over_http, which is off by default');
    expect(ran(place)).toBe(false);
  });

  it.each([
    ['--public-url', 'https://bmad.example.org'],
    ['--allow-hosts', 'bmad.example.org'],
  ])(
    'may not behind a proxy, where clients of other machines come from this one: %s (M-29)',
    async (...args) => {
      const place = await clone();
      const client = await connected(way, place, { ...SECURED, args: [...args, '--trust-project'] });
      expect(await offered(client)).toBe(false);
      expect((await client.callTool({ name: TOOL, arguments: {} })).isError).toBe(true);
      expect(ran(place)).toBe(false);
    },
  );

  it.each(ANSWERING)('does not answer for a person, %s (X-05)', async (_who, connection) => {
    const place = await clone();
    let asked = 0;
    const client = await connected(way, place, {
      ...connection,
      elicit: () => {
        asked += 1;
        return { action: 'accept', content: { allow: true } };
      },
    });
    const refused = await client.callTool({ name: TOOL, arguments: {} });
    expect(refused.isError).toBe(true);
    expect(textsOf(refused)[0]).toContain(`bmad trust ${place.cwd} (for a person, in a terminal)`);
    expect(asked).toBe(0);
    expect(ran(place)).toBe(false);
  });
});

describe('the command line', () => {
  it('runs nothing of a project that nobody has allowed, and says how to (S-12)', async () => {
    const place = await clone();
    const refused = await program(place, 'contract', 'run');
    expect(refused.code).toBe(4);
    expect(refused.stderr).toContain(`bmad trust ${place.cwd}`);
    const shown = await command(place, 'trust');
    expect([shown.code, String(shown.stdout)]).toEqual([1, expect.stringContaining(`bash ${SCRIPT_PATH} .`)]);
    expect(ran(place)).toBe(false);
    const text = String((await command(place, 'trust', '--show')).stdout);
    const digest = /^Digest: (\w+)$/m.exec(text)?.[1] ?? '';
    const other = await command(place, 'trust', '--yes', '--digest', 'a'.repeat(64));
    expect(other.code).toBe(5);
    expect(other.stderr).toContain(`Digest: ${digest}`);
    expect((await program(place, 'trust', '--yes', '--digest', digest)).code).toBe(0);
    expect((await command(place, 'trust', '--list')).stdout.toString('utf8')).toContain(place.cwd);
    expect((await program(place, 'contract', 'run')).code).toBe(0);
    expect((await command(place, 'trust', '--revoke', place.cwd)).code).toBe(0);
    expect((await command(place, 'contract', 'run')).code).toBe(4);
  });

  it('trusts the project for one run with --trust-project, and remembers nothing', async () => {
    const place = await clone();
    expect((await command(place, 'contract', 'run', '--trust-project')).code).toBe(0);
    expect((await command(place, 'contract', 'run')).code).toBe(4);
  });

  it.runIf(existsSync('/usr/bin/script') && process.platform === 'linux')(
    'asks the person at a terminal (S-12)',
    async () => {
      const place = await clone();
      const typed = (answer: string, words: string) =>
        runToEnd(
          '/bin/sh',
          ['-c', `echo ${answer} | script -qec '"${process.execPath}" "${cliFile}" ${words}' /dev/null`],
          { cwd: place.cwd, env: bareEnvironment(place.home) },
        );
      const no = await typed('n', 'contract run');
      expect(no.stdout.toString('utf8')).toContain(
        'May this project run its own programs on this machine? [y/N]',
      );
      expect(no.code).toBe(4);
      expect(ran(place)).toBe(false);
      const yes = await typed('y', 'trust');
      expect(yes.stdout.toString('utf8')).toContain('Allowed, exactly as shown');
      expect((await command(place, 'contract', 'run')).code).toBe(0);
    },
  );
});
