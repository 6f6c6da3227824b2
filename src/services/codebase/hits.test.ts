import { expect, it } from 'vitest';
import { codeProject } from '../../../tests/support/code-project.ts';

const FILES = {
  'src/lock.ts':
    "/** Takes a lock. */\nexport function takeLock(path: string): boolean {\n  return path !== '';\n}\n\nexport class Keeper {\n  hold(): boolean {\n    return takeLock('here');\n  }\n}\n",
  'src/start.ts':
    "import { takeLock } from './lock.ts';\n\n// takeLock() is called below.\nexport async function start(): Promise<void> {\n  if (!takeLock('there')) throw new Error('takeLock failed');\n  if (!takeLock('again')) return;\n}\n\nexport function mistakeLock(): void {}\n",
  'tests/lock.test.ts':
    "import { takeLock } from '../src/lock.ts';\n\nit('takes a lock', () => {\n  expect(takeLock('x')).toBe(true);\n});\n",
  'tools/lock.py': 'def other():\n    return takeLock("p")\n',
};

it('tells where a function is called and which tests call it, with its definition', async () => {
  const { ask } = await codeProject(FILES);
  for (const query of ['takeLock', 'who calls takeLock?']) {
    const [first, ...others] = (await ask(query)).hits;
    expect(first).toMatchObject({ path: 'src/lock.ts', symbol: 'takeLock' });
    const calls = (first?.calls ?? []).toSorted((a, b) => (a.path < b.path ? -1 : 1));
    expect(calls).toEqual([
      { path: 'src/lock.ts', line: 8, symbol: 'Keeper.hold' },
      { path: 'src/start.ts', line: 5, symbol: 'start' },
      { path: 'tools/lock.py', line: 2, symbol: 'other' },
    ]);
    expect(first?.tests).toEqual([{ path: 'tests/lock.test.ts', line: 4 }]);
    expect(others.every(({ calls: none }) => none === undefined)).toBe(true);
  }
});

it('says nothing of uses where no name was asked for, nor of files that the path leaves out', async () => {
  const { ask } = await codeProject(FILES);
  for (const { calls, tests } of (await ask('a lock is taken')).hits)
    expect([calls, tests]).toEqual([undefined, undefined]);
  const [first] = (await ask('takeLock', { path: 'src/lock.ts' })).hits;
  expect([first?.calls?.length, first?.tests]).toEqual([1, undefined]);
});

it('takes no call for the line of an import because it begins like one', async () => {
  const { ask } = await codeProject({
    'src/save.ts': 'export function saveAll(list: unknown): unknown {\n  return list;\n}\n',
    'src/a.ts':
      "import { saveAll } from './save.ts';\nexport function keep(users: unknown[]): void {\n  users.map((user) => saveAll(user));\n}\n",
    'src/b.ts':
      "import { saveAll } from './save.ts';\nexport function useAll(from: (of: unknown) => void): void {\n  from(saveAll([]));\n}\n",
  });
  const [first] = (await ask('saveAll')).hits;
  expect((first?.calls ?? []).map(({ path, line }) => `${path}:${line}`).toSorted()).toEqual([
    'src/a.ts:3',
    'src/b.ts:3',
  ]);
});

it('finds a name and longer ones that it is part of, also where it consists of words that are left out', async () => {
  const files = { 'a.ts': 'export function doIt() {}\n', 'b.ts': 'redoIt();\n' };
  for (const without of [{}, { ripgrep: true as const }]) {
    const { ask } = await codeProject(files, { without });
    const { hits } = await ask('doIt');
    expect(Object.fromEntries(hits.map(({ path, parts }) => [path, parts['exact']]))).toEqual({
      'a.ts': 0.5,
      'b.ts': 0.5,
    });
  }
});
