import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contentRoot } from '../../../tests/support/app.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { load } from './records.ts';

const session = await openSession(afterAll);

describe('load', () => {
  it('gives the main file as it is, and where it lies', async () => {
    const path = join(contentRoot, 'bmm/plan/bmad-prd/SKILL.md');
    const { data } = await session.ok(load, { name: 'bmad-prd', kind: 'workflow' });
    expect(data).toEqual({
      name: 'prd',
      kind: 'workflow',
      module: 'bmm',
      uri: 'bmad://bmm/plan/bmad-prd/SKILL.md',
      path,
      content: await readFile(path, 'utf8'),
      source: 'package',
      origin: 'BMAD 6.12.0 (built in)',
      files: expect.arrayContaining([
        { uri: 'bmad://bmm/plan/bmad-prd/assets/prd-template.md', bytes: expect.any(Number) },
      ]),
    });
  });

  it('takes a name, not a part of one, and only of the kind that was asked for', async () => {
    expect(await session.fail(load, { name: 'architec', kind: 'agent' })).toMatchObject({
      code: 'not_found',
      suggestions: ['architect'],
    });
    expect((await session.fail(load, { name: 'prd', kind: 'agent' })).code).toBe('not_found');
    expect((await session.fail(load, { name: 'architect' })).code).toBe('invalid_input');
  });
});
