import { readFile, realpath } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type CsvRow, csvRows } from '../../src/base/parse/parse.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { listWorkflows } from '../../src/operations/catalogue/details.ts';
import { listResources, readResource } from '../../src/operations/client/resources.ts';
import { sessionIn, type OpenSession } from '../support/operations.ts';
import { installOf, type Version } from '../support/installs.ts';
import { ofUsual, usually } from '../support/how-much.ts';

/** Nothing but the install, so that every line comes from it. */
const opened = new Map<Version, Promise<OpenSession>>();

function projectOf(version: Version): Promise<OpenSession> {
  const known =
    opened.get(version) ??
    installOf(version).then((folder) => sessionIn(folder, { flags: { discovery: 'local' } }));
  opened.set(version, known);
  return known;
}

async function text(version: Version, uri: string): Promise<string> {
  return (await (await projectOf(version)).ok(readResource, { uri })).data['text'] as string;
}

async function served(version: Version, name: string): Promise<CsvRow[]> {
  return csvRows(name, await text(version, `bmad://manifests/${name}`));
}

/** The install's own manifest; its cells as a reader of CSV sees them. */
async function installed(version: Version, config: string, name: string): Promise<CsvRow[]> {
  return csvRows(
    name,
    await readFile(join(await installOf(version), config, `${name}-manifest.csv`), 'utf8'),
  );
}

