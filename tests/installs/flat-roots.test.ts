import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { load } from '../../src/operations/catalogue/records.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { listResources, readResource } from '../../src/operations/client/resources.ts';
import { execute } from '../../src/operations/execute.ts';
import type { AnyOperation } from '../../src/operations/operation.ts';
import { contextIn, temporaryFolder, testCall } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';

const FLAT = {
  'workflows/deploy/workflow.yaml':
    'name: deploy-it\ndescription: Deploys\ninstructions: "{installed_path}/instructions.md"\ntemplate: "{installed_path}/template.md"\nvalidation: "{installed_path}/checklist.md"\n',
  'workflows/deploy/instructions.md': '# How to deploy\n',
  'workflows/deploy/template.md': '# Report\n',
  'workflows/broken/workflow.yaml':
    'name: half\ndescription: Has no instructions\ninstructions: "{installed_path}/gone.md"\n',
  'workflows/steps/workflow.md': '---\nname: stepwise\ndescription: In steps\n---\n\nRead ./steps/one.md\n',
  'workflows/steps/steps/one.md': 'One\n',
  'tasks/mytask.xml':
    '<task id="mytask" name="My Task" description="Does it">\n  <step>Do it</step>\n</task>\n',
  'tasks/plain.md': '---\nname: plain\ndescription: In Markdown\n---\n\nDo it.\n',
  'runs/notes.md': '---\nname: notes\ndescription: Not a run\n---\n\nNotes\n',
  'contracts/terms.md': 'Terms\n',
};

describe('a flat folder of content in the home folder', async () => {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(join(folder, 'home/.bmad'), FLAT);
  await writeFiles(folder, { 'project/package.json': '{}', 'project/.git/': '' });
  const context = await contextIn(join(folder, 'project'), { home: join(folder, 'home') });

  async function ok(operation: AnyOperation, input: unknown) {
    const outcome = await execute(operation, input, context, testCall());
    if (!outcome.ok) throw new Error(outcome.error.text);
    return outcome;
  }

  it('M-07: has its workflows and tasks', async () => {
    for (const [name, text] of [
      ['deploy-it', '# How to deploy'],
      ['deploy', '# How to deploy'],
      ['stepwise', 'Read ./steps/one.md'],
      ['mytask', '<step>Do it</step>'],
      ['My Task', '<step>Do it</step>'],
      ['plain', 'Do it.'],
    ] as const)
      expect((await ok(activate, { name, kind: 'workflow' })).answer.body, name).toContain(text);
  });

  it('M-07: has no address in its lists that cannot be read', async () => {
    const items: { uri: string; origin: string }[] = [];
    for (let cursor: unknown = undefined; items.length === 0 || cursor !== undefined;) {
      const { data } = await ok(listResources, cursor === undefined ? {} : { cursor });
      items.push(...(data['items'] as typeof items));
      cursor = data['next'];
    }
    const uris = items.filter(({ origin }) => origin === 'User').map(({ uri }) => uri);
    expect(uris).toEqual(
      expect.arrayContaining([
        'bmad://tasks/mytask.xml',
        'bmad://runs/notes.md',
        'bmad://contracts/terms.md',
      ]),
    );
    for (const uri of uris) {
      const path = uri.replace('bmad://', '') as keyof typeof FLAT;
      const want = FLAT[path] ?? '';
      if (uri.startsWith('skill:')) continue;
      expect((await ok(readResource, { uri })).data['text'], uri).toBe(want);
      expect((await ok(read, { target: uri })).data['text'], uri).toBe(want);
    }
    // What is no file is still the project's state.
    expect((await ok(read, { target: 'bmad://tasks' })).data['text']).toContain('# Tasks');
  });

  it('M-08: shows all files of a workflow with their sizes, and those that are missing', async () => {
    const want = {
      files: [
        { uri: 'bmad://workflows/deploy/instructions.md', bytes: 16 },
        { uri: 'bmad://workflows/deploy/template.md', bytes: 9 },
      ],
      missing: ['validation: bmad://workflows/deploy/checklist.md does not exist'],
    };
    const shown = await ok(read, { target: 'deploy-it', kind: 'workflow' });
    expect(shown.data).toMatchObject(want);
    expect(shown.answer.note).toContain(
      'Missing: validation: bmad://workflows/deploy/checklist.md does not exist.\nIts other files: bmad://workflows/deploy/instructions.md (16 bytes), bmad://workflows/deploy/template.md (9 bytes).',
    );
    expect((await ok(load, { name: 'deploy-it', kind: 'workflow' })).data).toMatchObject(want);
    const half = await ok(read, { target: 'half', kind: 'workflow' });
    expect(half.data['missing']).toEqual(['instructions: bmad://workflows/broken/gone.md does not exist']);
    expect((await ok(activate, { name: 'half', kind: 'workflow' })).answer.body).toContain(
      '"instructions" names workflows/broken/gone.md, which does not exist',
    );
  });

  it('M-08: tells of them in the doctor, as broken where the instructions are missing', async () => {
    const { data, failed } = await ok(doctor, { handshake: false });
    expect(failed).toBe(true);
    expect(data['problems']).toEqual([
      'workflows/broken/workflow.yaml: "instructions" names workflows/broken/gone.md, which does not exist',
    ]);
    expect(data['findings']).toContainEqual({
      level: 'notice',
      about: 'content',
      text: 'workflows/deploy/workflow.yaml: "validation" names workflows/deploy/checklist.md, which does not exist',
    });
  });
});
