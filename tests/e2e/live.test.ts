import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { agentText, workflowText, writeTree } from '../support/generated-tree.ts';
import { startHttpServer } from '../support/http-server.ts';
import { LineClient } from '../support/line-client.ts';
import { isDeep } from '../support/how-much.ts';

const run = promisify(execFile);
const IDENTITY = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org', '-c', 'commit.gpgsign=false'];

const said = async (client: LineClient, method: string, params: Record<string, unknown>): Promise<string> => {
  const { result, error } = await client.request(method, params);
  return JSON.stringify(result ?? error);
};

const bmad = (client: LineClient, args: Record<string, unknown>): Promise<string> =>
  said(client, 'tools/call', { name: 'bmad', arguments: args });

describe('two servers in one project', () => {
  it.runIf(isDeep)(
    'both answer from the files as they are, and from what the other has written',
    async () => {
      const [cwd, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
      await writeTree(cwd, 10);
      const git = (...args: string[]) => run('git', [...IDENTITY, ...args], { cwd });
      await git('init', '--quiet', '--initial-branch=main');
      await git('add', '.');
      await git('commit', '--quiet', '--message=one');
      await git('checkout', '--quiet', '-b', 'lighthouse');
      await writeFiles(cwd, {
        '_bmad/bmm/agents/keeper.md': agentText('keeper', 'Keeps the light'),
        '_bmad/bmm/workflows/flow-1/workflow.md': workflowText('flow-1', 'Trims the wick'),
      });
      await git('add', '.');
      await git('commit', '--quiet', '--message=two');
      const flags = ['--toolsets', 'bmad,memory,project'];
      const servers = await Promise.all([
        LineClient.connect({ cwd, home, args: flags }),
        LineClient.connect({ cwd, home, args: flags }),
      ]);
      const [one, two] = servers;
      const both = async (asked: (client: LineClient) => Promise<string>): Promise<string[]> => {
        const answers: string[] = [];
        for (const server of servers) answers.push(await asked(server));
        return answers;
      };
      const agents = (client: LineClient): Promise<string> =>
        bmad(client, { operation: 'list', query: 'agents' });
      const flow = (client: LineClient): Promise<string> =>
        bmad(client, { operation: 'search', query: 'flow-1' });
      const prompts = (client: LineClient): Promise<string> => said(client, 'prompts/list', {});
      for (const answer of [...(await both(agents)), ...(await both(prompts))])
        expect(answer).toContain('keeper');
      for (const answer of await both(flow)) expect(answer).toContain('Trims the wick');

      await git('checkout', '--quiet', 'main');
      for (const answer of [...(await both(prompts)), ...(await both(agents))])
        expect(answer).not.toContain('keeper');
      for (const answer of await both(flow)) expect(answer).not.toContain('Trims the wick');

      await git('checkout', '--quiet', 'lighthouse');
      for (const answer of [...(await both(agents)), ...(await both(prompts))])
        expect(answer).toContain('keeper');

      await rm(join(cwd, '_bmad'), { recursive: true });
      for (const answer of await both(agents)) expect(answer).toContain('architect');
      for (const answer of await both(prompts)) expect(answer).not.toContain('keeper');
      await git('checkout', '--quiet', '--', '_bmad');
      for (const answer of await both(agents)) expect(answer).toContain('keeper');

      const tool = (client: LineClient, name: string, args: Record<string, unknown>): Promise<string> =>
        said(client, 'tools/call', { name, arguments: args });
      await tool(one, 'remember_structured', {
        type: 'decisions',
        agent: 'keeper',
        text: 'The lamp is lit at dusk',
      });
      expect(await tool(two, 'recall_structured', { query: 'When is the lamp lit?' })).toContain('at dusk');
      await tool(two, 'spawn_subagent_task', {
        agent: 'keeper',
        task: 'Polish the lens',
        output_key: 'lens',
      });
      expect(await said(one, 'resources/read', { uri: 'bmad://tasks' })).toContain('lens');
      await Promise.all(servers.map((server) => server.close()));
      for (const server of servers) expect(server.strays).toEqual([]);
    },
  );
});

/** How many folders the system tells a process of. */
async function watchedFolders(pid: number | undefined): Promise<number> {
  const folder = `/proc/${pid}/fdinfo`;
  const handles = await Promise.all(
    (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8').catch(() => '')),
  );
  return handles.join('').split('inotify wd:').length - 1;
}

it.runIf(process.platform === 'linux')(
  'a server over HTTP watches the content it has served, so that calls need not compare all of it (F-05)',
  async () => {
    const [cwd, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    await writeTree(cwd, 12);
    const server = await startHttpServer({ cwd, home });
    onTestFinished(async () => void (await server.stop()));
    const { origin } = new URL(server.url);
    const list = async (): Promise<number> => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ what: 'agents' });
      return (await fetch(`${origin}/api/list`, { method: 'POST', headers, body })).status;
    };
    expect(await list()).toBe(200);
    await expect
      .poll(async () => {
        await list();
        return watchedFolders(server.child.pid);
      })
      .toBeGreaterThan(12);
  },
);
