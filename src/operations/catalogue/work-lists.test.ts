import { afterAll, describe, expect, it } from 'vitest';
import { installOf } from '../../../tests/support/installs.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { listTasks, listWorkflows } from './details.ts';

interface Entry {
  name: string;
  module: string;
  path: string;
  category: string;
  kind: string;
}

const newest = await openSession(afterAll);
const alpha = await openSession(afterAll, {
  flags: { project: await installOf('6.0.0-alpha.7'), discovery: 'local' },
});

async function workflows(session: typeof newest, args: Record<string, unknown> = {}): Promise<Entry[]> {
  return (await session.ok(listWorkflows, args)).data['workflows'] as Entry[];
}

describe('list_workflows', () => {
  it('maps the phases of the newest BMAD', async () => {
    const { data } = await newest.ok(listWorkflows);
    expect(data['total']).toBe(22);
    expect(data['categories']).toEqual({
      analysis: 6,
      planning: 3,
      solutioning: 2,
      implementation: 8,
      other: 3,
    });
    const byName = new Map((data['workflows'] as Entry[]).map((entry) => [entry.name, entry]));
    expect(byName.get('prd')).toMatchObject({ module: 'bmm', category: 'planning', phase: 'plan' });
    expect(byName.get('build')).toMatchObject({ category: 'implementation', phase: 'ship' });
    expect(byName.get('brainstorming')).toMatchObject({ module: 'core', category: 'analysis' });
  });

  it('takes a workflow’s folder, not its name, for its category', async () => {
    const found = await workflows(alpha, { category: 'implementation', module: 'bmm' });
    expect(found.map(({ name }) => name)).toContain('sprint-planning');
    expect(found.every(({ path }) => path.includes('/4-implementation/'))).toBe(true);
  });

  it('counts the numbered phases of other modules too', async () => {
    const games = await workflows(alpha, { category: 'solutioning', module: 'bmgd' });
    expect(games.length).toBeGreaterThan(0);
    expect(games.every(({ path }) => path.includes('/3-technical/'))).toBe(true);
  });

  it('takes a phase of this BMAD as well', async () => {
    const found = await workflows(alpha, { category: 'testarch' });
    expect(found).toHaveLength(8);
    expect(found.every(({ category }) => category === 'other')).toBe(true);
  });

  it('says where the workflows are when a category is empty', async () => {
    const { data } = await newest.ok(listWorkflows, { category: 'solutioning', module: 'core' });
    expect(data).toMatchObject({ workflows: [], total: 0, note: expect.stringContaining('categories') });
  });

  it('comes in pages that fit into an answer, whose cursors lead through all of it', async () => {
    const names = new Set<string>();
    let cursor: string | undefined;
    do {
      const args: Record<string, unknown> = cursor === undefined ? {} : { cursor };
      const { data, answer } = await alpha.ok(listWorkflows, args);
      expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(10_000);
      expect(JSON.parse(answer.body)).toEqual(data);
      for (const { path } of data['workflows'] as Entry[]) names.add(path);
      cursor = data['next'] as string | undefined;
      expect(data['total']).toBe(62);
    } while (cursor !== undefined);
    expect(names.size).toBe(62);
  });

  it('refuses the cursor of another list', async () => {
    const { next } = (await alpha.ok(listWorkflows)).data;
    const error = await alpha.fail(listWorkflows, { module: 'bmm', cursor: next });
    expect(error.message).toContain('cursor');
    expect((await alpha.fail(listTasks, { cursor: next })).code).toBe('invalid_input');
  });

  it('lists the categories and modules there are when one is wrong', async () => {
    const category = await newest.fail(listWorkflows, { category: 'planing' });
    expect([category.code, category.suggestions]).toEqual([
      'not_found',
      expect.arrayContaining(['planning']) as unknown,
    ]);
    expect(category.hint).toContain('analysis, planning, solutioning, implementation, other');
    const module = await newest.fail(listWorkflows, { module: 'bmx' });
    expect(module.text).toContain('Known modules: bmm, core.');
    expect((await newest.fail(listWorkflows, { category: 7 })).message).toContain(
      '"category" must be text, not 7.',
    );
  });
});

describe('list_tasks', () => {
  it('lists tasks of an older BMAD', async () => {
    const { data } = await alpha.ok(listTasks);
    const tasks = (data['tasks'] as Entry[]).filter(({ kind }) => kind === 'task');
    expect(tasks.map(({ name }) => name)).toContain('index-docs');
    expect(tasks).toHaveLength(5);
    expect(data['note']).toBeUndefined();
  });

  it('lists plain skills where tasks have become skills, and says so', async () => {
    const { data } = await newest.ok(listTasks);
    expect((data['tasks'] as Entry[]).map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      'skill customize',
      'skill help',
    ]);
    expect(data['note']).toContain('no tasks');
  });
});
