import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { connectOver, ERAS } from '../support/http-client.ts';
import { serveHere } from '../support/http-server.ts';
import { callInParts, connectClient, textsOf } from '../support/mcp-client.ts';

const home = await temporaryFolder(afterAll);
const own = await temporaryFolder(afterAll);
const team = await temporaryFolder(afterAll);
const secret = await temporaryFolder(afterAll);
const role = (text: string): Record<string, string> => ({
  '_bmad/custom/bmad-agent-dev.toml': `[agent]\nrole = "${text}"\n`,
  '_bmad/_memory/shared-context.md': `# ${text}\n`,
  'src/code.ts': `export const telltale = '${text}';\n`,
});
await writeFiles(own, role('Of the own project'));
await writeFiles(join(team, 'one'), role('Of project one'));
await writeFiles(join(team, 'two'), role('Of project two'));
await writeFiles(secret, role('Of somebody else'));
await symlink(secret, join(team, 'link'));

let url = '';
beforeAll(async () => {
  const server = await serveHere({ cwd: own, home, more: ['--allow-project', team] });
  url = server.url;
  return async () => void (await server.stop());
});

const execute = async (client: Client, more: Record<string, string>): Promise<string> =>
  (await callInParts(client, { operation: 'execute', agent: 'dev', ...more })).join('');

/** Every tool that takes a project, with what else it needs. */
const CALLS: [string, Record<string, unknown>][] = [
  ['bmad', { operation: 'execute', agent: 'dev' }],
  ['bmad', { operation: 'list', query: 'agents' }],
  ['bmad', { operation: 'search', query: 'telltale' }],
  ['bmad', { operation: 'next' }],
  ['bmad', { operation: 'refresh' }],
  ['bmad', { operation: 'doctor' }],
  ['get_project_context', {}],
  ['get_agent_memory', { agent: 'dev' }],
  ['get_workflow_status', {}],
  ['list_sessions', {}],
  ['get_failure_museum', {}],
  ['remember_structured', { type: 'decisions', agent: 'dev', text: 'Something to keep' }],
  ['recall_structured', { query: 'telltale' }],
  ['spawn_subagent_task', { agent: 'dev', task: 'Look around', output_key: 'look' }],
];

describe.each(ERAS)('several projects over HTTP, for $name', ({ mode }) => {
  it('are served side by side', async () => {
    const client = await connectOver(url, mode);
    const answers = await Promise.all([
      execute(client, {}),
      execute(client, { project: join(team, 'one') }),
      execute(client, { project: join(team, 'two') }),
      execute(client, { project: own }),
    ]);
    const found = answers.map((text) => /Of (?:the own project|project \w+|somebody else)/.exec(text)?.[0]);
    expect(found).toEqual(['Of the own project', 'Of project one', 'Of project two', 'Of the own project']);
    await client.close();
  });

  it.each(CALLS)('are not others: %s %j', async (name, args) => {
    const client = await connectOver(url, mode);
    for (const project of [secret, join(team, 'link'), '/', home, join(secret, 'none')]) {
      const result = await client.callTool({ name, arguments: { ...args, project } });
      const text = textsOf(result).join('\n');
      expect(text).toMatch(/does not serve the project folder/);
      expect(text).not.toContain('somebody else');
      if (name !== 'bmad') expect(text).toContain('allow_projects');
    }
    await client.close();
  });
});

it('is not so over stdin, where the caller is the user', async () => {
  const client = await connectClient({ cwd: own, home });
  expect(await execute(client, { project: secret })).toContain('Of somebody else');
  await client.close();
});
