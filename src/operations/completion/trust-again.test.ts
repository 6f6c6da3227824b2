import { execFileSync } from 'node:child_process';
import { chmod, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { allowed, contractSession, inGit, SCRIPT_PATH } from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import type { Session } from '../../../tests/support/operations.ts';
import { sha256 } from '../../base/values.ts';
import { runCompletionContract } from './completion.ts';
import { trust } from './trust.ts';

/** A project that somebody has just cloned. */
const cloned = (files: Record<string, string>): Promise<Session> =>
  contractSession(onTestFinished, files, { flags: { trustProject: 'false' } });

describe('the folders of a project with a script (B-12)', () => {
  const files = {
    [SCRIPT_PATH]: '#!/bin/bash\necho "CC PASS — [go] — 2026-11-17"\n',
    'web/index.html': '',
    'api/package.json': '{"scripts":{"test":"node test.js"}}',
  };
  const at = (working_dir: string) => ({ working_dir });

  it('are allowed with it, as long as they bring no programs of their own', async () => {
    const session = await cloned(files);
    expect((await session.fail(runCompletionContract, at('web'))).message).toContain(
      'what this project runs in web has not been allowed',
    );
    await allowed(session);
    expect((await session.ok(runCompletionContract, at('web'))).data['status']).toBe('PASS');
    expect((await session.fail(runCompletionContract, at('api'))).message).toContain(
      'what this project runs in api has not been allowed',
    );
    await writeFiles(session.folder, { 'web/.npmrc': 'script-shell=./evil.sh\n' });
    expect((await session.fail(runCompletionContract, at('web'))).message).toContain('runs in web');
  });

  /** The project is allowed, and with it this folder. */
  const covered = async (session: Session): Promise<Session> => {
    await allowed(session);
    expect((await session.ok(runCompletionContract, at('web'))).data['status']).toBe('PASS');
    return session;
  };
  const refused = async (session: Session): Promise<string> =>
    (await session.fail(runCompletionContract, at('web'))).message;
  const NOT_ALLOWED = 'what this project runs in web has not been allowed';

  it('are no longer once the script is another', async () => {
    const session = await covered(await cloned(files));
    await writeFiles(session.folder, { [SCRIPT_PATH]: `${files[SCRIPT_PATH]}evil\n` });
    expect(await refused(session)).toContain(NOT_ALLOWED);
  });

  it('are no longer once the permission of the project is taken back', async () => {
    const session = await covered(await cloned(files));
    await session.ok(trust, { revoke: true });
    expect(await refused(session)).toContain(NOT_ALLOWED);
  });

  it('are not where their own permission was taken back, also when the project is allowed again', async () => {
    const session = await cloned(files);
    await allowed(session, at('web'));
    await covered(session);
    await session.ok(trust, { ...at('web'), revoke: true });
    await allowed(session);
    expect(await refused(session)).toContain(NOT_ALLOWED);
  });
});

describe('trust in a line of history (X-13)', () => {
  const MANIFEST = { 'package.json': '{"scripts":{"test":"node test.js"}}', 'test.js': '' };
  const runs = async (session: Session): Promise<boolean> =>
    (await session.ok(trust)).data['outcome'] === 'already_trusted';

  it('covers what comes before and after, and no other line that nobody has allowed (X-13)', async () => {
    const session = await cloned({ ...MANIFEST, '.gitignore': 'no-home\n' });
    const git = await inGit(session.folder);
    const first = await git('rev-parse', 'HEAD');
    await git('checkout', '-q', '-b', 'pr');
    await writeFile(join(session.folder, 'test.js'), 'evil()');
    await git('commit', '-qam', 'pr');
    await git('checkout', '-q', 'main');
    await git('commit', '-q', '--allow-empty', '-m', 'second');
    await allowed(session);
    await git('checkout', '-q', 'pr');
    const refused = await session.fail(runCompletionContract);
    expect(refused.message).toMatch(
      /\(commit [0-9a-f]{12}, which neither precedes nor follows one that was allowed\)/,
    );
    await git('checkout', '-q', first);
    expect(await runs(session)).toBe(true);
    await git('checkout', '-q', 'main');
    await git('commit', '-q', '--allow-empty', '-m', 'third');
    expect(await runs(session)).toBe(true);
    // Two lines that were both allowed can be worked on in turn.
    await git('checkout', '-q', 'pr');
    await allowed(session);
    await git('checkout', '-q', 'main');
    expect(await runs(session)).toBe(true);
    await session.ok(trust, { revoke: true });
    await allowed(session);
    await git('checkout', '-q', 'pr');
    expect(await runs(session)).toBe(false);
  });

  it('is asked for again where git can tell nothing, and where git comes or goes (X-13)', async () => {
    const session = await cloned({ ...MANIFEST, '.gitignore': 'no-home\n' });
    await allowed(session);
    const git = await inGit(session.folder);
    expect((await session.fail(runCompletionContract)).message).toContain('(commit ');
    await allowed(session);
    const before = await git('rev-parse', 'HEAD');
    await git('checkout', '-q', '--orphan', 'other');
    await git('commit', '-qm', 'other');
    await git('branch', '-D', 'main');
    await git('reflog', 'expire', '--expire=now', '--all');
    await git('gc', '-q', '--prune=now');
    await expect(git('cat-file', '-e', before)).rejects.toThrow('cat-file');
    expect((await session.fail(runCompletionContract)).message).toContain('(commit ');
    await allowed(session);
    await rm(join(session.folder, '.git'), { recursive: true });
    expect((await session.fail(runCompletionContract)).message).toContain('(it is no longer in git)');
  });

  it.skipIf(process.platform === 'win32')(
    'asks git the same few questions, on however many lines it was given (19)',
    async () => {
      const folder = await temporaryFolder(onTestFinished);
      const real = execFileSync('which', ['git']).toString().trim();
      await writeFiles(folder, { git: `#!/bin/sh\necho "$*" >> "${folder}/asked"\nexec "${real}" "$@"\n` });
      await chmod(join(folder, 'git'), 0o755);
      const session = await contractSession(
        onTestFinished,
        { ...MANIFEST, '.gitignore': 'no-home\n' },
        {
          flags: { trustProject: 'false' },
          env: { PATH: `${folder}${delimiter}${process.env['PATH'] ?? ''}` },
        },
      );
      const git = await inGit(session.folder);
      const asked = async (): Promise<number> => {
        await rm(join(folder, 'asked'), { force: true });
        await session.fail(runCompletionContract);
        return (await readFile(join(folder, 'asked'), 'utf8')).trim().split('\n').length;
      };
      const lines: number[] = [];
      for (const name of ['one', 'two', 'three', 'four']) {
        await git('checkout', '-q', '--orphan', name);
        await git('commit', '-qm', name);
        if (name !== 'one') lines.push(await asked());
        await allowed(session);
      }
      expect(new Set(lines).size).toBe(1);
      expect(lines[0]).toBeLessThan(10);
    },
  );

  it('is not given to a commit that was checked out after the question (X-13)', async () => {
    const session = await cloned({ ...MANIFEST, '.gitignore': 'no-home\n' });
    const git = await inGit(session.folder);
    const commit = await git('rev-parse', 'HEAD');
    const { digest } = (await session.ok(trust, { show: true })).data;
    await git('commit', '-q', '--allow-empty', '--amend', '-m', 'other');
    expect((await session.fail(trust, { yes: true, digest, commit })).code).toBe('conflict');
  });
});

describe.skipIf(process.platform === 'win32')('a program of the project', () => {
  const program = (line: string): string => `#!/bin/sh\n${line}\n${'#'.repeat(6_000_000)}`;

  it('of whatever size is asked about again when it is replaced (X-14)', async () => {
    const session = await cloned({ 'pyproject.toml': '', '.venv/bin/pytest': program('exit 0') });
    const place = join(session.folder, '.venv/bin/pytest');
    await chmod(place, 0o755);
    expect((await allowed(session)).answer.body).toContain(`SHA-256 ${sha256(program('exit 0'))}`);
    expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
    await writeFile(place, program('touch r'));
    expect((await session.fail(runCompletionContract)).message).toContain('(.venv/bin/pytest)');
  });

  it('is one also where the PATH has it by a link to a folder of the project (X-14)', async () => {
    const elsewhere = await temporaryFolder(onTestFinished);
    const session = await contractSession(
      onTestFinished,
      { 'pyproject.toml': '', 'tools/pytest': program('exit 0') },
      {
        flags: { trustProject: 'false' },
        env: { PATH: `${join(elsewhere, 'bin')}${delimiter}${process.env['PATH'] ?? ''}` },
      },
    );
    const place = join(session.folder, 'tools/pytest');
    await chmod(place, 0o755);
    await symlink(join(session.folder, 'tools'), join(elsewhere, 'bin'));
    expect((await allowed(session)).answer.body).toContain(`SHA-256 ${sha256(program('exit 0'))}`);
    expect((await session.ok(runCompletionContract)).data['status']).toBe('PASS');
    await writeFile(place, program('touch r'));
    expect((await session.fail(runCompletionContract)).message).toContain('(tools/pytest)');
  });

  it('that lies elsewhere, behind a link, is asked about each time (X-14)', async () => {
    const elsewhere = await temporaryFolder(onTestFinished);
    await writeFiles(elsewhere, { pytest: program('exit 0') });
    await chmod(join(elsewhere, 'pytest'), 0o755);
    const session = await cloned({ 'pyproject.toml': '', '.venv/readme': '' });
    await symlink(elsewhere, join(session.folder, '.venv/bin'));
    expect((await allowed(session)).answer.body).toContain(
      'cannot be read here, so it is asked about each time',
    );
    expect((await session.fail(runCompletionContract)).message).toContain('(.venv/bin/pytest)');
  });
});
