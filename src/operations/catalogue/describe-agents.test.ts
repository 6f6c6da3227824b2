import { afterAll, describe, expect, it } from 'vitest';
import { writeFiles } from '../../../tests/support/folders.ts';
import { installOf, type Version } from '../../../tests/support/installs.ts';
import { openSession, type Session } from '../../../tests/support/operations.ts';
import { describeAgents } from './records.ts';
import { list } from './list.ts';
import { usually } from '../../../tests/support/how-much.ts';

interface Agent {
  name: string;
  persona?: string;
  menuItems?: string[];
  workflows?: string[];
  workflowMenuItems?: string[];
}

const inInstall = async (version: Version): Promise<Session> =>
  openSession(afterAll, {
    flags: { project: await installOf(version), discovery: 'local', answerBytes: '400000' },
  });
const agentsOf = async (session: Session, input = {}): Promise<Agent[]> =>
  (await session.ok(describeAgents, input)).data['agents'] as Agent[];
const listed = async (session: Session, what: string): Promise<string[]> =>
  ((await session.ok(list, { what, limit: 200 })).data['items'] as Agent[]).map(({ name }) => name);

describe('describe_agents', () => {
  it('tells who an agent is and what it starts', async () => {
    const [agent] = await agentsOf(await openSession(afterAll), { name: 'Winston' });
    expect(agent).toMatchObject({
      name: 'architect',
      title: 'System Architect',
      displayName: 'Winston',
      module: 'bmm',
      workflows: ['architecture', 'sprint-planning'],
    });
    expect(agent?.persona).toMatch(/architect/i);
    expect(agent?.menuItems?.[0]).toMatch(/^CA: /);
    expect(agent?.workflowMenuItems).toEqual(agent?.menuItems);
  });

  it.each(usually(['6.0.0-alpha.7', '6.0.0-alpha.22', '6.2.0', '6.3.0', '6.12.0']))(
    'has all agents of %s, each with a persona and workflows that are there',
    async (version) => {
      const session = await inInstall(version);
      const agents = await agentsOf(session);
      expect(agents.map(({ name }) => name)).toEqual(await listed(session, 'agents'));
      const startable = new Set([
        ...(await listed(session, 'workflows')),
        ...(await listed(session, 'tasks')),
        ...(await listed(session, 'skills')),
      ]);
      const named = agents.flatMap(({ workflows = [] }) => workflows);
      expect(named.length).toBeGreaterThan(5);
      expect(named.filter((name) => !startable.has(name))).toEqual([]);
      expect(agents.filter(({ persona }) => persona === undefined)).toEqual([]);
    },
  );

  it('leaves out what an agent does not have', async () => {
    const session = await openSession(afterAll, { flags: { discovery: 'local' } });
    await writeFiles(session.folder, {
      'bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.7\nmodules:\n  - bmm\n',
      'bmad/bmm/agents/bare.md': '---\nname: bare\ndescription: Bare\n---\n<agent id="a" name="B"></agent>\n',
    });
    expect(await agentsOf(session)).toEqual([
      { name: 'bare', title: 'B', displayName: 'B', description: 'Bare', module: 'bmm' },
    ]);
    expect((await session.fail(describeAgents, { name: 'nobody' })).code).toBe('not_found');
  });
});
