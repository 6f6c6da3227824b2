import { afterAll, describe, expect, it } from 'vitest';
import { openSession, saidIn } from '../../../tests/support/operations.ts';
import type { Item } from './list-items.ts';
import { list } from './list.ts';

const session = await openSession(afterAll);

interface Listed {
  total: number;
  from: number;
  items: Item[];
  next?: string;
  note?: string;
}

async function listed(input: unknown): Promise<Listed> {
  return (await session.ok(list, input)).data as unknown as Listed;
}

describe('list', () => {
  it('lists the five agents of BMAD 6.12', async () => {
    const { items, total } = await listed({ what: 'agents' });
    expect(total).toBe(5);
    expect(items.map(({ name, title }) => [name, title])).toEqual([
      ['analyst', 'Mary 📊 Business Analyst'],
      ['architect', 'Winston 🏗️ System Architect'],
      ['dev', 'Amelia 💻 Senior Software Engineer'],
      ['pm', 'John 📋 Product Manager'],
      ['ux-designer', 'Sally 🎨 UX Designer'],
    ]);
  });

  it.each([
    ['workflows', 22],
    ['skills', 2],
    ['tasks', 0],
    ['modules', 2],
  ])('counts %s', async (what, total) => {
    expect((await listed({ what })).total).toBe(total);
  });

  it('says that tasks have become something else', async () => {
    expect((await session.ok(list, { what: 'tasks' })).answer).toEqual({
      body: 'No tasks.',
      note: '0 tasks. This version of BMAD has no tasks: former tasks are now workflows and skills.',
    });
  });

  it('lists the 21 old names on request only', async () => {
    expect((await listed({ what: 'workflows' })).note).toBe(
      '21 old names still work when called; the category "deprecated" lists them.',
    );
    const { items, total } = await listed({ what: 'workflows', category: 'deprecated', limit: 200 });
    expect(total).toBe(21);
    expect(items.find(({ name }) => name === 'create-prd')).toMatchObject({
      replacedBy: 'bmad-prd',
      module: 'bmm',
    });
  });

  it('filters by module, phase and words', async () => {
    expect((await listed({ what: 'workflows', module: 'core' })).items.map(({ name }) => name)).toEqual([
      'advanced-elicitation',
      'brainstorming',
      'deep-recon',
      'forge-idea',
      'party-mode',
      'review',
    ]);
    expect((await listed({ what: 'workflows', category: 'ship' })).total).toBe(7);
    // The folder of bmad-prd says "plan" and its help row says "2-planning", as earlier versions did.
    expect(
      (await listed({ what: 'workflows', category: '2-planning' })).items.map(({ name }) => name),
    ).toEqual(['prd', 'spec', 'ux']);
    expect(
      (await listed({ what: 'workflows', query: 'Epics stories' })).items.map(({ name }) => name),
    ).toContain('create-epics-and-stories');
  });

  it('filters resources by pattern', async () => {
    const { items } = await listed({ what: 'resources', pattern: 'core/*.{yaml' });
    expect(items).toEqual([]);
    const csv = await listed({ what: 'resources', pattern: '**/*.csv' });
    expect(csv.items.map(({ name }) => name)).toContain('_config/bmad-help.csv');
    expect(csv.items.every(({ name, uri }) => name.endsWith('.csv') && uri === `bmad://${name}`)).toBe(true);
  });

  it('pages through everything exactly once', async () => {
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await listed({
        what: 'resources',
        limit: 37,
        ...(cursor === undefined ? {} : { cursor }),
      });
      names.push(...page.items.map(({ name }) => name));
      cursor = page.next;
    } while (cursor !== undefined);
    const whole = await listed({ what: 'resources', limit: 1 });
    expect(names.length).toBe(whole.total);
    expect(new Set(names).size).toBe(whole.total);
  });

  it('stays within the size of an answer', async () => {
    const { answer } = await session.ok(list, { what: 'resources', limit: 200, detail: 'full' });
    expect(Buffer.byteLength(answer.body + (answer.note ?? ''))).toBeLessThanOrEqual(10_000);
    expect(saidIn(answer)).toMatch(
      /\nRead the next part: bmad \{operation:"list", query:"resources", limit:200, detail:"full", cursor:"l[0-9a-f]{8}-\d+"\}$/,
    );
  });

  it.each([
    [
      { what: 'agents', module: 'nope' },
      'not_found',
      'There is no module "nope".',
      'Known modules: bmm, core, tea, bmb, cis, gds.',
    ],
    [
      { what: 'workflows', category: 'shipp' },
      'not_found',
      'There is no category "shipp" here.',
      'Categories: analysis, planning, solutioning, implementation, other, deprecated. Phases of this BMAD: 2-planning, anytime, plan, ship.',
    ],
    [
      { what: 'agents', pattern: '**' },
      'invalid_input',
      '"pattern" filters resources, not agents.',
      'Use "query" to filter by words.',
    ],
    [
      { what: 'agents', cursor: 'l00000000-3' },
      'invalid_input',
      'The cursor does not belong to this answer, or the content has changed since.',
      'Repeat the call without a cursor, and use the cursor it returns.',
    ],
    [
      { what: 'resources', pattern: '../../**' },
      'invalid_input',
      'The pattern "../../**" leaves the BMAD content.',
      'Patterns are relative to the content, such as "core/**/*.csv".',
    ],
  ])('refuses %j', async (input, code, message, hint) => {
    const error = await session.fail(list, input);
    expect([error.code, error.message, error.hint]).toEqual([code, message, hint]);
  });
});
