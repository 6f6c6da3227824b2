import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession, type Session } from '../../../tests/support/operations.ts';
import { activate } from '../../operations/activation/activate.ts';
import { read } from '../../operations/catalogue/read.ts';
import { load } from '../../operations/catalogue/records.ts';
import { readResource } from '../../operations/client/resources.ts';

const agent = (text: string): string => `---\nname: Reviewer\ndescription: Reads\n---\n\n${text}\n`;
const workflow = 'name: ship\ndescription: Ships\ninstructions: "{installed_path}/ship-steps.md"\n';

const installed = (text: string): Record<string, string> => ({
  '_config/manifest.yaml': 'installation:\n  version: 6.12.0\n',
  'acme/plan/deploy/SKILL.md': `---\nname: deploy-${text}\ndescription: d\n---\n\n# Deploy of ${text}\n`,
  'acme/plan/deploy/customize.toml': `[workflow]\ngreeting = "facts of ${text}"\n`,
  'acme/plan/deploy/workflow.md': `Steps of ${text} with {{.user_name}} and {workflow.greeting}\n`,
});

function below(folder: string, files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text]));
}

async function open(files: Record<string, string>, paths: readonly string[]): Promise<Session> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  return openSession(afterAll, { flags: { paths: paths.map((path) => join(folder, path)) } });
}

describe('two origins with the same path', async () => {
  const session = await open(
    {
      'one/agents/reviewer.md': agent('Text of one'),
      'one/workflows/ship.yaml': workflow,
      'one/workflows/ship-steps.md': 'Steps of one',
      'two/agents/reviewer.md': agent('Text of two'),
      'two/agents/only-two.md': agent('Only two has it'),
      'two/workflows/ship.yaml': workflow,
      'two/workflows/ship-steps.md': 'Steps of two',
    },
    ['one', 'two'],
  );
  const text = async (operation: Parameters<Session['ok']>[0], input: unknown): Promise<string> =>
    String((await session.ok(operation, input)).data['text']);

  it.each(['one', 'two'])('deliver each its own: %s', async (module) => {
    const other = module === 'one' ? 'two' : 'one';
    for (const input of [{ name: `${module}/reviewer` }, { name: 'reviewer', module }]) {
      const started = await text(activate, input);
      expect(started).toContain(`Text of ${module}`);
      expect(started).not.toContain(`Text of ${other}`);
    }
    const shown = await session.ok(read, { target: 'reviewer', kind: 'agent', module });
    expect(shown.data['text']).toContain(`Text of ${module}`);
    expect((await session.ok(read, { target: `${module}/reviewer` })).data['text']).toContain(
      `Text of ${module}`,
    );
  });

  it.each(['one', 'two'])('take the parts of a workflow from where it is: %s', async (module) => {
    const started = await text(activate, { name: `${module}/ship` });
    expect(started).toContain(`Steps of ${module}`);
    expect(started).not.toContain(`Steps of ${module === 'one' ? 'two' : 'one'}`);
  });

  it('mean the first by URI, and any that has it', async () => {
    for (const operation of [read, readResource]) {
      const key = operation === read ? 'target' : 'uri';
      expect(await text(operation, { [key]: 'bmad://agents/reviewer.md' })).toContain('Text of one');
      expect(await text(operation, { [key]: 'bmad://agents/only-two.md' })).toContain('Only two');
      expect(await text(operation, { [key]: 'bmad://agents/only-two' })).toContain('Only two');
    }
  });
});

describe('instructions that are another file', async () => {
  const named = (name: string, path: string): Record<string, string> => ({
    [`_bmad/bmm/workflows/${name}/workflow.yaml`]: `name: ${name}\ndescription: d\ninstructions: "${path}"\n`,
  });
  const session = await open(
    {
      '_bmad/_config/manifest.yaml': 'installation:\n  version: 6.0.0\n',
      '_bmad/bmm/config.yaml': 'user_name: Ada\napi_key: abcd1234efgh5678\n',
      ...named('leak', '{project-root}/_bmad/bmm/config.yaml'),
      ...named('vast', '{installed_path}/vast.md'),
      '_bmad/bmm/workflows/vast/vast.md': 'x'.repeat(20_000_000),
    },
    ['_bmad'],
  );

  it('are masked as every file is', async () => {
    const shown = String((await session.ok(read, { target: 'leak', kind: 'workflow' })).data['text']);
    const { data } = await session.ok(load, { name: 'leak', kind: 'workflow' });
    for (const text of [shown, JSON.stringify(data['instructions'])]) {
      expect(text).toContain('user_name: Ada');
      expect(text).toContain('api_key: ***');
      expect(text).not.toContain('abcd1234efgh5678');
    }
  });

  it('do not keep back the main file where they cannot be read', async () => {
    const shown = await session.ok(read, { target: 'vast', kind: 'workflow' });
    expect(shown.data['text']).toContain('name: vast');
    expect(shown.data).not.toHaveProperty('along');
    const { data } = await session.ok(load, { name: 'vast', kind: 'workflow' });
    expect(data['content']).toContain('name: vast');
    expect(data).not.toHaveProperty('instructions');
  });
});

describe('two installs with a skill at the same path', async () => {
  const session = await open({ ...below('a', installed('one')), ...below('b', installed('two')) }, [
    'a',
    'b',
  ]);

  it.each(['one', 'two'])('customize and render each its own: %s', async (name) => {
    const { data } = await session.ok(activate, { name: `acme/deploy-${name}` });
    const other = name === 'one' ? 'two' : 'one';
    expect(data['text']).toContain(`Steps of ${name}`);
    expect(data['text']).toContain(`facts of ${name}`);
    expect(data['text']).not.toContain(`of ${other}`);
    const rendered = await session.ok(read, { target: `bmad://rendered/deploy-${name}/workflow.md` });
    expect(rendered.data['text']).toContain(`Steps of ${name}`);
  });
});
