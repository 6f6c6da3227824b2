import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Catalogue } from '../../src/catalogue/catalogue.ts';
import { startedByCommands } from '../../src/catalogue/host-commands.ts';
import type { BmadRecord } from '../../src/model/record.ts';
import { menuTargets } from '../../src/services/delivery/agent.ts';
import { examine } from '../../src/services/diagnosis/findings.ts';
import { createSearch } from '../../src/services/search/search.ts';
import { folderTree } from '../../src/sources/tree.ts';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { countingLooks } from '../support/looked-at.ts';
import { originOf, recordOf } from '../support/records.ts';

const folder = await temporaryFolder(afterAll);
await mkdir(join(folder, '_bmad'));
const origin = { ...originOf(1), root: join(folder, '_bmad') };
const tree = folderTree(origin.root, 1_000_000);
const SMALL = 100;

/** Workflows, an agent for every ten, old names of workflows, and launchers: whatever there may be many of. */
function many(count: number): BmadRecord[] {
  const workflows = Array.from({ length: count }, (_, index) =>
    recordOf(`workflow m${index % 5}/make-thing-${index}`, {
      origin,
      aliases: ['the-same-for-all', `thing ${index}`],
      description: `Makes thing number ${index} of a project, and its plan`,
      bmadRelativePath: `m${index % 5}/workflows/make-thing-${index}/workflow.md`,
    }),
  );
  const old = workflows.map(({ name, moduleName }, index) =>
    recordOf(`workflow ${moduleName}/old-thing-${index}`, { origin, deprecated: { successor: name } }),
  );
  const launchers = workflows.map(({ bmadRelativePath, moduleName }, index) =>
    recordOf(`skill ${moduleName}/start-thing-${index}`, { origin, launches: bmadRelativePath }),
  );
  const agents = workflows
    .filter((_, index) => index % 10 === 0)
    .map(({ moduleName }, index) => recordOf(`agent ${moduleName}/agent-${index}`, { origin }));
  return [...workflows, ...old, ...launchers, ...agents];
}

const catalogueOf = (records: readonly BmadRecord[]): Catalogue =>
  new Catalogue({
    records: [...records],
    modules: [],
    problems: [],
    sources: [{ origin, tree }],
    files: new Map(),
  });

/** What is done with each of many, or with all of them at once. */
const WORK: Record<string, (catalogue: Catalogue) => unknown> = {
  'choosing what is served': () => undefined,
  'following every entry of every menu': (catalogue) => {
    const agent = catalogue.records.find(({ kind }) => kind === 'agent') as BmadRecord;
    const menuTarget = menuTargets(catalogue);
    for (const { bmadRelativePath } of catalogue.winners) menuTarget(`_bmad/${bmadRelativePath}`, agent);
    for (const { name } of catalogue.winners) menuTarget(name, agent);
  },
  'examining an installation': (catalogue) => examine(catalogue),
  'the shortest name of everything': (catalogue) => {
    for (const record of catalogue.winners) catalogue.names.handleOf(record);
  },
  'the first search': (catalogue) => {
    const menuTarget = menuTargets(catalogue);
    return createSearch({
      catalogue,
      describe: async (agent) => ({
        menu: catalogue.winners
          .slice(0, 10)
          .map(({ name: text }) => ({ text, starts: menuTarget(text, agent) })),
      }),
      embedder: async () => undefined,
    }).find({ words: 'old thing 7', kinds: ['workflow', 'agent'], takes: () => true });
  },
  'finding what commands start': async (catalogue) => {
    const started = catalogue.winners.filter(({ kind }) => kind === 'workflow');
    const commands = `commands-${started.length}`;
    const files = started.map(({ bmadRelativePath: path, name }) => [`${name}.md`, `LOAD _bmad/${path}\n`]);
    await writeFiles(join(folder, commands), Object.fromEntries(files) as Record<string, string>);
    await startedByCommands(folderTree(folder, 1_000_000), [commands], catalogue.winners);
  },
};

async function looksOf(work: (catalogue: Catalogue) => unknown, count: number): Promise<number> {
  const { records, looks } = countingLooks(many(count));
  const catalogue = catalogueOf(records);
  await work(catalogue);
  return looks();
}

describe('twice as many records are looked at about twice as often', () => {
  it.each(Object.entries(WORK))('%s (R-04)', async (_what, work) => {
    const few = await looksOf(work, SMALL);
    const twice = await looksOf(work, 2 * SMALL);
    // Sorting adds a little; looking at all of them for each would be four times as often.
    expect(twice / few).toBeLessThan(2.6);
  });
});

it('a later search looks only at what it finds (R-04)', async () => {
  const { records, looks } = countingLooks(many(SMALL));
  const search = createSearch({
    catalogue: catalogueOf(records),
    describe: async () => ({ menu: [] }),
    embedder: async () => undefined,
  });
  const found = async (words: string): Promise<number> =>
    (await search.find({ words, kinds: ['workflow', 'agent'], takes: () => true })).length;
  await found('make thing');
  const before = looks();
  expect(await found('xylophone')).toBe(0);
  expect(await found('make-thing-7')).toBeGreaterThan(0);
  const after = looks();
  expect(await found('xylophone')).toBe(0);
  expect(looks() - after).toBe(0);
  expect(after - before).toBeLessThan(20 * SMALL);
});
