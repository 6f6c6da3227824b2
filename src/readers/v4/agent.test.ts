import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { installOf } from '../../../tests/support/installs.ts';
import { folderTree } from '../../sources/tree.ts';
import { dependencyFile, readV4Agent } from './agent.ts';

const agentFile = (yaml: string): string => `# dev\n\nRead the block.\n\n\`\`\`yaml\n${yaml}\n\`\`\`\n`;
const parse = (yaml: string) => readV4Agent('agents/dev.md', agentFile(yaml)).agent;

describe('an agent of version 4', () => {
  it('is the first YAML block that describes one', () => {
    const yaml =
      'agent:\n  name: James\n  id: dev\n  title: Full Stack Developer\n  icon: 💻\n' +
      '  whenToUse: >-\n    Use for code\n    and tests\ncommands:\n  - help: Show commands\n' +
      'dependencies:\n  tasks:\n    - execute-checklist.md\n  data:\n';
    const agent = {
      id: 'dev',
      name: 'James',
      title: 'Full Stack Developer',
      icon: '💻',
      whenToUse: 'Use for code and tests',
      dependencies: { tasks: ['execute-checklist.md'], data: [] },
    };
    expect(readV4Agent('agents/dev.md', agentFile(yaml))).toEqual({ agent });
    const after = `\`\`\`yaml\nexample: true\n\`\`\`\n${agentFile(yaml)}`;
    expect(readV4Agent('agents/dev.md', after).agent).toEqual(agent);
    const windows = `\uFEFF${agentFile(yaml).replace('```yaml', '``` YML').replaceAll('\n', '\r\n')}`;
    expect(readV4Agent('agents/dev.md', windows)).toEqual({ agent });
    const unclosed = agentFile(yaml).replace(/```\n$/, '');
    expect(readV4Agent('agents/dev.md', unclosed).agent).toEqual(agent);
  });

  it('has dependencies in any of the shapes that packs use', () => {
    const dependencies = (yaml: string) => parse(`agent: {name: A}\ndependencies:\n${yaml}`).dependencies;
    expect(dependencies('  tasks:\n    - a.md\n    - b\n  data: kb.md\n  utils:\n')).toEqual({
      tasks: ['a.md', 'b'],
      data: ['kb.md'],
      utils: [],
    });
    expect(dependencies('  - tasks: [a.md]\n  - tasks: [b.md]\n  - loose\n')).toEqual({
      tasks: ['a.md', 'b.md'],
    });
    expect(dependencies('  tasks:\n    a.md: first\n    b.md:\n')).toEqual({ tasks: ['a.md', 'b.md'] });
  });

  it('is saved from a block that does not parse, section by section', () => {
    // Early versions shipped their commands like this.
    const text = agentFile(
      'agent:\n  name: James\n  title: "Full Stack: Developer"\n  whenToUse: Use it\n' +
        'commands:\n  - "*help" - Show commands\n  - "*done" - Set to "Review"\n  - lint: Run: all\n' +
        'dependencies:\n  tasks:\n    - execute-checklist',
    );
    expect(readV4Agent('agents/dev.md', text)).toMatchObject({
      problem: { file: 'agents/dev.md', line: 11 },
      agent: {
        id: 'dev',
        name: 'James',
        title: 'Full Stack: Developer',
        whenToUse: 'Use it',
        dependencies: { tasks: ['execute-checklist'] },
      },
    });
  });

  it('is saved line by line where a section does not parse either', () => {
    const text = agentFile(
      'agent:\n  name: "Jay\n  title: Dev: Full Stack\n  icon: \'🎯\n  whenToUse: |\n    many lines\n' +
        'dependencies:\n  tasks:\n    - "a.md\n    - b.md\n  data: # none\n',
    );
    expect(readV4Agent('agents/dev.md', text)).toEqual({
      problem: { file: 'agents/dev.md', line: expect.any(Number), message: expect.any(String) },
      agent: {
        id: 'dev',
        name: 'Jay',
        title: 'Dev: Full Stack',
        icon: '🎯',
        whenToUse: '',
        dependencies: { tasks: ['a.md', 'b.md'], data: [] },
      },
    });
  });

  it('goes by its file name when the file says nothing', () => {
    for (const text of [
      '',
      '# Notes\n',
      '```yaml\n```',
      '```yaml\n- a\n- b\n```\n',
      '```yaml\nagent:\n```',
    ]) {
      expect(readV4Agent('agents/dev.md', text), text).toEqual({
        problem: { file: 'agents/dev.md', message: 'The file has no YAML block that describes an agent.' },
        agent: {
          id: 'dev',
          name: 'dev',
          title: '',
          icon: '',
          whenToUse: '',
          dependencies: {},
        },
      });
    }
  });

  it('finds what a dependency means, with another extension or none', () => {
    const files = ['tasks/a.md', 'tasks/a.md.bak1', 'tasks/v1.2-notes.md', 'workflows/ui.yaml'];
    const find = (type: string, name: string) => dependencyFile(files, type, name);
    expect([find('tasks', 'a.md'), find('tasks', 'a'), find('tasks', 'v1.2-notes')]).toEqual([
      'tasks/a.md',
      'tasks/a.md',
      'tasks/v1.2-notes.md',
    ]);
    expect([find('workflows', 'ui.md'), find('tasks', 'ui'), find('tasks', 'b.md')]).toEqual([
      'workflows/ui.yaml',
      undefined,
      undefined,
    ]);
  });
});

describe('the agents of BMAD 4.44.3', async () => {
  const root = await installOf('4.44.3');
  const files = (await folderTree(root, 1_000_000).files()).filter((file) => file.startsWith('.bmad-'));
  const agents = await Promise.all(
    files
      .filter((file) => file.includes('/agents/'))
      .map(async (file) => ({ file, ...readV4Agent(file, await readFile(join(root, file), 'utf8')) })),
  );

  it('all have a name and a title, and parse', () => {
    expect(agents.length).toBe(43);
    for (const { file, agent, problem } of agents) {
      expect(problem, file).toBeUndefined();
      expect([agent.id, agent.name, agent.title], file).not.toContain('');
    }
    expect(agents.filter(({ agent }) => agent.icon === '').map(({ file }) => file)).toEqual([
      '.bmad-infrastructure-devops/agents/infra-devops-platform.md',
    ]);
  });

  it('have all their dependencies beside them', () => {
    const lost = agents.flatMap(({ file, agent }) => {
      const folder = file.slice(0, file.indexOf('/') + 1);
      const inside = files.filter((name) => name.startsWith(folder)).map((name) => name.slice(folder.length));
      return Object.entries(agent.dependencies).flatMap(([type, names]) =>
        names.filter((name) => dependencyFile(inside, type, name) === undefined).map((name) => [file, name]),
      );
    });
    expect(lost).toEqual([]);
  });

  it('say who they are and what they depend on', () => {
    const dev = agents.find(({ file }) => file === '.bmad-core/agents/dev.md')?.agent;
    expect(dev).toMatchInlineSnapshot(`
      {
        "dependencies": {
          "checklists": [
            "story-dod-checklist.md",
          ],
          "tasks": [
            "apply-qa-fixes.md",
            "execute-checklist.md",
            "validate-next-story.md",
          ],
        },
        "icon": "💻",
        "id": "dev",
        "name": "James",
        "persona": {
          "focus": "Executing story tasks with precision, updating Dev Agent Record sections only, maintaining minimal context overhead",
          "identity": "Expert who implements stories by reading requirements and executing tasks sequentially with comprehensive testing",
          "role": "Expert Senior Software Engineer & Implementation Specialist",
          "style": "Extremely concise, pragmatic, detail-oriented, solution-focused",
        },
        "title": "Full Stack Developer",
        "whenToUse": "Use for code implementation, debugging, refactoring, and development best practices",
      }
    `);
  });
});
