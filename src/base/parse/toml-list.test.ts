import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseToml } from './parse.ts';
import { withList } from './toml-list.ts';

const changed = (before: string, change: (list: readonly string[]) => readonly string[]): string =>
  withList('config.toml', before, 'git', change);

describe('adding to the list', () => {
  const add = (list: readonly string[]) => [...new Set([...list, 'new'])];
  it.each([
    ['', 'git = [\n  "new",\n]\n'],
    ['git = []', 'git = [\n  "new",\n]'],
    ['git = [ ]\n', 'git = [\n  "new",\n]\n'],
    ['git = ["a"]\n', 'git = ["a", "new"]\n'],
    ['git = ["a",]\n', 'git = ["a", "new"]\n'],
    ['git=["a" , "b" ] # c\n', 'git=["a" , "b", "new"] # c\n'],
    ['git = [\n  "a"\n]\n', 'git = [\n  "a",\n  "new",\n]\n'],
    ['git = [\n  "a", # x, "y" ]\n]\n', 'git = [\n  "a", # x, "y" ]\n  "new",\n]\n'],
    ['git = [\n  "a" # x\n]\n', 'git = [\n  "a", # x\n  "new",\n]\n'],
    ['git = [\n  # none yet\n]\n', 'git = [\n  # none yet\n  "new",\n]\n'],
    ['git = [\r\n  "a",\r\n]\r\n', 'git = [\r\n  "a",\r\n  "new",\n]\r\n'],
    ['git = "a b"\n', 'git = [\n  "a",\n  "b",\n  "new",\n]\n'],
    ['"git" = [\'a\']\n', '"git" = [\'a\', "new"]\n'],
    ['x = 1\n[t]\ngit = ["a"]\n', 'x = 1\ngit = [\n  "new",\n]\n[t]\ngit = ["a"]\n'],
    ['git = ["new"]\n', 'git = ["new"]\n'],
    ['git = "new"\n', 'git = "new"\n'],
  ])('makes of %j %j', (before, after) => {
    expect(changed(before, add)).toBe(after);
  });
});

describe('removing from the list', () => {
  const remove = (list: readonly string[]) => list.filter((entry) => entry !== 'old');
  it.each([
    ['', ''],
    ['git = ["a"]\n', 'git = ["a"]\n'],
    ['git = ["old"]\n', 'git = []\n'],
    ['git = ["old", "a"]\n', 'git = ["a"]\n'],
    ['git = ["a", "old"]\n', 'git = ["a", ]\n'],
    ['git = ["old", "a", "old"] # x\n', 'git = ["a", ] # x\n'],
    ['git = [\n  "a", # 1\n  "old", # 2\n  "b" # 3\n] # 4\n', 'git = [\n  "a", # 1\n  "b" # 3\n] # 4\n'],
    ['git = [\n  "a",\n  "old"\n]\n', 'git = [\n  "a",\n]\n'],
    ['git = [\r\n  "old",\r\n]\r\n', 'git = [\r\n]\r\n'],
    ['git = "old b"\n', 'git = [\n  "b",\n]\n'],
    ['git = "old"\n', 'git = [\n]\n'],
  ])('makes of %j %j', (before, after) => {
    expect(changed(before, remove)).toBe(after);
  });
});

describe('another list', () => {
  it.each([
    ['git = ["b"] # why\nc = 2\n', 'git = [\n  "a",\n]\nc = 2\n'],
    ['a = 1\r\ngit=["b"]\r\nc = 2\r\n', 'a = 1\r\ngit=[\n  "a",\n]\r\nc = 2\r\n'],
    ['git = [\n  "b]=x", # ]\n  "c",\n]\n# end\n[t]\ngit = 1', 'git = [\n  "a",\n]\n# end\n[t]\ngit = 1'],
    ["t = '''\ngit = [1]\n'''\ngit = [\"b\"]\n", "t = '''\ngit = [1]\n'''\ngit = [\n  \"a\",\n]\n"],
    ['git = """b"""\n', 'git = [\n  "a",\n]\n'],
    ['git = ["\\U0001F600"]\n', 'git = [\n  "a",\n]\n'],
  ])('takes the place of what was there, and nothing else changes: %j', (before, after) => {
    expect(changed(before, () => ['a'])).toBe(after);
  });

  it.each(['git = [1]\n', 'git = { a = 1 }\n', 'git = 7\n', 'git.a = 1\n'])(
    'is not written where that is not certain: %j',
    (before) => {
      expect(() => changed(before, (list) => [...list, 'new'])).toThrow('It was left unchanged');
      expect(() => changed('git = [', () => ['a'])).toThrow('config.toml');
    },
  );
});

describe('any list', () => {
  const space = fc.constantFrom('', ' ', '\n', '\n  ', ' # a "comment", ]\n');
  const value = fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 })
    .filter((text) => !/['\\"\n]/.test(text));
  const written = value.chain((text) => fc.constantFrom(`"${text}"`, `'${text}'`));
  const list = fc
    .array(fc.tuple(space, written, space), { maxLength: 5 })
    .chain((entries) =>
      fc
        .tuple(space, fc.boolean())
        .map(
          ([end, comma]) =>
            `[${entries.map((parts) => parts.join('')).join(',')}${comma && entries.length > 0 ? ',' : ''}${end}]`,
        ),
    );
  const text = list.map((brackets) => `# top\na = 1\ngit = ${brackets} # end\nb = 2\n[t]\nc = 3\n`);
  const read = (toml: string): unknown => parseToml('', toml);

  it('grows by one entry and keeps all else', () => {
    fc.assert(
      fc.property(text, value, (before, entry) => {
        const after = changed(before, (all) => [...all, entry]);
        const table = read(before) as { git: string[] };
        expect(read(after)).toEqual({ ...table, git: [...table.git, entry] });
        expect(after.split('#')).toHaveLength(before.split('#').length + entry.split('#').length - 1);
      }),
    );
  });

  it('loses what it should and keeps all else', () => {
    fc.assert(
      fc.property(text, fc.nat(4), (before, index) => {
        const table = read(before) as { git: string[] };
        const gone = table.git[index];
        const after = changed(before, (all) => all.filter((entry) => entry !== gone));
        expect(read(after)).toEqual({ ...table, git: table.git.filter((entry) => entry !== gone) });
      }),
    );
  });
});
