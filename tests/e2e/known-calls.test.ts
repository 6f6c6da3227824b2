import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { installOf } from '../support/installs.ts';
import { type Lines, linesHere, type Message } from '../support/line-client.ts';

const home = await temporaryFolder(afterAll);

async function connect(cwd: string, toolsets: string): Promise<Lines> {
  const client = linesHere({ cwd, home, args: ['--toolsets', toolsets] });
  await client.initialize();
  afterAll(() => client.close());
  return client;
}

function resultOf({ result, error }: Message): Record<string, unknown> {
  if (result === undefined) throw new Error(error?.message);
  return result;
}

function textOf(message: Message): string {
  return (resultOf(message)['content'] as { text: string }[]).map(({ text }) => text).join('\n');
}

/** The calls that users of a tool for each agent know, as they go over the wire. */
describe('the tools of agents, over JSON-RPC', async () => {
  const client = await connect(await temporaryFolder(afterAll), 'agents');
  const call = async (id: number, name: string, args: Record<string, unknown>): Promise<Message> => {
    await client.send({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } });
    return client.answer(id);
  };
  const message = 'Help me analyze the market opportunity for a new SaaS product targeting small businesses';

  it('lists tools with a name, a description and a schema', async () => {
    const tools = resultOf(await client.request('tools/list', {}))['tools'] as Record<string, unknown>[];
    expect(tools.find(({ name }) => name === 'bmm-pm')).toMatchObject({
      description: expect.stringMatching(
        /^Product Manager \(John\) - .*\n\nAvailable actions:\n• /s,
      ) as string,
      inputSchema: {
        type: 'object',
        properties: {
          message: { type: 'string', description: expect.stringContaining('Product Manager') as string },
        },
        required: ['message'],
      },
    });
    expect(tools.find(({ name }) => name === 'bmad-resources')).toMatchObject({
      inputSchema: {
        properties: {
          operation: { enum: ['read', 'list', 'modules', 'agents', 'workflows', 'search'] },
          type: { enum: ['agents', 'workflows', 'all'] },
        },
        required: ['operation'],
      },
    });
  });

  it('answers a persona of another module with the tool that is meant', async () => {
    const { error } = await call(1, 'core-john', { message });
    expect(error).toMatchObject({ code: -32_602, data: { name: 'core-john', suggestions: ['bmm-pm'] } });
  });

  it('starts an agent with a message', async () => {
    const text = textOf(await call(11, 'bmm-pm', { message }));
    expect(text).toMatch(/^# John 📋, Product Manager/);
    expect(text).toContain(message);
  });

  it('executes a workflow with a context', async () => {
    const prd = textOf(
      await call(2, 'bmad-workflow', { workflow: 'prd', context: 'Create a PRD for a task management app' }),
    );
    expect(prd).toMatch(/^# .*workflow bmm\/bmad-prd/);
    expect(prd).toContain('Create a PRD for a task management app');
    const context = 'target_platform: web, team_size: 5, timeline: 3_months';
    const architecture = textOf(await call(3, 'bmad-workflow', { workflow: 'architecture', context }));
    expect(architecture).toMatch(/^# .*workflow bmm\/bmad-architecture/);
    expect(architecture).toContain(context);
  });

  it('reads a file, and says which exist when one does not', async () => {
    const wrong = await call(4, 'bmad-resources', {
      operation: 'read',
      uri: 'bmad://core/workflows/prd-workflow.yaml',
    });
    expect(wrong.result?.['isError']).toBe(true);
    expect(textOf(wrong)).toContain('There is no file "bmad://core/workflows/prd-workflow.yaml".');
    expect(textOf(wrong)).toContain('bmad-resources {operation:"list", pattern:"core/**"}');
    expect(
      textOf(await call(41, 'bmad-resources', { operation: 'read', uri: 'bmad://core/config.yaml' })),
    ).toContain('communication_language:');
  });

  it('lists files by pattern', async () => {
    expect(
      textOf(await call(5, 'bmad-resources', { operation: 'list', pattern: '**/workflows/*.yaml' })),
    ).toMatch(/^No resources\./);
    expect(
      textOf(await call(51, 'bmad-resources', { operation: 'list', pattern: '**/bmad-spec/*' })),
    ).toContain('bmad://bmm/plan/bmad-spec/SKILL.md');
  });

  it('searches agents, and lists them', async () => {
    const found = await call(6, 'bmad-resources', {
      operation: 'search',
      query: 'product manager',
      type: 'agents',
    });
    expect(textOf(found)).toMatch(/^- \*\*pm\*\* John 📋 Product Manager/);
    expect(textOf(await call(7, 'bmad-resources', { operation: 'agents' }))).toContain(
      '- **architect** Winston',
    );
  });

  it('lists and reads resources', async () => {
    const { result } = await client.request('resources/read', { uri: 'bmad://core/config.yaml' });
    expect(result?.['contents']).toMatchObject([
      { uri: 'bmad://core/config.yaml', mimeType: 'application/x-yaml' },
    ]);
  });
});

/** The conversation that users of the tools for workflows know, on a BMAD of those days. */
describe('the tools for workflows', async () => {
  const client = await connect(await installOf('6.0.0-alpha.7'), 'workflows');
  const call = (name: string, args: Record<string, unknown>): Promise<Message> =>
    client.request('tools/call', { name, arguments: args });

  it('finds workflows of a category, as JSON', async () => {
    const answer = await call('list_workflows', { category: 'analysis', module: 'bmm' });
    const data = JSON.parse(textOf(answer)) as { workflows: Record<string, string>[] };
    expect(data.workflows.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['brainstorm-project', 'product-brief', 'research']),
    );
    expect(data.workflows.find(({ name }) => name === 'brainstorm-project')).toMatchObject({
      module: 'bmm',
      category: 'analysis',
      path: 'bmm/workflows/1-analysis/brainstorm-project/workflow.yaml',
    });
  });

  it('tells about one, then starts it', async () => {
    const details = await call('get_workflow_details', { workflow_name: 'brainstorm-project' });
    expect(JSON.parse(textOf(details))).toMatchObject({
      name: 'bmm/brainstorm-project',
      author: 'BMad',
      module: 'bmm',
      phase: '1-analysis',
    });
    const started = await call('execute_workflow', {
      workflow_name: 'brainstorm-project',
      params: { topic: 'a new project' },
    });
    expect(textOf(started)).toMatch(/^# .*workflow bmm\/brainstorm-project/);
    expect(textOf(started)).toContain('topic: a new project');
    expect(textOf(started)).toContain(
      'BEGIN bmad://bmm/workflows/1-analysis/brainstorm-project/instructions.md',
    );
  });

  it('lists and starts tasks, and loads knowledge', async () => {
    const { tasks } = JSON.parse(textOf(await call('list_tasks', {}))) as { tasks: { name: string }[] };
    expect(tasks.length).toBeGreaterThanOrEqual(5);
    const task = await call('execute_task', { task_name: tasks[0]?.name ?? '' });
    expect(textOf(task)).toMatch(/^# /);
    expect(textOf(await call('get_knowledge', { domain: 'testarch' }))).toContain('**network-first**');
  });

  it('has the prompts of the agents, usable without an argument', async () => {
    const prompts = resultOf(await client.request('prompts/list', {}))['prompts'] as {
      name: string;
      title: string;
    }[];
    expect(prompts.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['bmad-analyst', 'bmad-architect']),
    );
    const got = await client.request('prompts/get', { name: 'bmad-analyst' });
    expect(JSON.stringify(got.result?.['messages'])).toContain('# Mary');
  });
});
