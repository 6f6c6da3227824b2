import { describe, expect, it } from 'vitest';
import { changingVariables, sharedState } from '../../scripts/module-state.ts';

describe('variables of a module that change', () => {
  it.each([
    ['let seen = 0;\nexport const next = () => seen++;', ['seen']],
    ['const turns = new Map<string, Promise<void>>();\nturns.set(path, turn);', ['turns']],
    ['const known: WeakMap<object, string> = new WeakMap();\nknown.delete(key);', ['known']],
    ['export const waiting: string[] = [];\nwaiting.push(name);', ['waiting']],
    ['const made: Record<string, string> = {};\nmade[name] ??= text;', ['made']],
    ['const state = {\n  open: false,\n};\nstate.open = true;', ['state']],
  ])('are found in %j', (text, names) => {
    expect(changingVariables(text)).toEqual(names);
  });

  it.each([
    ["const NAMES = new Set(['a']);\nexport const has = (name: string) => NAMES.has(name);"],
    ["const LIST = ['a', 'b'];\nexport const sorted = [...LIST].sort();"],
    ['function count() {\n  let seen = 0;\n  const all = new Map();\n  all.set(1, seen);\n}'],
  ])('are not found in %j', (text) => {
    expect(changingVariables(text)).toEqual([]);
  });
});

const input = { bytesInOutput: 100 };
const output = (...files: string[]) => ({
  bytes: 1,
  imports: [],
  exports: [],
  inputs: Object.fromEntries(files.map((file) => [file, input])),
});

describe('state that exists twice', () => {
  it('is a file with such variables in two bundles, and only there', async () => {
    const twice = 'src/kit/kit-turns.ts';
    const one = await sharedState({ outputs: { 'dist/a.cjs': output(twice), 'dist/b.cjs': output() } });
    expect(one.filter((line) => line.startsWith(twice))).toEqual([]);
    const both = await sharedState({ outputs: { 'dist/a.cjs': output(twice), 'dist/b.cjs': output(twice) } });
    expect(both).toContain(`${twice} keeps turns, released in 2 bundles: a.cjs, b.cjs`);
  });

  it('has no exception that is not needed', async () => {
    const problems = await sharedState({ outputs: {} });
    expect(problems).toContain('src/meaning/analyse.ts needs no exception in scripts/module-state.ts');
  });
});
