import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client, VersionNegotiationMode } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { connectClient, textsOf } from '../support/mcp-client.ts';
import { connectHere } from '../support/mcp-here.ts';

const home = await temporaryFolder(afterAll);

const agent = (mark: string): string =>
  `---\nname: "x"\ndescription: "${mark}"\n---\n<agent id="a" name="W" title="T" icon="x">\n${mark}\n</agent>\n`;

const PM = 'bmad://bmm/agents/pm.md';
const DEV = 'bmad://bmm/agents/dev.md';

/** A client in a project with two agents, and what it is told from now on. */
async function connected(
  mode: VersionNegotiationMode,
  args = ['--no-watch', '--no-prewarm'],
  connect = connectHere,
) {
  const cwd = await temporaryFolder(afterAll);
  await writeFiles(cwd, {
    'bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.7\nmodules:\n  - bmm\n',
    'bmad/bmm/agents/pm.md': agent('one'),
    'bmad/bmm/agents/dev.md': agent('one'),
    'bmad/bmm/config.yaml': 'user_name: Ada\n',
  });
  // A server that notices changes itself would have told of them before it is asked to look.
  const client = await connect({ cwd, home, mode, args });
  onTestFinished(() => client.close());
  const told: string[] = [];
  client.setNotificationHandler('notifications/resources/updated', ({ params }) => {
    told.push(params.uri);
  });
  client.setNotificationHandler('notifications/resources/list_changed', () => {
    told.push('resources');
  });
  client.setNotificationHandler('notifications/prompts/list_changed', () => {
    told.push('prompts');
  });
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    told.push('tools');
  });
  return { cwd, client, told };
}

/** Puts a file there in one step: a server that looks by itself just then sees all of it or nothing. */
async function put(cwd: string, path: string, text: string): Promise<void> {
  await writeFiles(home, { 'next.md': text });
  await rename(join(home, 'next.md'), join(cwd, path));
}

async function refresh(client: Client): Promise<string> {
  const [body = ''] = textsOf(await client.callTool({ name: 'bmad', arguments: { operation: 'refresh' } }));
  return body;
}

/**
 * Changes a file that is always subscribed to and waits until that is told: messages come in order, so whatever else
 * was to be told has been told by then.
 */
async function settled(told: string[], uri: string): Promise<string[]> {
  await expect.poll(() => told).toContain(uri);
  return told.splice(0).sort();
}

const ERAS: {
  era: string;
  mode: VersionNegotiationMode;
  follow(client: Client, uris: string[]): Promise<unknown>;
}[] = [
  {
    era: '2025',
    mode: 'legacy',
    follow: (client, uris) => Promise.all(uris.map((uri) => client.subscribeResource({ uri }))),
  },
  {
    era: '2026',
    mode: { pin: '2026-07-28' },
    follow: (client, uris) =>
      client.listen({
        resourceSubscriptions: uris,
        resourcesListChanged: true,
        promptsListChanged: true,
        toolsListChanged: true,
      }),
  },
];

describe.each(ERAS)('a client of $era', ({ mode, follow }) => {
  it('hears of what it subscribed to, when that has really changed', async () => {
    const { cwd, client, told } = await connected(mode, ['--no-watch', '--no-prewarm'], connectClient);
    const config = 'bmad://config/current';
    const skill = 'skill://bmm/bmm-pm/SKILL.md';
    await follow(client, [PM, DEV, config, 'bmad://agents/pm', skill]);
    await put(cwd, 'bmad/bmm/agents/pm.md', agent('one').replace('\none', '\ntwo'));
    await refresh(client);
    await expect.poll(() => told).toHaveLength(3);
    expect(told.splice(0).sort()).toEqual(['bmad://agents/pm', PM, skill]);
    await writeFiles(cwd, { 'bmad/bmm/config.yaml': 'user_name: Grace\n' });
    await refresh(client);
    expect(await settled(told, config)).toEqual([config]);
  });

  it('hears of lists that have changed, and only of those', async () => {
    const { cwd, client, told } = await connected(mode);
    await client.listResources();
    await follow(client, [PM]);
    await put(cwd, 'bmad/bmm/agents/ux.md', agent('new'));
    await refresh(client);
    await expect.poll(() => [...told].sort()).toEqual(['prompts', 'resources']);
    told.length = 0;
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toContain('bmad-ux');
    await put(cwd, 'bmad/bmm/notes.md', 'x\n');
    await refresh(client);
    await expect.poll(() => told).toEqual(['resources']);
    // A text that no list shows makes no list different.
    await put(cwd, 'bmad/bmm/agents/pm.md', agent('one').replace('\none', '\nthree'));
    await refresh(client);
    expect(await settled(told, PM)).toEqual([PM, 'resources']);
    await rm(join(cwd, 'bmad/bmm/agents/pm.md'));
    await refresh(client);
    expect(await settled(told, PM)).toEqual([PM, 'prompts', 'resources']);
  });

  it('hears of tools that have changed where agents are tools, without asking, as the server says', async () => {
    const { cwd, client, told } = await connected(mode, ['--toolsets', 'bmad,agents']);
    expect(client.getServerCapabilities()).toMatchObject({
      tools: { listChanged: true },
      prompts: { listChanged: true },
      resources: { listChanged: true, subscribe: true },
      extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } },
    });
    const names = async (): Promise<string[]> => (await client.listTools()).tools.map(({ name }) => name);
    const before = await names();
    await follow(client, [PM]);
    // A text that no list shows makes no list different.
    await writeFiles(cwd, { 'bmad/bmm/agents/pm.md': agent('one').replace('\none', '\ntwo') });
    expect(await settled(told, PM)).toEqual([PM]);
    await writeFiles(cwd, { 'bmad/bmm/agents/ux.md': agent('new') });
    await expect.poll(() => told).toContain('tools');
    expect((await names()).filter((name) => !before.includes(name))).toEqual(['bmm-ux']);
  });
});

describe('unsubscribing', () => {
  it('ends the messages of a client of 2025', async () => {
    const { cwd, client, told } = await connected('legacy');
    await client.subscribeResource({ uri: PM });
    await client.subscribeResource({ uri: DEV });
    await client.unsubscribeResource({ uri: PM });
    await client.unsubscribeResource({ uri: 'bmad://never/subscribed.md' });
    await put(cwd, 'bmad/bmm/agents/pm.md', agent('two'));
    await put(cwd, 'bmad/bmm/agents/dev.md', agent('two'));
    await refresh(client);
    await expect.poll(() => [...new Set(told)].sort()).toEqual([DEV, 'prompts', 'resources']);
  });

  it('ends those of a client of 2026, which stops listening', async () => {
    const { cwd, client, told } = await connected({ pin: '2026-07-28' });
    const first = await client.listen({ resourceSubscriptions: [PM] });
    await client.listen({ resourceSubscriptions: [DEV] });
    await first.close();
    await put(cwd, 'bmad/bmm/agents/pm.md', agent('two'));
    await put(cwd, 'bmad/bmm/agents/dev.md', agent('two'));
    await refresh(client);
    expect(await settled(told, DEV)).toEqual([DEV]);
  });
});
