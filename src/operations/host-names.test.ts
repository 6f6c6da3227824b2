import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import { assignNames, hostName } from './host-limits.ts';

const naming = {
  ways: (id: string) => [id.split('/')],
  identity: (id: string) => id,
  maxLength: 40,
  taken: ['bmad-workflow'],
};
const namesOf = (ids: readonly string[]): string[] => [...assignNames(ids, naming).keys()];

describe('names for hosts', () => {
  it.each([
    ['Game Designer', 'game-designer'],
    ['.bmad-core', 'bmad-core'],
    ['a_b', 'a_b'],
    ['Ünïcode!', 'n-code'],
    ['架构师', ''],
  ])('%s becomes %s', (name, expected) => {
    expect(hostName(name)).toBe(expected);
  });

  it('keeps the first of two that come out the same, and marks the other', () => {
    expect(namesOf(['bmm/game dev', 'bmm/game.dev'])).toEqual([
      'bmm-game-dev',
      expect.stringMatching(/^bmm-game-dev-[0-9a-f]{8}$/),
    ]);
  });

  it('leaves names that are taken alone', () => {
    expect(namesOf(['bmad/workflow'])).toEqual([expect.stringMatching(/^bmad-workflow-[0-9a-f]{8}$/)]);
  });

  it('marks what is too long or in another script, and stays the same when something is added', () => {
    const [long, script] = namesOf([`pack/${'x'.repeat(60)}`, 'bmm/架构师']);
    expect(long).toMatch(/^pack-x+-[0-9a-f]{8}$/);
    expect(long).toHaveLength(40);
    expect(script).toMatch(/^bmm-[0-9a-f]{8}$/);
    expect(namesOf(['a/b', `pack/${'x'.repeat(60)}`, 'bmm/架构师']).slice(1)).toEqual([long, script]);
  });

  it('gives every thing one name that hosts accept, whatever it is called', () => {
    const id = fc.tuple(fc.string(), fc.string({ unit: 'grapheme' })).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.uniqueArray(id, { maxLength: 30 }), (ids) => {
        const names = namesOf(ids);
        expect(names).toHaveLength(ids.length);
        for (const name of names) expect(name).toMatch(/^[a-z0-9_-]{1,40}$/);
      }),
    );
  });
});
