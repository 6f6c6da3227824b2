import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Budget, Results } from './budgets.ts';
import { growthPicture, type Curve } from './picture.ts';
import { reportOf } from './report.ts';

const PICTURE = 'benchmarks.svg';

/** The report as a page of the documentation, with the growth as a picture. */
export async function writeDocument(
  folder: string,
  about: readonly string[],
  results: Results,
  budgets: readonly Budget[],
): Promise<void> {
  const report = reportOf(about, results, budgets).replace(/^# .*\n/, '');
  await writeFile(
    join(folder, 'benchmarks.md'),
    `# Benchmarks

<!-- Written by "npm run bench -- --write". Do not edit. -->

Times differ between machines; what holds on all of them are the ratios, since everything in one run was measured in turns. The
peer is the published package of the same purpose, the bare server the least that the protocol's SDK allows, the floor
one without any package.

![Time of a first list, a first search and a warm search by the number of workflows](${PICTURE})
${report}`,
  );
  await writeFile(
    join(folder, PICTURE),
    growthPicture('What a project of growing size takes', { x: 'workflows', y: 'ms' }, curvesOf(results)),
  );
}

function curvesOf({ growth }: Results): Curve[] {
  const curve = (name: string, of: (one: Results['growth'][number]) => number): Curve => ({
    name,
    points: growth.map((one) => [one.workflows, of(one)] as const),
  });
  return [
    curve('first list', ({ firstList }) => firstList.ms),
    curve('first list, cached', ({ listAgain }) => listAgain.ms),
    curve('first search', ({ firstSearch }) => firstSearch.ms),
    curve('first search, cached', ({ searchAgain }) => searchAgain.ms),
    curve('warm search', ({ warmSearchMs }) => warmSearchMs),
    curve('doctor', ({ doctor }) => doctor.ms),
  ];
}
