import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, copyFile, mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { delimiter, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { commitAll } from '../../../tests/support/contract-project.ts';
import { gitHead, gitIsRelated, gitLog, gitOrigin, type GitQuestion, gitWorkTree } from './git.ts';

const run = promisify(execFile);
const env = { PATH: process.env['PATH'], HOME: '/nonexistent' };

/** A repository of somebody else's, whose configuration came with it, and the file its programs would make. */
async function repository(): Promise<{ root: string; ran: string }> {
  const folder = await temporaryFolder(onTestFinished);
  const [root, ran] = [join(folder, 'project'), join(folder, 'ran')];
  await mkdir(root);
  await writeFile(join(root, '.gitattributes'), '*.txt filter=one\n*.md filter=a.b\n');
  await writeFile(join(root, 'a.txt'), 'text\n');
  await writeFile(join(root, 'b.md'), 'text\n');
  await commitAll(root);
  // A file whose time differs from the index has to be compared by its content, which goes through filters.
  for (const name of ['a.txt', 'b.md']) await utimes(join(root, name), 1, 1);
  return { root, ran };
}

const asked = (given: Record<string, string | undefined> = env) => ({
  env: given,
  timeoutMs: 60_000,
  signal: new AbortController().signal,
});

const gitStatus = async (root: string, question: GitQuestion) =>
  (await gitWorkTree(root, question))?.status();
const ask = (root: string) => gitStatus(root, asked());
const AT_A_COMMIT = { commit: expect.stringMatching(/^[0-9a-f]{40}$/) as string };

const config = (root: string, name: string, value: string) =>
  run('git', ['-C', root, 'config', '--add', name, value]);

describe.runIf(process.platform !== 'win32')('git that is asked about a project', () => {
  it.each(['clean', 'process'])('runs no filter that the repository names: %s (S-17)', async (kind) => {
    const { root, ran } = await repository();
    for (const name of ['one', 'a.b'])
      await config(root, `filter.${name}.${kind}`, `sh -c 'touch "${ran}"; cat'`);
    await config(root, 'filter.one.required', 'true');
    // As the attack does it, to see that it is one.
    await run('git', ['-C', root, 'status'], { env: { ...env, GIT_OPTIONAL_LOCKS: '0' } }).catch(() => '');
    expect(existsSync(ran)).toBe(true);
    await rm(ran);
    expect(await ask(root)).toMatchObject(AT_A_COMMIT);
    expect(existsSync(ran)).toBe(false);
  });

  it('runs no filter of a file that the configuration includes (S-17)', async () => {
    const { root, ran } = await repository();
    await writeFile(join(root, '.git/more'), `[filter "one"]\n\tclean = touch "${ran}"; cat\n`);
    await config(root, 'include.path', 'more');
    expect(await ask(root)).toMatchObject(AT_A_COMMIT);
    expect(existsSync(ran)).toBe(false);
  });

  it('says that it did not answer in time, and not that there are no commits (N-08)', async () => {
    const { root } = await repository();
    const commit = (await gitHead(root, asked())) ?? '';
    const home = await temporaryFolder(onTestFinished);
    await writeFile(join(home, 'git'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 });
    const late = { ...asked({ ...env, PATH: `${home}${delimiter}${env.PATH}` }), timeoutMs: 50 };
    const related = { commit, others: [commit] };
    // One after the other: a refusal that nobody waits for yet would end the run.
    for (const answer of [
      () => gitHead(root, late),
      () => gitOrigin(root, late),
      () => gitIsRelated(root, late, related),
    ])
      await expect(answer()).rejects.toMatchObject({
        code: 'unavailable',
        message: 'Git did not answer in time.',
      });
    expect(await gitStatus(root, late)).toBeUndefined();
  });

  it('is not asked at all where a filter cannot be switched off (S-17)', async () => {
    const { root, ran } = await repository();
    await appendFile(join(root, '.git/config'), `[filter "x=y"]\n\tclean = touch "${ran}"; cat\n`);
    await writeFile(join(root, '.git/info/attributes'), '* filter=x=y\n');
    expect(await ask(root)).toBeUndefined();
    expect(existsSync(ran)).toBe(false);
  });

  it('is not asked at all where the name of a filter is no text (S-26)', async () => {
    const { root, ran } = await repository();
    const named = (before: string, after: string): Buffer =>
      Buffer.concat([Buffer.from(before), Buffer.from([0xff]), Buffer.from(after)]);
    await appendFile(join(root, '.git/config'), named('[filter "', `"]\n\tclean = touch "${ran}"; cat\n`));
    await writeFile(join(root, '.git/info/attributes'), named('* filter=', '\n'));
    await run('git', ['-C', root, 'status'], { env }).catch(() => '');
    expect(existsSync(ran)).toBe(true);
    await rm(ran);
    expect(await ask(root)).toBeUndefined();
    expect(existsSync(ran)).toBe(false);
  });

  it('takes no folder for a repository because its files are named like one (S-26)', async () => {
    const { root } = await repository();
    // All of this can be committed, and comes with a clone.
    const inner = join(root, 'app');
    await run('git', ['init', '-q', '--bare', '--template=', inner], { env });
    const settings = ['config', '--file', join(inner, 'config')];
    await run('git', [...settings, 'core.bare', 'false']);
    await run('git', [...settings, 'core.worktree', inner]);
    const { stdout } = await run('git', ['-C', inner, 'rev-parse', '--absolute-git-dir'], { env });
    expect(stdout.trim().endsWith('/app')).toBe(true);
    expect(await ask(inner)).toBeUndefined();
  });

  it('switches off filters whose commands have dots and several lines', async () => {
    const { root, ran } = await repository();
    await config(root, 'filter.one.clean', `touch "${ran}"; ./a.b.sh\ncat`);
    expect(await ask(root)).toMatchObject(AT_A_COMMIT);
    expect(existsSync(ran)).toBe(false);
  });

  it('fetches no missing object by a transport that the repository names (S-17)', async () => {
    const { root, ran } = await repository();
    const { stdout } = await run('git', ['-C', root, 'rev-parse', 'HEAD^{tree}']);
    await rm(join(root, '.git/objects', stdout.slice(0, 2), stdout.trim().slice(2)));
    await config(root, 'core.repositoryformatversion', '1');
    await config(root, 'extensions.partialClone', 'origin');
    await config(root, 'remote.origin.promisor', 'true');
    await config(root, 'remote.origin.url', `ext::touch ${ran}`);
    await config(root, 'protocol.ext.allow', 'always');
    await run('git', ['-C', root, 'status'], { env }).catch(() => '');
    expect(existsSync(ran)).toBe(true);
    await rm(ran);
    await ask(root);
    expect(existsSync(ran)).toBe(false);
  });

  it('runs no monitor and no hook that the repository names', async () => {
    const { root, ran } = await repository();
    await config(root, 'core.fsmonitor', `touch ${ran}; false`);
    await writeFile(join(root, '.git/hooks/post-index-change'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    expect(await ask(root)).toMatchObject(AT_A_COMMIT);
    expect(existsSync(ran)).toBe(false);
  });

  it('runs no program that is to check a signature, though the repository wants signatures shown', async () => {
    const { root, ran } = await repository();
    const signed = (await run('git', ['-C', root, 'cat-file', 'commit', 'HEAD'])).stdout.replace(
      '\n\n',
      '\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\n',
    );
    await writeFile(join(root, '.git/signed'), signed);
    const stored = await run('git', ['-C', root, 'hash-object', '-wt', 'commit', '.git/signed']);
    await run('git', ['-C', root, 'update-ref', 'HEAD', stored.stdout.trim()]);
    await writeFile(join(root, 'check.sh'), `#!/bin/sh\ntouch "${ran}"\n`, { mode: 0o755 });
    await config(root, 'gpg.program', join(root, 'check.sh'));
    await config(root, 'log.showSignature', 'true');
    await run('git', ['-C', root, 'log'], { env });
    expect(existsSync(ran)).toBe(true);
    await rm(ran);
    expect(await gitLog(root, asked())).toHaveLength(1);
    expect(existsSync(ran)).toBe(false);
  });

  it('is started only where there may be a repository', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const [programs, started] = [join(folder, 'programs'), join(folder, 'started')];
    await mkdir(programs);
    await writeFile(join(programs, 'git'), `#!/bin/sh\necho x >> '${started}'\nexit 1\n`, { mode: 0o755 });
    const own = asked({ PATH: programs, HOME: '/nonexistent' });
    const inside = join(folder, 'project/inside');
    await mkdir(inside, { recursive: true });
    expect(await gitStatus(inside, own)).toBeUndefined();
    expect(existsSync(started)).toBe(false);
    await mkdir(join(folder, 'project/.git'));
    expect(await gitStatus(inside, own)).toBeUndefined();
    expect(existsSync(started)).toBe(true);
  });

  it('is not a program that lies in the project, whatever the PATH says (S-17)', async () => {
    const { root, ran } = await repository();
    const place = join(root, 'git');
    await writeFile(place, `#!/bin/sh\ntouch "${ran}"\n`, { mode: 0o755 });
    await mkdir(join(root, 'node_modules/.bin'), { recursive: true });
    await copyFile(join(root, 'git'), join(root, 'node_modules/.bin/git'));
    // As npm and npx do it.
    const first = [root, join(root, 'node_modules/.bin'), relative(process.cwd(), root)];
    const path = [...first, '', '.', env.PATH].join(delimiter);
    expect(await gitStatus(root, asked({ ...env, PATH: path }))).toMatchObject(AT_A_COMMIT);
    expect(existsSync(ran)).toBe(false);
  });

  it('still runs filters that the user has configured for all repositories', async () => {
    const { root, ran } = await repository();
    const home = await temporaryFolder(onTestFinished);
    await writeFile(join(home, '.gitconfig'), `[filter "one"]\n\tclean = touch "${ran}"; cat\n`);
    await gitStatus(root, asked({ ...env, HOME: home }));
    expect(existsSync(ran)).toBe(true);
  });
});
