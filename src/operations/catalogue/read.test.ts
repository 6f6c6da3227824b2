import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot } from '../../../tests/support/app.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { read } from './read.ts';

const session = await openSession(afterAll);
const small = await openSession(afterAll, { flags: { answerBytes: '10000' } });
const architect = await readFile(join(contentRoot, 'bmm/agents/bmad-agent-architect/SKILL.md'), 'utf8');

describe('read', () => {
  it.each([
    { target: 'architect' },
    { target: 'bmm/architect' },
    { target: 'bmad-agent-architect' },
    { target: 'Winston' },
    { target: 'System Architect' },
    { target: 'ARCHITECT' },
    { target: 'architect', kind: 'agent' },
    { target: 'architect', module: 'bmm' },
    { target: 'bmad://bmm/agents/bmad-agent-architect/SKILL.md' },
    { target: 'bmm/agents/bmad-agent-architect/SKILL.md' },
    { target: 'bmad://agents/architect' },
    { target: 'bmad://agents/Winston', kind: 'resource' },
  ])('reads the same file for %j', async (input) => {
    const { answer, data } = await session.ok(read, input);
    expect(answer.body).toBe(architect);
    expect(data).toMatchObject({
      uri: 'bmad://bmm/agents/bmad-agent-architect/SKILL.md',
      mimeType: 'text/markdown',
      complete: true,
    });
  });

  it('says where the text is from', async () => {
    expect((await session.ok(read, { target: 'architect' })).answer.note).toBe(
      'bmad://bmm/agents/bmad-agent-architect/SKILL.md (BMAD 6.12.0 (built in)).',
    );
  });

  it('reads a long file in parts that make up the file', async () => {
    const parts: string[] = [];
    let cursor: string | undefined;
    do {
      const { data, answer } = await small.ok(read, {
        target: 'spec',
        ...(cursor === undefined ? {} : { cursor }),
      });
      expect(Buffer.byteLength(answer.body + (answer.note ?? ''))).toBeLessThanOrEqual(10_000);
      parts.push(answer.body);
      cursor = data['next'] as string | undefined;
    } while (cursor !== undefined);
    expect(parts.length).toBeGreaterThan(1);
    expect(parts.join('')).toBe(await readFile(join(contentRoot, 'bmm/plan/bmad-spec/SKILL.md'), 'utf8'));
  });

  it('reads all at once when asked to', async () => {
    const { answer } = await session.ok(read, { target: 'spec', detail: 'full' });
    expect(answer.body).toBe(await readFile(join(contentRoot, 'bmm/plan/bmad-spec/SKILL.md'), 'utf8'));
  });

  it('reads one section, or the outline', async () => {
    const { answer } = await session.ok(read, { target: 'architect', section: 'overview' });
    expect(answer.body).toMatch(/^## Overview\n\nYou are Winston[^#]*$/);
    expect(
      (await session.ok(read, { target: 'architect', detail: 'brief' })).answer.body.split('\n').slice(0, 4),
    ).toEqual(['Winston — System Architect', '  Overview', '  Conventions', '  On Activation']);
  });

  it('takes part of a name, as long as only one thing has it', async () => {
    expect((await session.ok(read, { target: 'epics' })).data['uri']).toContain(
      'bmad-create-epics-and-stories',
    );
    expect(await session.fail(read, { target: 'bui' })).toMatchObject({
      code: 'ambiguous',
      suggestions: ['bmm/bmad-build', 'bmm/bmad-build-auto'],
    });
  });

  it('serves what an installer would have written', async () => {
    expect((await session.ok(read, { target: 'bmad://bmm/config.yaml' })).answer.body).toContain(
      'planning_artifacts: "{project-root}/_bmad-output/planning-artifacts"\n',
    );
    expect((await session.ok(read, { target: '_config/bmad-help.csv' })).answer.body.split('\n')[0]).toBe(
      'module,skill,display-name,menu-code,description,action,args,phase,preceded-by,followed-by,required,output-location,outputs',
    );
    expect((await session.ok(read, { target: 'bmad://config.toml' })).answer.body).toContain(
      '[agents.bmad-agent-architect]\nmodule = "bmm"\nname = "Winston"',
    );
    expect(
      (await session.ok(read, { target: 'bmad://rendered/bmad-build/workflow.md' })).answer.body,
    ).toContain('bmad://rendered/bmad-build/step-01-clarify-and-route.md');
  });

  it.each([
    [{ target: 'analist', kind: 'agent' }, 'not_found', ['analyst']],
    [{ target: 'prdd' }, 'not_found', ['prd']],
    [{ target: 'bmad://bmm/configg.yaml' }, 'not_found', ['bmad://bmm/config.yaml']],
    [{ target: 'bmad://../../etc/passwd' }, 'forbidden', []],
    [
      { target: 'bmad://core' },
      'forbidden',
      ['bmad://core/config.yaml', 'bmad://core/module-help.csv', 'bmad://core/module.yaml'],
    ],
    [
      { target: 'bmad://core/' },
      'forbidden',
      ['bmad://core/config.yaml', 'bmad://core/module-help.csv', 'bmad://core/module.yaml'],
    ],
    [{ target: 'file:///etc/passwd' }, 'invalid_input', []],
    [{ target: 'bmad://rendered/bmad-build/nope.md' }, 'not_found', undefined],
    [{ target: 'architect', section: 'Overvieww' }, 'not_found', ['Overview']],
    [{ target: 'architect', module: 'core' }, 'not_found', undefined],
    [{ target: '' }, 'invalid_input', []],
    [{ target: ' \u200B' }, 'invalid_input', []],
  ])('refuses %j', async (input, code, suggestions) => {
    const error = await session.fail(read, input);
    expect(error.code).toBe(code);
    if (suggestions !== undefined) expect(error.suggestions).toEqual(suggestions);
    expect(error.text.length).toBeLessThan(2_000);
  });
});
