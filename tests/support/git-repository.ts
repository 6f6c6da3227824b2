import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { writeFiles } from './folders.ts';

const run = promisify(execFile);

/** A bare repository on disk, and a work tree in which a test writes commits for it. */
export interface TestRepository {
  /** The bare repository's folder. */
  folder: string;
  /** The work tree's folder; it is made when git is first run in it. */
  work: string;
  /** `git+file://…`, to which a test adds `#ref:/subpath`. */
  source: string;
  /** Replaces, adds and (with undefined) removes files, commits and pushes; answers with the commit's id. */
  commit(files: Readonly<Record<string, string | Buffer | undefined>>, message?: string): Promise<string>;
  /** The id of the newest commit that `commit` has made. */
  readonly head: string;
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

const PROGRAM = ['-c', 'protocol.file.allow=always'];
const WHO = 'Test <test@example.org>';

async function gitIn(folder: string, ...args: string[]): Promise<string> {
  const { stdout } = await run('git', [...PROGRAM, ...args], {
    cwd: folder,
    env: ENVIRONMENT,
    maxBuffer: 100_000_000,
  });
  return stdout.trim();
}

/** As `git init --bare` makes one. Hosts hand out any commit they are asked for; a plain folder has to be told. */
const emptyRepository = (branch: string): Record<string, string> => ({
  HEAD: `ref: refs/heads/${branch}\n`,
  config:
    '[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n[uploadpack]\n\tallowAnySHA1InWant = true\n',
  'objects/info/': '',
  'objects/pack/': '',
  'refs/heads/': '',
  'refs/tags/': '',
});

/** A new bare repository below `parent`, with one commit of these files unless there are none. */
export async function makeRepository(
  parent: string,
  name: string,
  files: Readonly<Record<string, string | Buffer>> = {},
  branch = 'main',
): Promise<TestRepository> {
  const folder = join(parent, `${name}.git`);
  await writeFiles(folder, emptyRepository(branch));
  const repository = openRepository(folder, { branch });
  if (Object.keys(files).length > 0) await repository.commit(files, 'First');
  return repository;
}

/** A repository that is there, with its newest commit. */
export function openRepository(
  folder: string,
  { branch = 'main', head }: { branch?: string; head?: string } = {},
): TestRepository {
  const work = folder.replace(/\.git$/, '-work');
  let newest = head;
  /** It takes several processes to make one and to commit in it, and most tests never look at it. */
  let workTree: Promise<unknown> | undefined;
  const git = async (...args: string[]): Promise<string> => {
    await (workTree ??=
      newest === undefined
        ? gitIn(folder, 'init', '--quiet', `--initial-branch=${branch}`, work).then(() =>
            gitIn(work, 'remote', 'add', 'origin', folder),
          )
        : gitIn(folder, 'clone', '--quiet', '--branch', branch, folder, work));
    return gitIn(work, ...args);
  };
  return {
    folder,
    work,
    source: `git+${pathToFileURL(folder).href}`,
    git,
    async commit(changes, message = 'Change') {
      if (workTree === undefined && !existsSync(work)) {
        newest = await imported(folder, { branch, parent: newest, changes, message });
        return newest;
      }
      // It may be there before git knows it.
      await git('rev-parse', '--git-dir');
      for (const [path, content] of Object.entries(changes)) {
        if (content === undefined) await rm(join(work, path), { recursive: true });
        else await writeFiles(work, { [path]: content });
      }
      await git('add', '--all', '--force');
      await git('commit', '--quiet', '--allow-empty', '-m', message);
      await git('push', '--quiet', '--force', 'origin', 'HEAD');
      newest = await git('rev-parse', 'HEAD');
      return newest;
    },
    get head() {
      if (newest === undefined) throw new Error('There is no commit yet.');
      return newest;
    },
  };
}

/** One commit on a branch of a bare repository, made by one process. */
async function imported(
  folder: string,
  {
    branch,
    parent,
    changes,
    message,
  }: {
    branch: string;
    parent: string | undefined;
    changes: Readonly<Record<string, string | Buffer | undefined>>;
    message: string;
  },
): Promise<string> {
  const data = (content: string | Buffer): Buffer[] => {
    const bytes = Buffer.from(content as string);
    return [Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')];
  };
  const stream = [
    Buffer.from(`commit refs/heads/${branch}\nmark :1\ncommitter ${WHO} now\n`),
    ...data(`${message}\n`),
    Buffer.from(parent === undefined ? '' : `from ${parent}\n`),
    ...Object.entries(changes).flatMap(([path, content]) =>
      content === undefined
        ? [Buffer.from(`D ${path}\n`)]
        : path.endsWith('/')
          ? []
          : [Buffer.from(`M 100644 inline ${path}\n`), ...data(content)],
    ),
    Buffer.from('get-mark :1\ndone\n'),
  ];
  const ended = run('git', ['fast-import', '--quiet', '--done', '--date-format=now'], {
    cwd: folder,
    env: ENVIRONMENT,
  });
  ended.child.stdin?.end(Buffer.concat(stream));
  return (await ended).stdout.trim();
}

/** An agent as a plain Markdown file. */
export function agentFile(name: string, description = `Agent ${name}`, body = `You are ${name}.`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;
}
