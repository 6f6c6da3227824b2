import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from './support/app.ts';
import { askedOn, differentOn, faultsIn, findingsIn, promisesOn, type TestsOf } from './support/promises.ts';
import { testsIn } from './support/titles.ts';

const page = readFileSync(join(repository, 'docs/promises.md'), 'utf8');
const promises = promisesOn(page);

const sources = new Map(
  ['src', 'tests'].flatMap((folder) =>
    readdirSync(join(repository, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && (folder === 'tests' || path.endsWith('.test.ts')))
      .map((path): [string, string] => [
        `${folder}/${path.replaceAll('\\', '/')}`,
        readFileSync(join(repository, folder, path), 'utf8'),
      ]),
  ),
);

const testsOf: TestsOf = (file) => {
  const source = sources.get(file);
  return source === undefined ? undefined : testsIn(source);
};

/** The ids of findings that tests have in their titles. This file makes some up. */
const findings = new Set(
  [...sources]
    .filter(([file, source]) => file !== 'tests/promises.test.ts' && findingsIn(source).length > 0)
    .flatMap(([, source]) => testsIn(source).flatMap((path) => findingsIn(path.join(' ')))),
);

describe('docs/promises.md', () => {
  it('has for every promise a test that exists', () => {
    expect(promises.length).toBeGreaterThan(100);
    expect(faultsIn(promises, testsOf)).toEqual([]);
  });

  it('has a line for every test that names a part of the mission, by an id such as M-01', () => {
    const known = findingsIn(promises.flatMap(({ heldBy }) => heldBy).join('\n'));
    expect([...findings].filter((id) => id.startsWith('M-') && !known.includes(id)).sort()).toEqual([]);
    expect(findings.size).toBeGreaterThan(20);
  });

  it('keeps every demand by promises that are there, or says what is done differently', () => {
    const asked = askedOn(page);
    const different = differentOn(page);
    const known = new Set([...promises.map(({ number }) => String(number)), ...different]);
    expect(asked.map(({ number }) => number)).toEqual(asked.map((_, at) => at + 1));
    expect(asked.length).toBeGreaterThan(290);
    expect(asked.filter(({ kept }) => !kept.every((number) => known.has(number)))).toEqual([]);
    expect(different.filter((number) => !asked.some(({ kept }) => kept.includes(number)))).toEqual([]);
  });

  it('names no finding that no test has', () => {
    expect(findingsIn(page).filter((id) => !findings.has(id))).toEqual([]);
  });
});

describe('the ledger', () => {
  const HEAD = '| | promise | held by |\n|---|---|---|\n';
  const tests: TestsOf = (file) =>
    file === 'a.test.ts' ? [['a group', 'inner', 'works (S-01)']] : undefined;
  const faults = (cell: string): string[] =>
    faultsIn(promisesOn(`${HEAD}| 1 | It works. |${cell}|\n`), tests);

  it.each(['a group › inner › works', 'inner › works', 'works (S-01, R-02)', 'a group', 'a group › inner'])(
    'may name a test by %j',
    (name) => {
      expect(faults(` \`a.test.ts › ${name}\` `)).toEqual([]);
    },
  );

  it.each([
    [' ', 'It works. has no test'],
    [' `b.test.ts › works` ', 'It works. names a file that is not there: b.test.ts'],
    [' `a.test.ts › work` ', 'It works. names no test of a.test.ts: work'],
    [' `a.test.ts › works`<br>`a.test.ts › inner` ', 'It works. names no test of a.test.ts: inner'],
    [' a.test.ts works ', 'It works. does not name a test as `file › title`: a.test.ts works'],
  ])('is at fault with %j', (cell, fault) => {
    expect(faults(cell)).toEqual([fault]);
  });

  it('makes a promise once', () => {
    const twice = promisesOn(`${HEAD}${'| 1 | It works. | `a.test.ts › works` |\n'.repeat(2)}`);
    expect(faultsIn(twice, tests)).toEqual(['It works. is there twice']);
  });
});

describe('the tests of a file', () => {
  it.each([
    ["it('works', () => {});", [['works']]],
    ["describe('a', () => { it('b', f); });\nit('c', f);", [['a', 'b'], ['c']]],
    ["it.each([['x', (1)]])(\n  'has %s',\n  f,\n);", [['has %s']]],
    [
      "describe.each(['x'])('in %s', () => { describe('y', () => { test('z', f); }); });",
      [['in %s', 'y', 'z']],
    ],
    ["it.skipIf(process.platform === 'win32')('is run here', f);", [['is run here']]],
    ['it(`gives ${x.y()} twice`, f);', [['gives … twice']]],
    ["it('writes \\'it\\'', () => { say('it(\"no\", f)'); }); // it('not this', f)", [["writes 'it'"]]],
    ["it.skip('never', f);\nit.todo('later');\nedit('x'); page.it('y');", []],
  ])('in %j', (source, expected) => {
    expect(testsIn(source)).toEqual(expected);
  });
});