const plain = (cell: string): string =>
  cell
    .replaceAll('&apos;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('""', '"')
    .trim();

interface Master {
  agents: Record<string, unknown>[];
  workflows: Record<string, unknown>[];
}

describe('M-06: manifests say what the install says', () => {
  it.each(
    ofUsual([
      ['6.0.0-alpha.7', 'bmad/_cfg', 19],
      ['6.0.4', '_bmad/_config', 10],
      ['6.3.0', '_bmad/_config', 6],
    ] as const),
  )('of agents: role, identity, style, principles and path (%s)', async (version, config, count) => {
    const rows = await served(version, 'agents');
    expect(rows).toHaveLength(count);
    for (const own of await installed(version, config, 'agent')) {
      const path = own.cell('path');
      const row = rows.find(
        ({ cell }) => cell('path') === path || (version === '6.3.0' && cell('name') === own.cell('name')),
      );
      for (const name of ['role', 'identity', 'communicationStyle', 'principles'])
        expect(row?.cell(name), `${path} ${name}`).toBe(plain(own.cell(name)));
    }
    expect(rows.filter(({ cell }) => cell('identity') !== '').length).toBeGreaterThan(count - 2);
    // A path that a manifest names can be read as it is.
    for (const { cell } of rows) expect(await text(version, `bmad://${cell('path')}`)).not.toBe('');
  });

  it('of tasks and workflows: whether they stand alone, and who wrote them (6.0.0-alpha.7)', async () => {
    const tasks = await served('6.0.0-alpha.7', 'tasks');
    for (const own of await installed('6.0.0-alpha.7', 'bmad/_cfg', 'task')) {
      const row = tasks.find(({ cell }) => cell('path') === own.cell('path'));
      expect(row?.cell('standalone'), own.cell('name')).toBe(own.cell('standalone'));
    }
    expect(new Set(tasks.map(({ cell }) => cell('standalone')))).toEqual(new Set(['true', 'false']));
    const workflows = await served('6.0.0-alpha.7', 'workflows');
    for (const own of await installed('6.0.0-alpha.7', 'bmad/_cfg', 'workflow')) {
      const row = workflows.find(({ cell }) => cell('path') === own.cell('path'));
      if (row !== undefined) expect(row.cell('standalone'), own.cell('path')).toBe(own.cell('standalone'));
    }
    expect(workflows.find(({ cell }) => cell('path').includes('/prd/'))?.cell('author')).toBe('BMad');
  });

  it('of version 4 and of the built-in agents, which no manifest describes, their own words', async () => {
    const old = await served('4.44.3', 'agents');
    const analyst = old.find(({ cell }) => cell('path') === '.bmad-core/agents/analyst.md');
    expect(analyst?.cell('role')).toBe('Insightful Analyst & Strategic Ideation Partner');
    expect(analyst?.cell('principles')).toMatch(/^Curiosity-Driven Inquiry - Ask probing/);
    const current = await served('6.12.0', 'agents');
    expect(current.find(({ cell }) => cell('displayName') === 'Mary')?.cell('identity')).toMatch(
      /^Channels Michael Porter's/,
    );
  });

  it.each([
    ['6.0.0-alpha.7', 'bmad/_cfg', 'bmad/bmm/agents/analyst.md', 'bmm/agents/analyst.md'],
    ['6.0.4', '_bmad/_config', '_bmad/bmm/agents/analyst.md', 'bmm/agents/analyst.md'],
    ['4.44.3', '.bmad-core', '.bmad-core/agents/analyst.md', 'bmad-core/agents/analyst.md'],
  ] as const)(
    'paths have the folder and the module in them (%s)',
    async (version, config, path, inModule) => {
      const folder = await realpath(await installOf(version));
      const master = JSON.parse(await text(version, 'bmad://manifests/master.json')) as Master;
      const analyst = master.agents.find(({ bmadRelativePath }) => bmadRelativePath === path);
      expect(analyst).toMatchObject({
        moduleRelativePath: inModule,
        absolutePath: join(folder, path),
        origin: { kind: 'project', manifestDir: join(folder, config) },
      });
      expect(analyst?.['role']).not.toBe('');
      for (const { bmadRelativePath, absolutePath } of [...master.agents, ...master.workflows])
        expect(join(folder, String(bmadRelativePath)), basename(String(absolutePath))).toBe(absolutePath);
    },
  );

  it('lists what the server makes in words for people', async () => {
    const { ok } = await projectOf('6.0.4');
    const items: { uri: string; origin: string; description?: string }[] = [];
    for (let cursor: string | undefined, first = true; first || cursor !== undefined; first = false) {
      const { data } = await ok(listResources, cursor === undefined ? {} : { cursor });
      items.push(...(data['items'] as typeof items));
      cursor = data['next'] as string | undefined;
    }
    const made = items.filter(({ origin }) => origin === 'generated');
    expect(made.length).toBeGreaterThan(6);
    for (const { uri, description } of made) expect(description ?? '', uri).toMatch(/^\p{Lu}.{20,}/u);
  });
});

describe('M-11: modules and agents say what they are', () => {
  it('modules: name, version, purpose and what is in them (6.0.0-alpha.7)', async () => {
    const { answer } = await (await projectOf('6.0.0-alpha.7')).ok(list, { what: 'modules' });
    expect(answer.body).toContain(
      '- **bmb** BMad Builder 6.0.0-alpha.7: Specialized tools and workflows for creating, customizing, and extending BMad',
    );
    const full = await (await projectOf('6.0.0-alpha.7')).ok(list, { what: 'modules', detail: 'full' });
    expect(full.answer.body).toMatch(/complete modules\.; 1 agent, \d+ workflows/);
    for (const line of answer.body.split('\n'))
      expect(line).toMatch(/^- \*\*\w+\*\* .+ 6\.0\.0-alpha\.7: .{20,}/);
  });

  it.each(usually(['6.0.0-alpha.7', '6.0.4', '6.3.0']))('agents: role and identity (%s)', async (version) => {
    const { answer } = await (await projectOf(version)).ok(list, { what: 'agents', module: 'bmm' });
    expect(answer.body).not.toMatch(/ (\w[\w ]+) \(bmm\): \1$/m);
    if (version !== '6.3.0')
      expect(answer.body).toMatch(
        /Business Analyst \(bmm\): Strategic Business Analyst \+ Requirements Expert\. Senior/,
      );
  });
});

describe('M-10: one vocabulary of phases', () => {
  const names = (data: Record<string, unknown>): string[] =>
    (data['items'] as { name: string }[]).map(({ name }) => name).sort();

  it.each(usually(['6.0.0-alpha.7', '6.0.4', '6.3.0', '6.12.0']))(
    'takes both spellings of each phase in every list alike (%s)',
    async (version) => {
      const { ok } = await projectOf(version);
      for (const [at, category] of ['analysis', 'planning', 'solutioning', 'implementation'].entries()) {
        const found = names((await ok(list, { what: 'workflows', category, limit: 200 })).data);
        expect(found, category).not.toEqual([]);
        const numbered = await ok(list, { what: 'workflows', category: `${at + 1}-${category}`, limit: 200 });
        expect(names(numbered.data)).toEqual(found);
        for (const spelling of [category, `${at + 1}-${category}`]) {
          const { data } = await ok(listWorkflows, { category: spelling });
          const listed = data['workflows'] as { name: string; category: string }[];
          expect(data['total']).toBe(found.length);
          for (const each of listed) expect(each.category).toBe(category);
        }
      }
    },
  );

  it.each(usually(['6.0.0-alpha.7', '6.0.4']))(
    'takes the two of 6.12 for what they do, in %s',
    async (version) => {
      const { ok } = await projectOf(version);
      for (const [coarse, category] of [
        ['plan', 'planning'],
        ['ship', 'implementation'],
      ])
        expect(names((await ok(list, { what: 'workflows', category: coarse, limit: 200 })).data)).toEqual(
          names((await ok(list, { what: 'workflows', category, limit: 200 })).data),
        );
    },
  );

  it('groups what 6.12 calls plan and ship', async () => {
    const { ok } = await projectOf('6.12.0');
    const group = async (category: string): Promise<string[]> =>
      names((await ok(list, { what: 'workflows', category })).data);
    expect(await group('analysis')).toEqual(
      expect.arrayContaining(['brainstorming', 'product-brief', 'prfaq']),
    );
    expect(await group('planning')).toEqual(expect.arrayContaining(['prd', 'ux', 'spec']));
    expect(await group('solutioning')).toEqual(['architecture', 'create-epics-and-stories']);
    expect(await group('implementation')).toEqual(
      expect.arrayContaining(['build', 'code-review', 'sprint-planning']),
    );
    expect(await group('plan')).toEqual(expect.arrayContaining(['prd', 'architecture']));
  });

  it('shows the author of a workflow', async () => {
    const { ok } = await projectOf('6.0.0-alpha.7');
    const { data } = await ok(listWorkflows, { category: 'planning', module: 'bmm' });
    expect((data['workflows'] as { author?: string }[]).map(({ author }) => author)).toContain('BMad');
  });
});
