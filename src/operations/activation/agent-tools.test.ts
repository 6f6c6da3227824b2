import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { installOf, type Version } from '../../../tests/support/installs.ts';
import { openSession, type Session } from '../../../tests/support/operations.ts';
import { activate } from './activate.ts';
import { AGENT_TOOL_LIMIT, agentOperation, findAgentTool, listAgentTools } from './agent-tools.ts';
import { execute } from '../execute.ts';
import { ofUsual } from '../../../tests/support/how-much.ts';

type Item = Parameters<typeof agentOperation>[0];

async function toolsOf(session: Session): Promise<Item[]> {
  return (await session.ok(listAgentTools)).data['items'] as Item[];
}

async function over(version: Version): Promise<Session> {
  const project = await installOf(version);
  return openSession(afterAll, { flags: { project, discovery: 'local', toolsets: ['agents'] } });
}

const session = await openSession(afterAll, { flags: { toolsets: ['agents'] } });

describe('the tools of agents', () => {
  it('are named {module}-{agent}', async () => {
    expect((await toolsOf(session)).map(({ name }) => name)).toEqual([
      'bmm-analyst',
      'bmm-architect',
      'bmm-dev',
      'bmm-pm',
      'bmm-ux-designer',
    ]);
  });

  it.each(
    ofUsual([
      [
        '4.44.3',
        38,
        'bmad-core-architect',
        /^Architect \(Winston\) - Holistic System Architect.*Master of holistic/,
      ],
      ['6.0.0-alpha.7', 19, 'bmm-architect', /^Architect \(Winston\) - System Architect/],
      ['6.0.0-alpha.22', 25, 'bmm-architect', /^Architect \(Winston\) - .*Senior architect with expertise/],
      ['6.3.0', 6, 'bmm-architect', /^.*Winston.* - .*Senior architect with expertise/],
      ['6.12.0', 5, 'bmm-architect', /^System Architect \(Winston\) - Convert the PRD/],
    ] as const),
  )('say on %s who an agent is and what it can do', async (version, count, name, description) => {
    const tools = await toolsOf(await over(version));
    expect(tools).toHaveLength(count);
    const tool = tools.find((candidate) => candidate.name === name);
    expect(tool?.description).toMatch(description);
    expect(tool?.description).toMatch(/\n\nAvailable actions:\n• .*[Aa]rchitecture/s);
    for (const each of tools) {
      expect(each.name).toMatch(/^[a-z0-9_-]{1,40}$/);
      expect(each.description.length).toBeLessThanOrEqual(1_000);
      expect(each.description).not.toMatch(/Redisplay Menu|Dismiss Agent/);
    }
  });

  it('start the agent with the message', async () => {
    const { data: tool } = await session.ok(findAgentTool, { name: 'bmm-architect' });
    const operation = agentOperation(tool as Item);
    const { data } = await session.ok(operation, { message: 'Review this' });
    expect(data).toEqual((await session.ok(activate, { name: 'architect', message: 'Review this' })).data);
    expect((await session.fail(operation, {})).message).toBe('bmm-architect: "message" is missing.');
    expect((await session.fail(operation, { message: 7 })).message).toContain('bmm-architect: "message"');
    expect((await session.fail(operation, { message: 'x', cursor: 'l12345678-3' })).message).toContain(
      'cursor',
    );
  });

  it('are found by the name of the agent people know', async () => {
    const error = await session.fail(findAgentTool, { name: 'core-john' });
    expect([error.message, error.suggestions[0]]).toEqual(['There is no tool "core-john".', 'bmm-pm']);
    expect((await session.fail(findAgentTool, { name: 'bmm-architct' })).suggestions[0]).toBe(
      'bmm-architect',
    );
    expect((await session.fail(findAgentTool, { name: '' })).message).toBe('There is no tool "".');
  });

  it('are not suggested where this caller may not use them', async () => {
    const context = await contextIn(await temporaryFolder(afterAll), { flags: { toolsets: ['memory'] } });
    const told = async (mayWrite: boolean): Promise<string> => {
      const call = { ...testCall(), overHttp: true, mayWrite };
      const outcome = await execute(findAgentTool, { name: 'remember_structure' }, context, call);
      return outcome.ok ? '' : outcome.error.text;
    };
    expect(await told(true)).toContain('remember_structured');
    expect(await told(false)).toContain('recall_structured');
    expect(await told(false)).not.toContain('remember_structured');
  });

  it('are not there when excluded or not switched on', async () => {
    const excluding = await openSession(afterAll, {
      flags: { toolsets: ['agents'], excludeTools: ['bmm-dev', '*-pm'] },
    });
    expect((await toolsOf(excluding)).map(({ name }) => name)).toEqual([
      'bmm-analyst',
      'bmm-architect',
      'bmm-ux-designer',
    ]);
    const error = await excluding.fail(findAgentTool, { name: 'bmm-dev' });
    expect([error.code, error.message]).toEqual([
      'forbidden',
      'The tool "bmm-dev" is turned off: exclude_tools (flag --exclude-tools).',
    ]);
    const one = await openSession(afterAll, { flags: { tools: ['bmm-dev'] } });
    expect((await toolsOf(one)).map(({ name }) => name)).toEqual(['bmm-dev']);
    expect((await one.fail(findAgentTool, { name: 'bmm-pm' })).message).toContain(
      'toolsets (default): bmad, project, memory',
    );
  });
});

describe('many agents', () => {
  it('have tools up to a limit, those named first, and the rest is counted', async () => {
    const folder = await temporaryFolder(afterAll);
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [
        `_bmad/big/agents/helper-${index}.md`,
        `---\nname: helper-${index}\n---\n<agent id="x" name="Name${index}" title="Helper ${index}">\n<persona><identity>${'Knows a lot. '.repeat(200)}</identity></persona>\n<menu>${'<item cmd="*x">Do something useful</item>'.repeat(50)}</menu></agent>\n`,
      ]),
    );
    await writeFiles(folder, {
      ...files,
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.4\nmodules:\n  - big\n',
      '_bmad/big/config.yaml': 'user_name: Ada\n',
    });
    const many = await openSession(afterAll, {
      flags: { project: folder, discovery: 'local', toolsets: ['agents'], tools: ['big-helper-299'] },
    });
    const { data } = await many.ok(listAgentTools);
    const items = data['items'] as Item[];
    expect(items).toHaveLength(AGENT_TOOL_LIMIT);
    expect(data['leftOut']).toBe(300 - AGENT_TOOL_LIMIT);
    expect(items.map(({ name }) => name)).toContain('big-helper-299');
    const length = items.reduce((sum, { description }) => sum + description.length, 0);
    expect(length).toBeLessThanOrEqual(32_000);
  });
});
