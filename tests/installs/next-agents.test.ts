import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { csvRows } from '../../src/base/parse/parse.ts';
import { type Work, Workers } from '../../src/services/progress/workers.ts';
import { contextIn } from '../support/app.ts';
import { installOf } from '../support/installs.ts';
import { progressProject } from '../support/progress-project.ts';

const WORKS: readonly Work[] = [
  'brainstorm',
  'brief',
  'document code',
  'prd',
  'tech spec',
  'ux',
  'architecture',
  'epics',
  'readiness',
  'sprint planning',
  'create story',
  'develop story',
  'review story',
  'apply review',
  'quick work',
  'retrospective',
];

describe('the next step names who does it', () => {
  it.each(['6.0.4', '6.2.0'] as const)("as %s's own catalogue does", async (version) => {
    const { folder } = await progressProject(afterAll, version);
    const file = '_bmad/_config/bmad-help.csv';
    const rows = csvRows(file, await readFile(join(await installOf(version), file), 'utf8'));
    const { catalogue } = await (await contextIn(folder)).workspace();
    const workers = new Workers(catalogue);
    const wrong = WORKS.flatMap((work) => {
      const worker = workers.for(work, false);
      const named = rows.filter(
        ({ cell }) => cell('command').replace(/^bmad-(?:bmm-)?/, '') === worker?.name,
      );
      const agents = named.map(({ cell }) => cell('agent-name'));
      return agents.includes(worker?.by ?? '-')
        ? []
        : [`${work}: ${worker?.name} by ${worker?.by}, not ${agents.join()}`];
    });
    expect(wrong).toEqual([]);
  });
});
