import { execFile } from 'node:child_process';
import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { linePlaces } from '../../src/kit/project-log.ts';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/folders.ts';
import { setupIn } from '../support/tasks.ts';

it('asks git for the first commit of a project once for each that it is at, also without a cache', async () => {
  const [folder, other] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
  const [asked, path] = [join(other, 'asked'), process.env['PATH'] ?? ''];
  await writeFiles(other, {
    'bin/git': `#!/bin/sh\necho "$*" >> '${asked}'\nPATH='${path}'\nexec git "$@"\n`,
  });
  await chmod(join(other, 'bin/git'), 0o755);
  await writeFiles(folder, { '_bmad-output/note.md': '# Work\n' });
  const git = async (...args: string[]) => promisify(execFile)('git', args, { cwd: folder });
  const commit = async () =>
    git('-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '-qm', 'x', '--allow-empty');
  await git('init', '-q', '.');
  await commit();
  // No folder can be made where a file is.
  const setup = {
    ...(await setupIn(folder, other)),
    cache: asked,
    env: { PATH: `${join(other, 'bin')}:${path}` },
  };
  const mirrors = new Set<string | undefined>();
  const looked = async (): Promise<number> => {
    for (let time = 0; time < 3; time += 1) mirrors.add((await linePlaces(setup)).all.mirror);
    return (await readFile(asked, 'utf8')).match(/rev-list --first-parent/g)?.length ?? 0;
  };
  expect(await looked()).toBe(1);
  await commit();
  expect(await looked()).toBe(2);
  expect([...mirrors]).toEqual([expect.any(String)]);
});
