import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { commitAll } from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { createProgress } from './progress.ts';

it('names what is not committed file by file, both ends of a renaming, from the top of a project in a repository', async () => {
  const repository = await temporaryFolder(onTestFinished);
  await writeFiles(repository, { 'README.md': 'x\n', 'shop/my plan.md': 'a plan\n' });
  await commitAll(repository);
  const root = join(repository, 'shop');
  const { uncommitted } = createProgress(root, { PATH: process.env['PATH'] });
  const ask = (): Promise<string[]> => uncommitted(new AbortController().signal);
  expect(await ask()).toEqual([]);
  execFileSync('git', ['mv', 'my plan.md', 'plan.md'], { cwd: root });
  await writeFiles(repository, { 'other.md': 'x\n', 'shop/_bmad-output/.runs/a.json': '{}\n' });
  expect((await ask()).sort()).toEqual(['_bmad-output/.runs/a.json', 'my plan.md', 'plan.md']);
});
