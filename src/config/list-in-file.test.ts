import { describe, expect, it } from 'vitest';
import { withList } from './list-in-file.ts';

const put = (text: string, ...values: string[]): string => withList('config.toml', text, 'prefer', values);

describe('a list in a configuration file', () => {
  it.each([
    ['', 'prefer = ["a=user"]\n'],
    ['# mine\nboost = ["x"]\n', 'prefer = ["a=user"]\n# mine\nboost = ["x"]\n'],
    ['[table]\nprefer = ["b"]\n', 'prefer = ["a=user"]\n[table]\nprefer = ["b"]\n'],
    ['a = 1\nprefer = ["b=git"] # why\nc = 2\n', 'a = 1\nprefer = ["a=user"]\nc = 2\n'],
    ['a = 1\r\nprefer=[]\r\nc = 2\r\n', 'a = 1\r\nprefer = ["a=user"]\r\nc = 2\r\n'],
    [
      'prefer = [\n  "b]=git", # ]\n  "c=git",\n]\n# end\n[t]\nprefer = 1',
      'prefer = ["a=user"]\n# end\n[t]\nprefer = 1',
    ],
  ])('takes the place of what was there, and nothing else changes: %j', (before, after) => {
    expect(put(before, 'a=user')).toBe(after);
  });

  it('leaves what only looks like it inside a text', () => {
    const text = "t = '''\nprefer = [1]\n'''\nprefer = [";
    expect(put(`${text}"b"]\n`, 'a=user')).toBe(`${text}"a=user"]\n`);
  });

  it('is written so that it reads the same', () => {
    expect(put('', 'a="\\\n\u{7}é', 'b')).toContain('prefer = [');
  });

  it('is not written where that is not certain, or the file cannot be read', () => {
    expect(() => put('"prefer" = ["b"]\n', 'a')).toThrow(/left unchanged/);
    expect(() => put('prefer = [', 'a')).toThrow(/config\.toml/);
  });
});
