import { describe, expect, it } from 'vitest';
import { originOf, recordOf } from '../../../tests/support/records.ts';
import type { BmadRecord } from '../../model/record.ts';
import { nameSkills } from './skill-shelf.ts';

const old = (text: string, more: Partial<BmadRecord> = {}): BmadRecord =>
  recordOf(text, { format: 'compiled-agent', description: 'Does it', ...more });
const roots = (...records: BmadRecord[]): string[] => nameSkills(records).map(({ root }) => root);

describe('names of skills', () => {
  it('are the skills’ own, and those of older things have their module in them', () => {
    expect(roots(recordOf('workflow bmm/bmad-prd'), old('agent bmm/architect'))).toEqual([
      'skill://bmm/bmad-prd',
      'skill://bmm/bmm-architect',
    ]);
  });

  it('do not depend on the other modules', () => {
    const alone = roots(old('agent zoo/designer'));
    expect(roots(old('agent abc/designer'), old('agent zoo/designer'))).toContain(alone[0]);
  });

  it('tell apart what has the same name in a module, agents first', () => {
    expect(roots(old('task bmm/review'), old('agent bmm/review'), old('workflow bmm/review'))).toEqual([
      'skill://bmm/bmm-review-task',
      'skill://bmm/bmm-review-workflow',
      'skill://bmm/bmm-review',
    ]);
  });

  it('tell apart skills of one name in two modules', () => {
    expect(roots(recordOf('skill abc/helper'), recordOf('skill bcd/helper'))).toEqual([
      'skill://abc/helper',
      'skill://bcd/bcd-helper',
    ]);
  });

  it('are never taken twice, even where module and name run together', () => {
    const names = nameSkills([
      old('agent a-b/c'),
      old('agent a/b-c'),
      old('agent a/b_c'),
      old('agent A/b.c'),
    ]);
    expect(new Set(names.map(({ name }) => name)).size).toBe(4);
  });

  it.each([
    ['Ünïcode Näme', 'bmm-unicode-name'],
    ['__x__', 'bmm-x'],
    ['a--b', 'bmm-a-b'],
  ])('make a valid name of %j', (name, expected) => {
    expect(nameSkills([old(`agent bmm/${name}`)])[0]?.name).toBe(expected);
  });

  it.each(['n'.repeat(300), 'кириллица', '漢字', '🏗️', 'a'.repeat(60) + '-----b'])(
    'are valid whatever the name: %j',
    (name) => {
      for (const record of [old(`agent bmm/${name}`), recordOf(`skill ${name}/${name}`)]) {
        const [skill] = nameSkills([record]);
        expect(skill?.name).toMatch(/^[a-z0-9]+(?:-[a-z0-9]+)*$/);
        expect(skill?.name.length).toBeLessThanOrEqual(64);
        expect(new URL(`${skill?.root}/SKILL.md`).href).toBe(`${skill?.root}/SKILL.md`);
      }
    },
  );

  it('leave out what cannot be started and what only launches, and do not list old names', () => {
    const skills = nameSkills([
      recordOf('knowledge bmm/k'),
      recordOf('workflow bmm/launcher', { launches: 'bmm/x.md' }),
      recordOf('workflow bmm/gone', { deprecated: { successor: 'x' } }),
      recordOf('workflow bmm/here', { origin: originOf(1) }),
    ]);
    expect(skills.map(({ name, listed }) => [name, listed])).toEqual([
      ['gone', false],
      ['here', true],
    ]);
  });

  it.each([
    [{ description: '  ', title: 'Architect' }, 'Architect (agent)'],
    [{ description: '' }, 'x (agent)'],
    [{ description: 'Two\nlines' }, 'Two\nlines'],
  ])('come with a description: %j', (more, description) => {
    expect(nameSkills([old('agent bmm/x', more)])[0]?.description).toBe(description);
  });

  it('come with a description of at most 1,024 characters', () => {
    expect(
      nameSkills([old('agent bmm/x', { description: 'word '.repeat(900) })])[0]?.description.length,
    ).toBe(1_020);
  });
});
