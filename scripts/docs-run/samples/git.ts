import { execFile } from 'node:child_process';
import process from 'node:process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The same people at the same time, so that commits have the same ids everywhere. */
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@example.org',
  GIT_AUTHOR_DATE: '2026-11-15T09:00:00Z',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@example.org',
  GIT_COMMITTER_DATE: '2026-11-15T09:00:00Z',
};

export async function git(folder: string, ...args: string[]): Promise<string> {
  return (await run('git', args, { cwd: folder, env: ENVIRONMENT })).stdout.trim();
}

/** A repository in the folder, if there is none yet, with one more commit of everything in it. */
export async function commit(folder: string, message: string): Promise<string> {
  await git(folder, 'init', '--quiet', '--initial-branch=main');
  await git(folder, 'add', '--all');
  await git(folder, 'commit', '--quiet', '-m', message);
  return git(folder, 'rev-parse', 'HEAD');
}
