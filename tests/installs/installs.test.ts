import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { complete } from '../../src/operations/client/prompts.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { execute } from '../../src/operations/execute.ts';
import { readResource } from '../../src/operations/client/resources.ts';
import { search } from '../../src/operations/catalogue/search.ts';
import type { RecordKind } from '../../src/model/record.ts';
import { contentUri } from '../../src/base/files/paths.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { installAlone } from '../support/install-project.ts';
import { installOf, upgrade, type Version } from '../support/installs.ts';
import { copyFolder } from '../support/folders.ts';
import { isDeep, usually } from '../support/how-much.ts';

/** What is really in each install: counted once by hand on the installers' output, and held here. */
const EXPECTED: Record<Version, Partial<Record<RecordKind, number>>> = {
  '4.44.3': { agent: 38, workflow: 20, task: 70, knowledge: 17, template: 44, checklist: 45, team: 8 },
  '6.0.0-alpha.7': { agent: 19, workflow: 62, task: 5, tool: 1, knowledge: 21, team: 3 },
  '6.0.0-alpha.22': { agent: 25, workflow: 70, task: 6, knowledge: 48, team: 6 },
  '6.0.0-Beta.5': { agent: 10, workflow: 25, task: 8, team: 2 },
  '6.0.4': { agent: 10, workflow: 25, task: 9, team: 2 },
  '6.1.0': { agent: 10, workflow: 34, team: 2 },
  '6.2.0': { agent: 9, workflow: 34, skill: 2, team: 2 },
  '6.3.0': { agent: 6, workflow: 22, skill: 13 },
  '6.5.0': { agent: 6, workflow: 25, skill: 11 },
  '6.8.0': { agent: 6, workflow: 25, skill: 10 },
  '6.12.0': { agent: 5, workflow: 22, skill: 2 },
};

const versions = usually(Object.keys(EXPECTED) as Version[]);

async function openInstall(folder: string) {
  const context = await contextIn(folder, { flags: { discovery: 'local' } });
  return { context, workspace: await context.workspace() };
}

describe.each(versions)('an install of %s', async (version) => {
  const context = await installAlone(version);
  const { catalogue } = await context.workspace();

  it('gives everything that is in it', () => {
    const counts = Object.fromEntries(
      (Object.keys(EXPECTED[version]) as RecordKind[]).map((kind) => [kind, catalogue.count(kind)]),
    );
    expect(counts).toEqual(EXPECTED[version]);
    expect(catalogue.problems).toEqual([]);
  });

  it('serves each record byte for byte', async () => {
    for (const record of catalogue.winners) {
      const outcome = await execute(
        readResource,
        { uri: contentUri(record.bmadRelativePath) },
        context,
        testCall(),
      );
      if (!outcome.ok) throw new Error(`${record.bmadRelativePath}: ${outcome.error.text}`);
      expect(outcome.data['text'], record.bmadRelativePath).toBe(await readFile(record.absolutePath, 'utf8'));
    }
  });

  it('starts each agent and workflow by a name of its own', async () => {
    // What each of them delivers is in delivered-texts.test.ts.
    const started = catalogue.winners.filter(({ kind }) => kind === 'agent' || kind === 'workflow');
    for (const record of started.filter((_, at) => isDeep || at % 4 === 0)) {
      const name = catalogue.names.handleOf(record);
      const kind = record.kind === 'agent' ? 'agent' : 'workflow';
      const outcome = await execute(
        activate,
        { name, kind, message: 'hi', detail: 'full' },
        context,
        testCall(),
      );
      if (!outcome.ok) throw new Error(`${name}: ${outcome.error.text}`);
      expect(outcome.data['name'], name).toBe(`${record.moduleName}/${record.name}`);
      expect(outcome.answer.body, name).toContain('```text\nhi\n```');
    }
  });

  it('is well in the eyes of the doctor', async () => {
    const outcome = await execute(doctor, { handshake: false }, context, testCall());
    if (!outcome.ok) throw new Error(outcome.error.text);
    expect(outcome.data['problems']).toEqual([]);
    expect(
      (outcome.data['findings'] as { level: string }[]).filter(({ level }) => level === 'broken'),
    ).toEqual([]);
    expect(outcome.failed).toBe(false);
  });
});

describe('an install of 6.0.4 upgraded to 6.12.0', async () => {
  const folder = join(await temporaryFolder(afterAll), 'project');
  copyFolder(await installOf('6.0.4'), folder);
  await upgrade(folder, '6.12.0');
  const { context, workspace } = await openInstall(folder);

  it('serves the new skills, and none of what the old manifests still list', () => {
    expect(workspace.catalogue.count('agent')).toBe(5);
    expect(workspace.catalogue.winners.every(({ exists }) => exists)).toBe(true);
    expect(
      workspace.catalogue.records.filter(({ status }) => status === 'no-file-found').length,
    ).toBeGreaterThan(20);
  });

  it('is told to have leftovers', async () => {
    const outcome = await execute(doctor, { handshake: false }, context, testCall());
    if (!outcome.ok) throw new Error(outcome.error.text);
    expect(outcome.failed).toBe(true);
    expect((outcome.data['findings'] as { about: string }[]).map(({ about }) => about)).toContain(
      'missing-files',
    );
  });
});

describe('tools and names of two modules', async () => {
  const context = await installAlone('6.0.0-alpha.7');

  it('finds a tool by its words', async () => {
    const outcome = await execute(search, { query: 'shard document' }, context, testCall());
    if (!outcome.ok) throw new Error(outcome.error.text);
    expect((outcome.data['items'] as { name: string }[])[0]?.name).toBe('shard-doc');
  });

  it('completes to names that can be used', async () => {
    const outcome = await execute(complete, { what: 'workflow', value: 'dev-story' }, context, testCall());
    if (!outcome.ok) throw new Error(outcome.error.text);
    expect(outcome.data['values']).toEqual(['dev-story', 'bmgd/dev-story']);
  });

  it('starts the method’s of two workflows of one name, by name and by command (A-2)', async () => {
    for (const name of ['dev-story', '*dev-story']) {
      const outcome = await execute(activate, { name }, context, testCall());
      expect(outcome.ok ? outcome.data['name'] : outcome.error.text).toBe('bmm/dev-story');
    }
  });
});

describe('version 4 and 6 side by side', async () => {
  const folder = join(await temporaryFolder(afterAll), 'project');
  copyFolder(await installOf('4.44.3'), folder);
  copyFolder(await installOf('6.12.0'), folder);
  const { workspace } = await openInstall(folder);

  it('keeps both, the newer first', () => {
    const { names } = workspace.catalogue;
    expect(names.resolve({ name: 'architect', kinds: ['agent'], fuzzy: false }).record.moduleName).toBe(
      'bmm',
    );
    expect(names.resolve({ name: 'bmad-core/architect', kinds: ['agent'], fuzzy: false }).record.format).toBe(
      'v4-agent',
    );
    expect(names.resolve({ name: 'sm', kinds: ['agent'], fuzzy: false }).record.moduleName).toBe('bmad-core');
  });
});
