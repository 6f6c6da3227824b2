import { describe, expect, it } from 'vitest';
import { ignoreRules } from './glob.ts';

const rules = ignoreRules(
  '# comment\n\n*.log\r\n!keep.log\n/top\nbuild/\ndocs/*.txt\n**/deep/x\n\\#odd\n[ab].ts\n../outside\n',
);

describe('ignore files', () => {
  it.each([
    ['a.log', false, true],
    ['x/y/a.log', false, true],
    ['x/keep.log', false, false],
    ['top', false, true],
    ['x/top', false, undefined],
    ['build', true, true],
    ['build', false, undefined],
    ['x/build', true, true],
    ['docs/a.txt', false, true],
    ['docs/x/a.txt', false, undefined],
    ['q/deep/x', false, true],
    ['#odd', false, true],
    ['a.ts', false, true],
    ['other', false, undefined],
  ])('%s (folder: %s) → %s', (path, folder, verdict) => {
    expect(rules.verdict(path, folder)).toBe(verdict);
  });
});
