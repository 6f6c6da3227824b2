import { chmod, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { checksum } from '../../src/base/files/user-cache.ts';
import { repository, serverFile, temporaryFolder } from '../support/app.ts';
import { INITIALIZE, LineClient, type LineClientOptions } from '../support/line-client.ts';
import { connectClient } from '../support/mcp-client.ts';
import { some } from '../support/how-much.ts';

interface Place extends LineClientOptions {
  folder: string;
}

async function place(onEnd: (cleanUp: () => Promise<void>) => void = onTestFinished): Promise<Place> {
  const [cwd, home] = [await temporaryFolder(onEnd), await temporaryFolder(onEnd)];
  return { cwd, home, folder: join(home, '.cache/bmad-mcp-server/first-answers') };
}

/** What a host asks first, all of it answered once, and one call after it. */
async function start(options: LineClientOptions): Promise<{ first: string; tools: string }> {
  const client = new LineClient(options);
  // Without waiting for answers: the server does not wait long for the next question before it loads everything.
  const asked = [client.request('initialize', INITIALIZE)];
  void client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  asked.push(client.request('tools/list', {}));
  const [first, tools] = await Promise.all(asked);
  const { result } = await client.callTool({ operation: 'list', query: 'agents' });
  expect(JSON.stringify(result)).toContain('Winston');
  expect(await client.close()).toEqual({ code: 0, signal: null });
  expect({ unread: client.unread, strays: client.strays }).toEqual({ unread: [], strays: [] });
  return { first: JSON.stringify(first?.result), tools: JSON.stringify(tools?.result) };
}

/** The one file that was kept, with its text replaced by what a test makes of it. */
async function keptFile({ folder }: Place, change?: (text: string) => string): Promise<string> {
  const names = await readdir(folder);
  expect(names).toHaveLength(1);
  const path = join(folder, names[0] ?? '');
  const [, text = ''] = (await readFile(path, 'utf8')).split(/\n(.*)/s);
  if (change !== undefined) await writeFile(path, `${checksum(change(text))}\n${change(text)}`);
  return text;
}

/** Makes it visible which answers come from the file. */
const marked = (text: string): string => text.replaceAll('architect', 'ARCHITECT');

describe.skipIf(process.platform === 'win32')('the first answers of a server', () => {
  /** Where a server was started once. */
  let here: Place;
  let before: Awaited<ReturnType<typeof start>>;
  let kept: { name: string; bytes: Buffer };
  beforeAll(async () => {
    const once = await place(afterAll);
    before = await start(once);
    const [name = ''] = await readdir(once.folder);
    kept = { name, bytes: await readFile(join(once.folder, name)) };
    here = once;
  });
  /** Each test finds it as the first start has left it. */
  beforeEach(async () => {
    const { cwd, home, folder } = here;
    here = { cwd, home, folder };
    for (const path of [folder, join(home, '.config')]) await rm(path, { recursive: true, force: true });
    for (const name of await readdir(cwd)) await rm(join(cwd, name), { recursive: true });
    await mkdir(folder, { mode: 0o700 });
    await writeFile(join(folder, kept.name), kept.bytes, { mode: 0o600 });
  });

  it('are those of the last start, to the byte, and each is given once', async () => {
    await keptFile(here);
    expect(await start(here)).toEqual(before);
  });

  it('are given before the server is there, and replaced when it would have said something else', async () => {
    await keptFile(here, marked);
    const { tools } = await start(here);
    expect(tools).toBe(marked(before.tools));
    expect(tools).not.toBe(before.tools);
    expect(await start(here)).toEqual(before);
  });

  const SETTINGS: [string, (place: Place) => Promise<void>][] = [
    [
      'the configuration of the project',
      async ({ cwd }: Place) => writeFile(join(cwd, 'bmad-mcp.toml'), 'toolsets = ["bmad"]\n'),
    ],
    [
      'the configuration of the user',
      async ({ home }: Place) => {
        await mkdir(join(home, '.config/bmad-mcp-server'), { recursive: true });
        await writeFile(join(home, '.config/bmad-mcp-server/config.toml'), 'toolsets = ["bmad"]\n');
      },
    ],
    ['a flag', async (one: Place) => void Object.assign(one, { args: ['--toolsets', 'bmad'] })],
    ['a variable', async (one: Place) => void Object.assign(one, { env: { BMAD_TOOLSETS: 'bmad' } })],
  ];
  it.each(some(2, SETTINGS))('follow %s', async (_what, change) => {
    await change(here);
    const { tools } = await start(here);
    expect(tools).not.toBe(before.tools);
    expect((JSON.parse(tools) as { tools: unknown[] }).tools).toHaveLength(1);
  });

  it('follow the release that is installed in the project', async () => {
    await mkdir(join(here.cwd, '.bmad-core'));
    await writeFile(join(here.cwd, '.bmad-core/install-manifest.yaml'), 'version: 4.44.3\n');
    expect((await start(here)).first).not.toBe(before.first);
  });

  const BROKEN: [string, (text: string) => string][] = [
    ['damaged', (text) => text.slice(0, text.length / 2)],
    ['of another shape', () => '{"a": 1}'],
    ['empty', () => ''],
  ];
  it.each(some(2, BROKEN))('are made again where the file is %s', async (how, damage) => {
    const [name = ''] = await readdir(here.folder);
    const path = join(here.folder, name);
    const text = await readFile(path, 'utf8');
    const broken = damage(text);
    await writeFile(path, how === 'of another shape' ? `${checksum(broken)}\n${broken}` : broken);
    expect(await start(here)).toEqual(before);
    expect(await readFile(path, 'utf8')).toBe(text);
  });

  it('are not taken from a folder that others may write to', async () => {
    await keptFile(here, marked);
    await chmod(here.folder, 0o777);
    expect(await start(here)).toEqual(before);
  });

  it('are for one client each: a host with another name gets its own', async () => {
    const client = new LineClient(here);
    const hello = { ...INITIALIZE, protocolVersion: '2024-11-05' };
    const { result } = await client.request('initialize', hello);
    expect(result?.['protocolVersion']).toBe('2024-11-05');
    await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
    await client.request('tools/list', {});
    await client.close();
    const text = await keptFile(here);
    expect(text).toContain('2024-11-05');
    expect(text).toContain('2025-06-18');
  });

  it('hold no secrets', async () => {
    const secret = await place();
    await start({
      ...secret,
      env: { BMAD_HTTP_TOKEN: 'tok-3141592653589793', BMAD_OPENAI_API_KEY: 'sk-27182818' },
    });
    expect(await keptFile(secret)).not.toMatch(/314159|271828/);
    const there = await place();
    await start({ ...there, args: ['git+https://ada:hunter2@127.0.0.1:9/x/y.git'] });
    expect(await readdir(there.folder).catch(() => [])).toEqual([]);
  });

  it.each(some(1, ['auto', 'legacy'] as const))(
    'are understood by the official client, mode %s',
    async (mode) => {
      const { cwd, home } = await place();
      const seen: string[] = [];
      for (let round = 0; round < 3; round++) {
        const client = await connectClient({ cwd, home, mode });
        seen.push(JSON.stringify((await client.listTools()).tools), String(client.getInstructions()));
        await client.close();
      }
      expect(seen.slice(2, 4)).toEqual(seen.slice(0, 2));
      expect(seen.slice(4)).toEqual(seen.slice(0, 2));
    },
  );

  describe('of a host that makes commands from the list of prompts (N-03, N-04)', () => {
    const HELLO = { ...INITIALIZE, capabilities: { roots: { listChanged: true } } };
    /** A host as they are: it asks for its lists one after the other, and says where it works only when it is asked. */
    async function listed(options: LineClientOptions, roots: readonly string[] | 'silent') {
      const client = new LineClient(options);
      onTestFinished(async () => void (await client.close()));
      await client.request('initialize', HELLO);
      await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      const names = async (): Promise<string[]> => {
        const { result } = await client.request('prompts/list');
        const { prompts = [] } = (result ?? {}) as { prompts?: { name: string }[] };
        return prompts.map(({ name }) => name);
      };
      if (roots !== 'silent')
        void client.asked('roots/list').then(({ id }) =>
          client.send({
            jsonrpc: '2.0',
            id,
            result: { roots: roots.map((path) => ({ uri: pathToFileURL(path).href })) },
          }),
        );
      await client.request('tools/list', {});
      return { client, first: await names(), names };
    }

    /** A project with a prompt of its own. */
    async function polishing(): Promise<string> {
      const other = await temporaryFolder(onTestFinished);
      const skill = join(other, '_bmad/bmm/workflows/bmad-polish');
      await mkdir(skill, { recursive: true });
      await writeFile(
        join(skill, 'SKILL.md'),
        '---\nname: bmad-polish\ndescription: Polishes.\n---\n# Polish\n',
      );
      return other;
    }

    it('the list is what it was here, before the host has said where it works', async () => {
      const { cwd, home } = await place();
      const once = await listed({ cwd, home }, [cwd]);
      await once.client.close();
      // It would wait for this host for as long as a host may take.
      const { first, client } = await listed({ cwd, home }, 'silent');
      expect(first).toEqual(once.first);
      expect(first).toContain('bmad-architect');
      expect(client.unread.map(({ method }) => method)).not.toContain('notifications/prompts/list_changed');
    });

    it('the host hears of it, and gets the other list, where it works somewhere else by now', async () => {
      const { cwd, home } = await place();
      const other = await polishing();
      await (await listed({ cwd, home }, [cwd])).client.close();
      const { first, client, names } = await listed({ cwd, home }, [other]);
      expect(first).not.toContain('bmad-polish');
      await client.asked('notifications/prompts/list_changed');
      expect(await names()).toContain('bmad-polish');
      expect(client.unread.filter(({ id }) => id !== undefined)).toEqual([]);
    });

    it('the list of another project than that of the working directory is kept for no one', async () => {
      const there = await place();
      const { first, client } = await listed(there, [await polishing()]);
      expect(first).toContain('bmad-polish');
      await client.close();
      const text = await keptFile(there);
      expect(text).toContain('tools/list');
      expect(text).not.toContain('prompts/list');
    });

    /** A machine that has no settings: the other tests switch a few things off. */
    const UNSET = { BMAD_USAGE: undefined, BMAD_PREWARM: undefined, BMAD_LANG: undefined } as never;
    /** What a host asks first, and the answers, in both protocols. */
    async function asked(options: LineClientOptions, isModern: boolean, name: string): Promise<string[]> {
      const client = new LineClient(options);
      onTestFinished(async () => void (await client.close()));
      const clientInfo = { name, version: '1' };
      const more = isModern
        ? {
            _meta: {
              'io.modelcontextprotocol/protocolVersion': '2026-07-28',
              'io.modelcontextprotocol/clientInfo': clientInfo,
              'io.modelcontextprotocol/clientCapabilities': {},
            },
          }
        : {};
      const answers: unknown[] = [];
      const ask = async (method: string, params: object = {}): Promise<Record<string, unknown>> => {
        const { result = {} } = await client.request(method, { ...params, ...more });
        answers.push(result);
        return result;
      };
      if (isModern) {
        await ask('server/discover');
        const notifications = { promptsListChanged: true, resourcesListChanged: true };
        await client.send({
          jsonrpc: '2.0',
          id: 'listen',
          method: 'subscriptions/listen',
          params: { notifications, ...more },
        });
        answers.push((await client.asked('notifications/subscriptions/acknowledged')).params);
      } else {
        await ask('initialize', { ...INITIALIZE, clientInfo });
        await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      }
      for (const list of ['prompts/list', 'tools/list', 'resources/list']) {
        let { nextCursor: cursor } = await ask(list);
        while (cursor !== undefined) ({ nextCursor: cursor } = await ask(list, { cursor }));
      }
      // The server has compared all of it by the time it answers this.
      await client.request('tools/call', { name: 'bmad', arguments: { operation: 'list' }, ...more });
      expect(client.unread).toEqual([]);
      return answers.map((answer) => JSON.stringify(answer));
    }

    const HOSTS = ['claude-code', 'gemini-cli-mcp-client', 'some-host'].flatMap((name, at) =>
      [at === 0, at !== 0].map((isModern) => ({ name, isModern })),
    );
    // One that has prompts as commands of its own, and both protocols.
    it.each(some(3, HOSTS))(
      'those of a first start are what the server says itself: $name, 2026: $isModern',
      async ({ name, isModern }) => {
        const [first, real] = [await place(), await place()];
        const prepared = await asked({ ...first, env: UNSET }, isModern, name);
        expect(prepared).toEqual(await asked(real, isModern, name));
        expect(JSON.stringify(prepared)).toContain('bmad-architect');
      },
    );

    it('those of the build are given in no project of BMAD', async () => {
      const there = await place();
      await mkdir(join(there.cwd, '_bmad/bmm/agents'), { recursive: true });
      await writeFile(
        join(there.cwd, '_bmad/bmm/agents/gardener.md'),
        '---\nname: gardener\ndescription: Plants\n---\n# Gardener\n',
      );
      expect((await listed({ ...there, env: UNSET }, [there.cwd])).first).toContain('bmad-gardener');
    });

    it.each(['the first start', 'the second'])(
      'is given before the server is loaded, after one file was read: %s',
      async (which) => {
        const { cwd, home, folder } = await place();
        // With settings, as the other tests have them, nothing is prepared.
        const isFirst = which === 'the first start';
        if (!isFirst) await (await listed({ cwd, home }, [cwd])).client.close();
        const notes = join(home, 'notes.jsonl');
        const hook = join(repository, 'tests/fixtures/read-until-answers.cjs').replaceAll('\\', '/');
        const env = {
          ...(isFirst ? (UNSET as object) : {}),
          NODE_OPTIONS: `--require "${hook}"`,
          READ_UNTIL_ANSWERS: notes,
        };
        const client = new LineClient({ cwd, home, env });
        onTestFinished(async () => void (await client.close()));
        // At once: how long a busy machine takes between two questions decides nothing.
        const questions = [
          { id: 1, method: 'initialize', params: HELLO },
          { method: 'notifications/initialized' },
          { id: 2, method: 'tools/list', params: {} },
          { id: 3, method: 'prompts/list', params: {} },
        ];
        await client.write(
          questions.map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`).join(''),
        );
        expect(JSON.stringify((await client.answer(3)).result)).toContain('bmad-architect');
        const told = (await readFile(notes, 'utf8')).trim().split('\n').slice(0, 3);
        const file = isFirst ? join(dirname(serverFile), 'first-answers.json') : folder;
        for (const [index, line] of told.entries()) {
          const { id, loaded, read } = JSON.parse(line) as { id: number; loaded: string[]; read: string[] };
          expect(id).toBe(index + 1);
          expect(loaded).toEqual([serverFile]);
          expect(read.filter((path) => path !== serverFile)).toEqual([expect.stringContaining(file)]);
        }
      },
    );
  });

  describe('with a tool for each agent (A-15)', () => {
    async function listed(options: LineClientOptions) {
      const client = new LineClient(options);
      onTestFinished(async () => void (await client.close()));
      const names = async (): Promise<string[]> => {
        const { result } = await client.request('tools/list', {});
        return ((result ?? {}) as { tools: { name: string }[] }).tools.map(({ name }) => name);
      };
      void client.request('initialize', INITIALIZE);
      await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
      return { client, first: await names(), names };
    }

    it('the list is what it was here, and the host hears of it where it is another one by now', async () => {
      const one: LineClientOptions = { ...(await place()), args: ['--toolsets', 'agents'] };
      const { client, first } = await listed(one);
      expect(first).toContain('bmm-architect');
      await client.close();
      const agents = join(one.cwd, 'bmad/bmm/agents');
      await mkdir(agents, { recursive: true });
      await writeFile(join(agents, 'ada.md'), '---\nname: ada\n---\n<agent id="ada" name="Ada"></agent>\n');
      const again = await listed(one);
      expect(again.first).not.toContain('bmm-ada');
      await again.client.asked('notifications/tools/list_changed');
      expect(await again.names()).toContain('bmm-ada');
      await again.client.close();
      expect((await listed(one)).first).toContain('bmm-ada');
    });
  });

  it('of what comes through a pipe that ends at once are all given once', async () => {
    const client = new LineClient(here);
    const lines = [
      { id: 1, method: 'initialize', params: INITIALIZE },
      { method: 'notifications/initialized' },
      { id: 2, method: 'tools/list', params: {} },
      {
        id: 3,
        method: 'tools/call',
        params: { name: 'bmad', arguments: { operation: 'list', query: 'agents' } },
      },
    ];
    client.child.stdin.end(lines.map((line) => JSON.stringify({ jsonrpc: '2.0', ...line })).join('\n'));
    expect((await client.ended).code).toBe(0);
    expect(client.unread.map(({ id }) => id)).toEqual([1, 2, 3]);
  });
});
