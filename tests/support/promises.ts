import type { TestPath } from './titles.ts';

/** A line of the ledger: what is promised under which number, and the tests that are said to hold it. */
export interface Promised {
  number: number;
  promise: string;
  heldBy: string[];
}

/** A demand, and what is said to keep it: numbers of promises, and of rows of what is done differently (D1). */
export interface Asked {
  number: number;
  asked: string;
  kept: string[];
}

/** The tests of a file, or nothing where there is no such file. */
export type TestsOf = (file: string) => readonly TestPath[] | undefined;

const BETWEEN = ' › ';
const FINDING = /\b[A-Z]-\d{2}\b/g;

/** The lines of all tables with this head, cell by cell. */
function rowsUnder(head: string, page: string): string[][] {
  const tables = page.split(/\n\n+/).filter((part) => part.startsWith(`${head}\n`));
  const rows = tables.flatMap((table) => table.split('\n').slice(2)).filter((line) => line.startsWith('| '));
  return rows.map((row) => row.split(/(?<!\\)\|/).map((cell) => cell.trim()));
}

export function promisesOn(page: string): Promised[] {
  return rowsUnder('| | promise | held by |', page).map(([, number = '', promise = '', tests = '']) => ({
    number: Number(number),
    promise,
    heldBy: tests.split('<br>').filter(Boolean),
  }));
}

export function askedOn(page: string): Asked[] {
  return rowsUnder('| | asked for | kept by |', page).map(([, number = '', asked = '', kept = '']) => ({
    number: Number(number),
    asked,
    kept: kept.split(', '),
  }));
}

/** The numbers of what is done differently: D1, D2. */
export function differentOn(page: string): string[] {
  return rowsUnder('| | asked for | today |', page).map(([, number = '']) => number);
}

/** Findings that are added to a title in brackets do not make it another test. */
const plain = (name: string): string => name.replace(/ \([A-Z]-\d{2}(?:, [A-Z]-\d{2})*\)/g, '');

/** A test may be named by its whole path or its end; the beginning of a path is a group. */
function isNamed(name: string, path: TestPath): boolean {
  const names = path.flatMap((_, at) => [path.slice(at).join(BETWEEN), path.slice(0, at).join(BETWEEN)]);
  return names.some((one) => plain(one) === plain(name));
}

function faultOf(test: string, testsOf: TestsOf): string | undefined {
  const [, file, name] = /^`([^`›]+) › ([^`]+)`$/.exec(test) ?? [];
  if (file === undefined || name === undefined) return `does not name a test as \`file › title\`: ${test}`;
  const tests = testsOf(file);
  if (tests === undefined) return `names a file that is not there: ${file}`;
  return tests.some((path) => isNamed(name, path)) ? undefined : `names no test of ${file}: ${name}`;
}

export function faultsIn(promises: readonly Promised[], testsOf: TestsOf): string[] {
  const seen = new Set<string | number>();
  return promises.flatMap(({ number, promise, heldBy }) => {
    const twice = seen.has(promise) || seen.has(number) ? ['is there twice'] : [];
    seen.add(promise).add(number);
    const none = heldBy.length === 0 ? ['has no test'] : [];
    const faults = heldBy.map((test) => faultOf(test, testsOf)).filter((fault) => fault !== undefined);
    return [...twice, ...none, ...faults].map((fault) => `${promise} ${fault}`);
  });
}

/** The ids of findings in a text: M-01, S-03. */
export function findingsIn(text: string): string[] {
  return [...new Set(text.match(FINDING))].sort();
}
