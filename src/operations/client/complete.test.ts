import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../../tests/support/operations.ts';
import { complete } from './prompts.ts';

const session = await openSession(afterAll);

describe('complete', () => {
  it.each([
    [{ what: 'agent', value: 'a' }, ['analyst', 'architect']],
    [{ what: 'agent', value: 'signer' }, ['ux-designer']],
    [
      { what: 'workflow', value: 'pr' },
      ['prd', 'prfaq', 'product-brief', 'project-context', 'sprint-planning'],
    ],
    [{ what: 'agent', value: 'Winst' }, ['architect']],
    [{ what: 'agent', value: 'archtiec' }, ['architect']],
    [{ what: 'workflow', value: 'retrospectve' }, ['retrospective']],
    [{ what: 'workflow', value: 'zzzzzz' }, []],
    [{ what: 'path', value: 'bmm/module' }, ['bmm/module-help.csv', 'bmm/module.yaml']],
    [
      { what: 'message', value: 'ca', target: 'bmm/bmad-agent-architect' },
      ['CA: Produce the architecture spine: the invariants that keep independently-built units consistent'],
    ],
    [{ what: 'skill', value: 'core/bmad-h' }, ['core/bmad-help/SKILL.md']],
    [{ what: 'message', value: '' }, []],
  ])('completes %j', async (input, values) => {
    expect((await session.ok(complete, input)).data['values']).toEqual(values);
  });

  it('gives at most a hundred values and the true total', async () => {
    const { values, total } = (await session.ok(complete, { what: 'path', value: '' })).data as {
      values: string[];
      total: number;
    };
    expect(values.length).toBe(100);
    expect(total).toBeGreaterThan(240);
  });
});
