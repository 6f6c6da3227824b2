import { describe, expect, it } from 'vitest';
import { search } from '../../src/operations/catalogue/search.ts';
import { project, type Row } from '../support/install-project.ts';
import type { Version } from '../support/installs.ts';

const BUILT_IN = 'BMAD 6.12.0 (built in)';

async function hits(version: Version, query: string, more: object = {}) {
  const { ask } = await project(version);
  const { data, answer } = await ask(search, { query, limit: 50, ...more });
  return { rows: data['items'] as (Row & { why: string })[], answer };
}

describe('search in a project with another BMAD than the built-in one', () => {
  it('4.44.3: finds what the project has for it, not the PRD workflow of 6.12', async () => {
    const { rows, answer } = await hits('4.44.3', 'shard the PRD');
    expect(rows.slice(0, 4).map(({ name }) => name)).toContain('shard-doc');
    expect(rows[0]?.origin).toMatch(/^Project/);
    expect(answer.steps?.[0]).toMatchObject({ operation: 'execute', args: { name: rows[0]?.name } });
    expect(rows.filter(({ name, origin }) => name === 'prd' && origin === BUILT_IN)).toEqual([]);
  });

  it.each<Version>(['4.44.3', '6.0.4'])(
    '%s: has all of its own before anything built in',
    async (version) => {
      const wrong: string[] = [];
      let beside = 0;
      for (const query of [
        'shard the PRD',
        'write the architecture',
        'review the code',
        'prepare the next story',
        'planifier le sprint',
        'write a spec',
      ]) {
        const { rows, answer } = await hits(version, query);
        const builtIn = rows.filter(({ origin }) => origin === BUILT_IN);
        if (builtIn.length === 0) continue;
        beside++;
        if (rows[0]?.origin === BUILT_IN) wrong.push(`${query}: ${rows[0].name} is first`);
        for (const { name } of builtIn)
          if (!new RegExp(`\\*\\*${name}\\*\\*.*BMAD 6\\.12\\.0 \\(built in\\)`).test(answer.body))
            wrong.push(`${query}: ${name} does not say where it is from`);
        if (!answer.note?.includes(`What is marked ${BUILT_IN} is not in the BMAD of this project`))
          wrong.push(`${query}: ${answer.note ?? ''}`);
      }
      expect(wrong).toEqual([]);
      expect(beside).toBeGreaterThan(0);
    },
  );

  it('4.44.3: a name of today leads to the agent that has it as a command', async () => {
    for (const [name, agent, command] of [
      ['prd', 'pm', '*create-prd'],
      ['sprint-planning', 'sm', '*draft'],
    ] as const)
      expect((await hits('4.44.3', name)).rows[0]).toMatchObject({
        name: agent,
        why: `its command ${command}`,
      });
    expect((await hits('4.44.3', 'retrospective')).rows[0]).toMatchObject({
      name: 'retrospective',
      origin: BUILT_IN,
    });
  });

  it('4.44.3: whoever asks for the built-in version gets it', async () => {
    expect((await hits('4.44.3', 'prd', { module: 'bmm' })).rows[0]).toMatchObject({ name: 'prd' });
    expect((await hits('4.44.3', 'prd', { origin: 'package' })).rows[0]).toMatchObject({ name: 'prd' });
  });
});
