import { cp, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { activate } from '../../src/operations/activation/activate.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { list } from '../../src/operations/catalogue/list.ts';
import { read } from '../../src/operations/catalogue/read.ts';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { projectAt } from '../support/install-project.ts';
import { installOf } from '../support/installs.ts';

/** What BMAD 6.13 might be: a skill under another name, a module that is new, and keys at the top of files that are new. */
async function release(): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  await cp(await installOf('6.12.0'), folder, { recursive: true });
  const change = async (path: string, ...[from, to]: [RegExp, string]): Promise<void> => {
    const file = join(folder, path);
    await writeFile(
      file,
      (await readFile(file, 'utf8')).replaceAll(from, () => to),
    );
  };
  const skills = join(folder, '.claude/skills');
  await change('_bmad/_config/manifest.yaml', /6\.12\.0/g, '6.13.0');
  await rename(join(skills, 'bmad-prd'), join(skills, 'bmad-product-spec'));
  await change('_bmad/_config/skill-manifest.csv', /bmad-prd\b/g, 'bmad-product-spec');
  await change(
    '.claude/skills/bmad-product-spec/SKILL.md',
    /^name: bmad-prd$/gm,
    'name: bmad-product-spec\naudience: [teams]\nruns_in:\n  - sandbox: strict',
  );
  await rename(join(skills, 'bmad-agent-pm'), join(skills, 'bmad-agent-planner'));
  await change('_bmad/_config/skill-manifest.csv', /bmad-agent-pm\b/g, 'bmad-agent-planner');
  await change('_bmad/config.toml', /bmad-agent-pm\b/g, 'bmad-agent-planner');
  await change(
    '.claude/skills/bmad-agent-planner/SKILL.md',
    /^name: bmad-agent-pm$/gm,
    'name: bmad-agent-planner',
  );
  await change('_bmad/_config/manifest.yaml', /^ides:/gm, 'modules_beta: true\nides:');
  await change(
    '_bmad/_config/manifest.yaml',
    /^modules:/gm,
    'modules:\n  - name: fleet\n    version: 0.1.0\n    source: built-in',
  );
  const manifest = join(folder, '_bmad/_config/skill-manifest.csv');
  const row = '"fleet-convoy","fleet-convoy","Plans a convoy","fleet","_bmad/fleet/fleet-convoy/SKILL.md"\n';
  await writeFile(manifest, `${await readFile(manifest, 'utf8')}${row}`);
  await writeFiles(skills, {
    'fleet-convoy/SKILL.md':
      '---\nname: fleet-convoy\ndescription: Plans a convoy\nrelease: 6.13\n---\n# Convoy\n',
  });
  return folder;
}

it('a release that is newer than the built-in one is served, and doctor says what it does not know', async () => {
  const folder = await release();
  const { ask, rows } = await projectAt(folder);
  const text = await readFile(join(folder, '.claude/skills/bmad-product-spec/SKILL.md'), 'utf8');
  expect((await ask(read, { target: 'product-spec', detail: 'full' })).answer.body).toBe(text);
  expect((await ask(activate, { name: 'product-spec', detail: 'full' })).answer.body).toContain('# BMad PRD');
  expect((await ask(activate, { name: 'fleet/fleet-convoy' })).answer.body).toContain('# Convoy');
  expect((await ask(activate, { name: 'architect' })).answer.body).toContain('Winston');
  const names = (await rows(list, { what: 'workflows', limit: 100 })).map(({ name }) => name);
  expect(names).toContain('product-spec');
  // The built-in one keeps the name that the release has given up, and the persona is the release's.
  expect((await ask(activate, { name: 'pm' })).answer.body).toContain('(agent bmm/bmad-agent-pm)');
  expect((await ask(activate, { name: 'John' })).answer.body).toContain('(agent bmm/bmad-agent-planner)');
  const modules = await rows(list, { what: 'modules' });
  expect(modules.find(({ name }) => name === 'bmm')?.['description']).toContain('5 agents');
  const { data, answer } = await ask(doctor, { handshake: false });
  expect(answer.body).toContain('bmm/bmad-agent-planner of Project, by the name "John"');
  expect(data['problems']).toEqual([]);
  expect(data['findings']).toContainEqual({
    level: 'notice',
    about: 'version',
    text: expect.stringMatching(
      /^BMAD 6\.13\.0 is newer than 6\.12\.0, .* Not known here: bmm\/bmad-agent-planner, bmm\/bmad-product-spec, fleet\/fleet-convoy\.$/,
    ) as string,
  });
  const told = (data['findings'] as { text: string }[]).map(({ text: each }) => each);
  expect(told.filter((each) => each.startsWith('The key'))).toEqual([
    'The key "audience" at the top of .claude/skills/bmad-product-spec/SKILL.md is not known to BMAD 6.12.0: it is passed on as it is.',
    'The key "runs_in" at the top of .claude/skills/bmad-product-spec/SKILL.md is not known to BMAD 6.12.0: it is passed on as it is.',
    'The key "release" at the top of .claude/skills/fleet-convoy/SKILL.md is not known to BMAD 6.12.0: it is passed on as it is.',
  ]);
});
