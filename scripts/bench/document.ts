import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Budget, Results } from './budgets.ts';
import { growthPicture, type Curve } from './picture.ts';
import { SECTIONS, sectionsOf, type Section } from './report.ts';

/** What a reader has to know of each table. */
const EXPLAINED: Readonly<Record<Section, string>> = {
  Budgets:
    'What the server is held to. A ratio compares two things of the same run; limits in milliseconds were set for a machine like this one.',
  Start:
    'Every figure is of servers that had just been started. A first call pays for what a start puts off; one second after the list is when a model calls at the earliest.',
  'Warm calls':
    'One running server each, called in turns. The peer has no search, no next step and no memory.',
  'On a newer Node': 'The same with fewer rounds on a newer Node, which keeps memories in SQLite.',
  'Size of the project':
    'Made-up projects with an agent for every ten workflows. “Cached” is a second process, which finds what the first one has kept on disk; “warm” is once the server is at rest; “after an edit” the list after one file was changed; “beside doctor” the longest that another call waited while doctor was at work.',
  'Much state':
    'One project with that many memories, completed runs or queued tasks, or with so many runs, sessions, failures and receipts together. “First” is the first call of a server that has just listed its tools; “at rest” that of another one, which has loaded by then what first calls need, as while a model thinks; forty calls follow.',
  'Much code':
    'A made-up project; while its files are being read, searches are answered from those that have been.',
  'One caller beside another': 'Over HTTP, with two sessions.',
  'Many callers': 'Over HTTP; a caller is a token, and the clients share two of them.',
  'What a model has to read':
    'Tokens are bytes divided by four. The peer’s figures are of its recorded sessions.',
};

/** All sections in order, each with what it says. */
export function textOf(
  about: readonly string[],
  results: Results,
  budgets: readonly Budget[],
  pictures: Partial<Record<Section, string>> = {},
): string {
  const sections = sectionsOf(results, budgets);
  const parts = SECTIONS.map((section) =>
    [`## ${section}`, EXPLAINED[section], pictures[section], sections[section]]
      .filter((part) => part !== undefined)
      .join('\n\n'),
  );
  return `${[about.map((line) => `- ${line}`).join('\n'), ...parts].join('\n\n')}\n`;
}

/** The report as a page of the documentation, with the growth as pictures. */
export async function writeDocument(
  folder: string,
  about: readonly string[],
  results: Results,
  budgets: readonly Budget[],
): Promise<void> {
  const pictures: Partial<Record<Section, string>> = {};
  for (const { section, file, title, x, curves } of picturesOf(results)) {
    // Without two sizes there is no growth to be seen.
    if (!curves.some(({ points }) => points.length > 1)) continue;
    await writeFile(join(folder, file), growthPicture(title, { x, y: 'ms' }, curves));
    pictures[section] = `![${title}](${file})`;
  }
  await writeFile(
    join(folder, 'benchmarks.md'),
    `# Benchmarks

<!-- Written by "npm run bench -- --write". Do not edit. -->

Times differ between machines. What holds on all of them are the ratios: in one run, everything was measured in
turns. The peer is the published server of the same purpose, the bare server the least that the protocol's SDK allows, and the
floor a server without any package.

${textOf(about, results, budgets, pictures)}`,
  );
}

interface Picture {
  section: Section;
  file: string;
  title: string;
  x: string;
  curves: Curve[];
}

function picturesOf({ growth, state }: Results): Picture[] {
  const curve = (name: string, of: (one: Results['growth'][number]) => number): Curve => ({
    name,
    points: growth.map((one) => [one.workflows, of(one)] as const),
  });
  const workflows = [
    curve('first list', ({ firstList }) => firstList.ms),
    curve('first list, cached', ({ listAgain }) => listAgain.ms),
    curve('first search', ({ firstSearch }) => firstSearch.ms),
    curve('first search, cached', ({ searchAgain }) => searchAgain.ms),
    curve('warm search', ({ warmSearchMs }) => warmSearchMs),
    curve('doctor', ({ doctor }) => doctor.ms),
  ];
  const ofState = [...new Set(state.map(({ operation }) => operation))].map((operation): Curve => {
    const own = state.filter((one) => one.operation === operation);
    return { name: operation, points: own.map(({ count, p50Ms }) => [count, p50Ms] as const) };
  });
  return [
    {
      section: 'Size of the project',
      file: 'benchmarks.svg',
      title: 'What a project of growing size takes',
      x: 'workflows',
      curves: workflows,
    },
    {
      section: 'Much state',
      file: 'benchmarks-state.svg',
      title: 'What a call takes beside growing state, p50',
      x: 'memories, runs or tasks',
      curves: ofState,
    },
  ];
}
