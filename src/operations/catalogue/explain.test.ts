import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { execute } from '../execute.ts';
import type { AnyOperation } from '../operation.ts';
import { explain } from './explain.ts';
import { read } from './read.ts';

const agent = (mark: string): string =>
  `---\nname: "architect"\ndescription: "${mark}"\n---\n<agent id="a" name="W" title="Architect" icon="x">\n${mark}\n</agent>\n`;

async function write(folder: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(folder, path, '..'), { recursive: true });
    await writeFile(join(folder, path), text);
  }
}

/** A project, a home and nothing built in, as the examples of the master manifest have it. */
async function world(files: Record<string, string>) {
  const folder = await temporaryFolder(afterAll);
  await mkdir(join(folder, 'project'), { recursive: true });
  await write(folder, files);
  const context = await contextIn(join(folder, 'project'), { home: join(folder, 'home') });
  async function ask(operation: AnyOperation, input: Record<string, unknown>) {
    const outcome = await execute(operation, input, context, testCall());
    if (!outcome.ok) throw new Error(outcome.error.text);
    return outcome;
  }
  return { folder, ask };
}

const PROJECT = {
  'project/bmad/bmm/agents/architect.md': agent('PROJECT'),
  'project/bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.7\nmodules:\n  - bmm\n',
};
const USER = {
  'home/.bmad/bmm/agents/architect.md': agent('USER'),
  'home/.bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.7\nmodules:\n  - bmm\n',
};
const OTHER = { 'home/.bmad/core/agents/architect.md': agent('CORE') };

describe('resolution and its explanation', () => {
  it('takes the project’s before the user’s, whatever else there is', async () => {
    const { ask } = await world({ ...PROJECT, ...USER, ...OTHER });
    expect((await ask(read, { target: 'architect', kind: 'agent' })).answer.body).toContain('PROJECT');
    const { data } = await ask(explain, { target: 'architect', kind: 'agent' });
    const candidates = data['candidates'] as {
      name: string;
      origin: string;
      priority: number;
      chosen: boolean;
      why: string;
    }[];
    expect(candidates.map(({ name, priority, chosen }) => [name, priority, chosen])).toEqual([
      ['bmm/architect', 1, true],
      ['bmm/architect', 4, false],
      ['core/architect', 4, false],
      ['bmm/bmad-agent-architect', 9, false],
    ]);
    expect(candidates[1]?.why).toBe('Project has a higher rank (1)');
  });

  it('takes the module that is asked for, even from a lower rank', async () => {
    const { ask } = await world({ ...PROJECT, ...USER, ...OTHER });
    expect((await ask(read, { target: 'core/architect' })).answer.body).toContain('CORE');
  });

  it('lets a file in the project override the user’s', async () => {
    const before = await world({ ...USER });
    expect((await before.ask(read, { target: 'bmm/architect' })).answer.body).toContain('USER');
    const after = await world({ ...PROJECT, ...USER });
    expect((await after.ask(read, { target: 'bmm/architect' })).answer.body).toContain('PROJECT');
  });

  it('explains a file of several origins', async () => {
    const { ask, folder } = await world({
      ...PROJECT,
      ...USER,
      'project/bmad/bmm/config.yaml': 'user_name: Ada\n',
      'home/.bmad/bmm/config.yaml': 'user_name: Bob\n',
    });
    const { data, answer } = await ask(explain, { target: 'bmad://bmm/config.yaml' });
    expect(
      (data['candidates'] as { path: string; chosen: boolean }[]).map(({ path, chosen }) => [path, chosen]),
    ).toEqual([
      [join(folder, 'project/bmad/bmm/config.yaml'), true],
      [join(folder, 'home/.bmad/bmm/config.yaml'), false],
    ]);
    expect(answer.note).toBe('bmad://bmm/config.yaml is read from Project.');
  });

  it('explains a configuration key by file and line', async () => {
    const { ask } = await world({
      'project/_bmad/config.toml': '# installer\n[core]\nuser_name = "BMad"\n',
      'project/_bmad/custom/config.toml': '[core]\n\nuser_name = "Ada"\n',
    });
    const { data } = await ask(explain, { target: 'core.user_name' });
    expect(data['layers']).toEqual([
      { key: 'core.user_name', file: '_bmad/config.toml', line: 3, value: '"BMad"', chosen: false },
      { key: 'core.user_name', file: '_bmad/custom/config.toml', line: 3, value: '"Ada"', chosen: true },
    ]);
  });

  it('explains each customized value of a skill', async () => {
    const { ask } = await world({
      'project/_bmad/custom/bmad-agent-architect.toml': '[agent]\nrole = "Ours"\nprinciples = ["One more"]\n',
    });
    const { data } = await ask(explain, { target: 'architect' });
    const layers = data['layers'] as { key: string; file: string; line: number; chosen: boolean }[];
    expect(
      layers.filter(({ key }) => key === 'agent.role').map(({ file, line, chosen }) => [file, line, chosen]),
    ).toEqual([
      ['bmad://bmm/agents/bmad-agent-architect/customize.toml', 40, false],
      ['_bmad/custom/bmad-agent-architect.toml', 2, true],
    ]);
    expect(layers.filter(({ key, chosen }) => key === 'agent.principles' && chosen).length).toBe(2);
  });
});
