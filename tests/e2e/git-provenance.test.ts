import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { agentFile, type TestRepository } from '../support/git-repository.ts';
import { textsOf } from '../support/mcp-client.ts';
import { connectHere } from '../support/mcp-here.ts';
import { GitMachine } from '../support/git-machine.ts';

let machine: GitMachine;
let team: TestRepository;
let source: string;
let commit: string;

beforeAll(async () => {
  machine = await GitMachine.make(afterAll);
  team = await machine.repository('team', {
    'agents/ada.md': agentFile('ada', 'Writes'),
    'agents/analyst.md': agentFile('analyst', 'Rival of a built-in name'),
  });
  commit = team.head;
  source = `${team.source}#main`;
  await machine.write(machine.config, `git = ["${source}"]\n`);
  await machine.bmad(['sources', 'update']);
});

async function json(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await machine.bmad([...args, '--json']);
  if (code !== 0) throw new Error(`bmad ${args.join(' ')}: ${code} ${stderr}`);
  return JSON.parse(stdout.toString()) as Record<string, unknown>;
}

describe('where content from git comes from', () => {
  it('is in lists', async () => {
    const { items } = (await json('list', 'agents', '--detail', 'full')) as { items: { name: string }[] };
    const ada = items.find(({ name }) => name === 'ada');
    expect(JSON.stringify(ada)).toContain(`hosts/team#main@${commit.slice(0, 8)}`);
  });

  it('is in explain, with the whole commit', async () => {
    const { candidates } = await json('explain', 'ada');
    expect(candidates).toMatchObject([{ chosen: true, priority: 5, git: { source, commit } }]);
    const { stdout } = await machine.bmad(['explain', 'ada']);
    expect(stdout.toString()).toContain(`${source}, commit ${commit}`);
    const file = await json('explain', 'bmad://agents/ada', '--kind', 'resource');
    expect(file['candidates']).toMatchObject([{ git: { source, commit } }]);
  });

  it('is a label on what is started, and never on built-in content', async () => {
    const label = `From outside the project: ${source}, commit ${commit.slice(0, 12)}.`;
    expect((await machine.bmad(['execute', 'ada'])).stdout.toString()).toContain(label);
    expect((await machine.bmad(['execute', 'dev'])).stdout.toString()).not.toContain(
      'From outside the project',
    );
  });

  it('goes with resources, prompts and the manifest of everything', async () => {
    const client = await connectHere({ cwd: machine.project, home: machine.home });
    try {
      const { resources } = await client.listResources();
      const uri = resources.find((resource) => resource.uri.endsWith('/ada.md'))?.uri ?? '';
      const [read] = (await client.readResource({ uri })).contents;
      expect(JSON.stringify(read?._meta)).toContain(commit.slice(0, 8));
      const prompts = (await client.listPrompts()).prompts.map(({ name }) => name);
      const name = prompts.find((prompt) => prompt.includes('ada')) ?? '';
      expect(JSON.stringify(await client.getPrompt({ name, arguments: {} }))).toContain(
        `From outside the project: ${source}`,
      );
      const [master] = (await client.readResource({ uri: 'bmad://manifests/master.json' })).contents;
      const text = master !== undefined && 'text' in master ? master.text : '';
      const { agents } = JSON.parse(text) as { agents: { name: string }[] };
      expect(agents.find((agent) => agent.name === 'ada')).toMatchObject({
        origin: { kind: 'git', git: { source, commit } },
      });
      const started = await client.callTool({
        name: 'bmad',
        arguments: { operation: 'execute', agent: 'ada' },
      });
      expect(textsOf(started).join('\n')).toContain('From outside the project');
    } finally {
      await client.close();
    }
  });

  it('is told where it takes a built-in name, whose content keeps its full name', async () => {
    const { stdout } = await machine.bmad(['execute', 'analyst']);
    expect(stdout.toString()).toContain(`From outside the project: ${source}`);
    const built = (await machine.bmad(['execute', 'bmm/analyst'])).stdout.toString();
    expect(built).toContain('Mary');
    expect(built).not.toContain('From outside the project');
    const { candidates } = await json('explain', 'analyst');
    expect(candidates).toMatchObject([{ chosen: true, git: { source, commit } }, { chosen: false }]);
  });
});
