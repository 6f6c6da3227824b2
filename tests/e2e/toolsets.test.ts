import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { type Lines, linesHere } from '../support/line-client.ts';
import { bareEnvironment, bmad, bmadServer } from '../support/programs.ts';

const home = await temporaryFolder(afterAll);
const cwd = await temporaryFolder(afterAll);

async function connect(args: readonly string[]): Promise<Lines> {
  const client = linesHere({ cwd, home, args });
  await client.initialize();
  afterAll(() => client.close());
  return client;
}

async function toolNames(client: Lines): Promise<string[]> {
  const { result } = await client.request('tools/list', {});
  const tools = (result?.['tools'] ?? []) as { name: string }[];
  return tools.map(({ name }) => name);
}

describe('a wrong name at the start', () => {
  it.each([
    [['--toolsets', 'bmad,workflow'], {}, /flag --toolsets: there is no toolset "workflow".*workflows/s],
    [[], { BMAD_TOOLSETS: 'agent' }, /environment BMAD_TOOLSETS: there is no toolset "agent".*agents/s],
    [['--tools', 'execute_tasks'], {}, /flag --tools: there is no tool "execute_tasks".*execute_task/s],
    [
      ['--exclude-tools=bmm-architct'],
      {},
      /flag --exclude-tools: there is no tool "bmm-architct".*bmm-architect/s,
    ],
    [['--read-only=perhaps'], {}, /flag --read-only: "perhaps" is not valid for read_only/],
  ])('%j %j ends the program with 2 and a suggestion', async (args, env, text) => {
    const ended = await bmadServer(['--test', ...args], { cwd, env: bareEnvironment(home, env) });
    expect(ended.code).toBe(2);
    expect(ended.stderr).toMatch(text);
    expect(ended.stdout.toString()).toBe('');
  });

  it('in the file of a project does so too, and names the file', async () => {
    const project = await temporaryFolder(afterAll);
    await writeFile(join(project, 'bmad-mcp.toml'), 'toolsets = ["bmda"]\n');
    const options = { cwd: project, env: bareEnvironment(home) };
    for (const ended of [await bmadServer(['--test'], options), await bmad(['config', 'show'], options)]) {
      expect(ended.code).toBe(2);
      expect(ended.stderr).toContain(
        `project file ${join(project, 'bmad-mcp.toml')}: there is no toolset "bmda"`,
      );
    }
  });
});

describe('the tools of a server', () => {
  it('are those of the sets, without excluded ones, which cannot be called', async () => {
    const client = await connect(['--toolsets', 'bmad,workflows', '--exclude-tools', 'execute_task,bmad']);
    expect(await toolNames(client)).toEqual([
      'list_workflows',
      'get_workflow_details',
      'execute_workflow',
      'list_tasks',
      'get_knowledge',
    ]);
    const { error } = await client.request('tools/call', {
      name: 'execute_task',
      arguments: { task_name: 'x' },
    });
    expect(error?.code).toBe(-32_602);
    expect(error?.message).toContain(
      'The tool "execute_task" is turned off: exclude_tools (flag --exclude-tools).',
    );
    const other = await client.request('tools/call', { name: 'bmm-architect', arguments: { message: 'x' } });
    expect(other.error?.message).toContain('It is in the toolset "agents"');
  });

  it('come from variables too, and the instructions name only what is there', async () => {
    const env = { BMAD_TOOLSETS: 'agents', BMAD_EXCLUDE_TOOLS: '*-dev' };
    const client = linesHere({ cwd, home, env });
    afterAll(() => client.close());
    const { result } = await client.initialize();
    expect(result?.['instructions']).toContain('"bmad-workflow"');
    expect(result?.['instructions']).not.toContain('the tool "bmad"');
    expect(await toolNames(client)).toEqual([
      'bmad-workflow',
      'bmad-resources',
      'bmm-analyst',
      'bmm-architect',
      'bmm-pm',
      'bmm-ux-designer',
    ]);
  });

  it('have no pages, so that any cursor is one of another list', async () => {
    const client = await connect([]);
    const { error } = await client.request('tools/list', { cursor: 'l12345678-5' });
    expect([error?.code, error?.message]).toEqual([-32_602, expect.stringContaining('cursor')]);
  });

  it('are shown by config show, with what decided', async () => {
    const { stdout, code } = await bmad(['config', 'show', '--toolsets', 'workflows', '--read-only'], {
      cwd,
      env: bareEnvironment(home, { BMAD_EXCLUDE_TOOLS: 'get_knowledge' }),
    });
    expect(code).toBe(0);
    const text = stdout.toString();
    expect(text).toContain('| read_only | true | flag --read-only |');
    expect(text).toContain('| bmad | bmad | no | toolsets (flag --toolsets): workflows |');
    expect(text).toContain(
      '| get_knowledge | workflows | no | exclude_tools (environment BMAD_EXCLUDE_TOOLS) |',
    );
    expect(text).toContain('| list_tasks | workflows | yes | toolsets (flag --toolsets) |');
  });
});
