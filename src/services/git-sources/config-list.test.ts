import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { parseToml } from '../../base/parse/parse.ts';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { addToConfig, removeFromConfig } from './config-list.ts';
import { findList, withEntry, withoutEntries } from './list-text.ts';

let file: string;

beforeEach(async () => {
  file = join(await temporaryFolder((cleanUp) => onTestFinished(cleanUp)), 'config.toml');
});

async function changed(before: string, act: () => Promise<void>): Promise<string> {
  await writeFile(file, before);
  await act();
  return readFile(file, 'utf8');
}

describe('adding to the list', () => {
  const add = () => addToConfig(file, 'new');
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
  ])('makes of %j %j', async (before, after) => {
    expect(await changed(before, add)).toBe(after);
  });
});

describe('removing from the list', () => {
  const remove = () => removeFromConfig(file, (entry) => entry === 'old');
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
  ])('makes of %j %j', async (before, after) => {
    expect(await changed(before, remove)).toBe(after);
  });
});

describe('a file that cannot be changed safely', () => {
  it.each([
    'git = """a"""\n',
    'git = ["\\U0001F600"]\n',
    'git = [1]\n',
    'git = { a = 1 }\n',
    'git = 7\n',
    'x = """\ngit = ["a"]\n"""\ngit = ["b"]\n',
  ])('is left as it is: %j', async (before) => {
    await writeFile(file, before);
    const error = await refusal(() => addToConfig(file, 'new'));
    expect(error).toMatchObject({ code: 'unavailable', message: `${file} cannot be changed safely.` });
    expect(error.hint).toMatch(/^Edit it by hand so that it has: git = \[.*"new",\s\]$/);
    expect(await readFile(file, 'utf8')).toBe(before);
  });
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
        const found = findList(before, 'git');
        if (found === undefined) throw new Error('the list was not found');
        const after = withEntry(before, found, entry);
        const table = read(before) as { git: string[] };
        expect(read(after)).toEqual({ ...table, git: [...table.git, entry] });
        expect(after.split('#')).toHaveLength(before.split('#').length + entry.split('#').length - 1);
      }),
    );
  });

  it('loses what it should and keeps all else', () => {
    fc.assert(
      fc.property(text, fc.nat(4), (before, index) => {
        const found = findList(before, 'git');
        const gone = found?.entries[index]?.value;
        if (found === undefined || gone === undefined) return;
        const after = withoutEntries(before, found, (entry) => entry === gone);
        const table = read(before) as { git: string[] };
        expect(read(after)).toEqual({ ...table, git: table.git.filter((entry) => entry !== gone) });
      }),
    );
  });
});
