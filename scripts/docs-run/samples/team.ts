import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { writeFiles } from '../../../tests/support/folders.ts';
import { agentFile } from '../../../tests/support/git-repository.ts';
import type { Sample } from '../sample.ts';
import { commit, git } from './git.ts';

/** The team's repository under its usual address, which git finds on this disk; its branch `next` has a change. */
export async function team({ root, home }: Sample): Promise<void> {
  const work = join(root, 'work');
  const bare = join(home, 'hosts', 'bmad-team.git');
  await writeFiles(work, {
    'agents/reviewer.md': agentFile('Reviewer', 'Reads a change', 'You read changes.'),
  });
  await commit(work, 'First');
  await mkdir(join(home, 'hosts'), { recursive: true });
  await git(root, 'clone', '--quiet', '--bare', work, bare);
  await git(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  await writeFile(
    join(home, '.gitconfig'),
    `[url "${pathToFileURL(bare).href}"]\n  insteadOf = https://github.com/acme/bmad-team.git\n[protocol "file"]\n  allow = always\n`,
  );
  const news = join(root, 'news');
  await git(root, 'clone', '--quiet', bare, news);
  await writeFiles(news, {
    'agents/reviewer.md': agentFile('Reviewer', 'Reads a change closely', 'You read changes closely.'),
    'agents/tester.md': agentFile('Tester', 'Tests', 'You test.'),
  });
  await commit(news, 'Second');
  await git(news, 'push', '--quiet', 'origin', 'HEAD:refs/heads/next');
  await rm(news, { recursive: true });
}
