import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it } from 'vitest';
import type * as Library from '../../src/library/public.ts';
import { repository, temporaryFolder } from '../support/app.ts';
import { installOf } from '../support/installs.ts';

const library = createRequire(import.meta.url)(join(repository, 'dist', 'library.cjs')) as typeof Library;
const home = await temporaryFolder(afterAll);
const project = await installOf('6.0.4');
const options = { project, home, env: {}, cache: join(home, 'cache') };

describe('M-19: the server inside a program', () => {
  it('initializes, and serves several clients of the official SDK at once', async () => {
    const server = new library.BmadServer(options);
    await server.initialize();
    const clients = await Promise.all(
      ['one', 'two'].map(async (name) => {
        const [ours, theirs] = InMemoryTransport.createLinkedPair();
        await server.connect(theirs);
        const client = new Client({ name, version: '1' });
        await client.connect(ours);
        return client;
      }),
    );
    for (const client of clients) {
      expect((await client.listTools()).tools.map(({ name }) => name)).toContain('bmad');
      const { content } = await client.callTool({
        name: 'bmad',
        arguments: { operation: 'list', query: 'agents', module: 'bmm' },
      });
      expect(JSON.stringify(content)).toContain('Mary');
      const { contents } = await client.readResource({ uri: 'bmad://manifests/agents' });
      expect(JSON.stringify(contents)).toContain('Strategic Business Analyst');
    }
    await server.close();
    await expect(clients[0]?.listTools()).rejects.toThrow(/not connected|closed/i);
  });

  it('says what is wrong with an option in the words of the options', async () => {
    const server = new library.BmadServer({ ...options, discovery: 'all' as 'auto' });
    await expect(server.initialize()).rejects.toMatchObject({ code: 'invalid_input' });
    await server.close();
  });
});

describe('M-19: records for programs', () => {
  it('are listed, filtered and found, with the manifest of the agents in every context', async () => {
    const bmad = await library.openBmad(options);
    const all = await bmad.queryRecords();
    const agents = await bmad.queryRecords({ kind: 'agent', module: 'bmm', served: true });
    expect(agents.length).toBe(9);
    expect(
      agents.every(
        ({ kind, moduleName, origin }) =>
          kind === 'agent' && moduleName === 'bmm' && origin.kind === 'project',
      ),
    ).toBe(true);
    const builtIn = await bmad.queryRecords({ origin: 'package', name: 'analyst' });
    expect(builtIn).toMatchObject([
      { name: 'bmad-agent-analyst', served: false, overriddenBy: { name: 'bmm/analyst' } },
    ]);
    expect(await bmad.findRecord('analyst')).toMatchObject({
      bmadRelativePath: '_bmad/bmm/agents/analyst.md',
      role: 'Strategic Business Analyst + Requirements Expert',
      origin: { manifestDir: expect.stringMatching(/_config$/) },
    });
    expect(await bmad.findRecord('nobody')).toBeNull();
    expect(all.length).toBeGreaterThan(agents.length);
    const { context } = await bmad.activate('analyst');
    const served = await bmad.queryRecords({ kind: 'agent', served: true });
    expect(context.agentManifestData?.map(({ name }) => name)).toEqual(served.map(({ name }) => name));
    expect(context.agentManifestData).toHaveLength(context.agentCount ?? 0);
    bmad.close();
  });
});
