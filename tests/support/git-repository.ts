import { execFile } from 'node:child_process';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { writeFiles } from './folders.ts';

const run = promisify(execFile);

/** A bare repository on disk, and a work tree in which a test writes commits for it. */
export interface TestRepository {
  /** The bare repository's folder. */
  folder: string;
  /** `git+file://…`, to which a test adds `#ref:/subpath`. */
  source: string;
  /** Replaces, adds and (with undefined) removes files, commits and pushes; answers with the commit's id. */
  commit(files: Readonly<Record<string, string | Buffer | undefined>>, message?: string): Promise<string>;
  /** Runs git in the work tree. */
  git(...args: string[]): Promise<string>;
}

/** An identity and nothing of the machine's own configuration. */
const ENVIRONMENT = {
  PATH: process.env['PATH'] ?? '',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Test',
  GIT_AUTHOR_EMAIL: 'test@example.org',
  GIT_COMMITTER_NAME: 'Test',
  GIT_COMMITTER_EMAIL: 'test@example.org',
  GIT_ALLOW_PROTOCOL: 'file',
};

async function gitIn(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', ['-c', 'protocol.file.allow=always', ...args], {
    cwd: folder,
    env: ENVIRONMENT,
    maxBuffer: 100_000_000,
  });
  return stdout.trim();
}

/** A new bare repository below `parent`, with one commit of these files unless there are none. */
export async function makeRepository(
  parent: string,
  name: string,
  files: Readonly<Record<string, string | Buffer>> = {},
  branch = 'main',
): Promise<TestRepository> {
  const folder = join(parent, `${name}.git`);
  const work = join(parent, `${name}-work`);
  await mkdir(work, { recursive: true });
  await gitIn(parent, 'init', '--quiet', '--bare', `--initial-branch=${branch}`, folder);
  // Hosts hand out any commit they are asked for; a plain folder has to be told.
  await gitIn(folder, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
  await gitIn(work, 'init', '--quiet', `--initial-branch=${branch}`);
  await gitIn(work, 'remote', 'add', 'origin', folder);
  const repository: TestRepository = {
    folder,
    source: `git+${pathToFileURL(folder).href}`,
    git: (...args) => gitIn(work, ...args),
    async commit(changes, message = 'Change') {
      for (const [path, content] of Object.entries(changes)) {
        if (content === undefined) await rm(join(work, path), { recursive: true });
        else await writeFiles(work, { [path]: content });
      }
      await gitIn(work, 'add', '--all', '--force');
      await gitIn(work, 'commit', '--quiet', '--allow-empty', '-m', message);
      await gitIn(work, 'push', '--quiet', '--force', 'origin', 'HEAD');
      return gitIn(work, 'rev-parse', 'HEAD');
    },
  };
  if (Object.keys(files).length > 0) await repository.commit(files, 'First');
  return repository;
}

/** An agent as a plain Markdown file. */
export function agentFile(name: string, description = `Agent ${name}`, body = `You are ${name}.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
}
