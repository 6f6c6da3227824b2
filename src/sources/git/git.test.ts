import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { refusal } from '../../../tests/support/thrown.ts';
import { parseGitAddress } from './address.ts';
import { createGit, type Git } from './git.ts';

let folder: string;

beforeEach(async () => {
  folder = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
  await mkdir(join(folder, 'work'));
});

/** A program called git that does what the script says. */
async function gitThat(script: string, env: Record<string, string> = {}): Promise<Git> {
  await mkdir(join(folder, 'bin'), { recursive: true });
  await writeFile(join(folder, 'bin/git'), `#!/bin/sh\n${script}\n`);
  await chmod(join(folder, 'bin/git'), 0o755);
  return createGit({
    env: { PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`, ...env },
    timeoutMs: 120_000,
    workFolder: join(folder, 'work'),
    besides: [],
  });
}

const asked = parseGitAddress('git+https://ada:p4ssw0rd@git.test/org/team.git#main');

describe('git', () => {
  it('gets credentials in its environment, for that host only, and goes nowhere else with them', async () => {
    const git = await gitThat(`env > ${join(folder, 'env')}; echo "$@" > ${join(folder, 'args')}; pwd`);
    expect(await git.refs(asked, {})).toEqual([join(folder, 'work'), '']);
    const env = await readFile(join(folder, 'env'), 'utf8');
    expect(env).toContain('GIT_CONFIG_KEY_0=http.https://git.test/.extraHeader');
    expect(env).toContain(`Basic ${Buffer.from('ada:p4ssw0rd').toString('base64')}`);
    expect(env).toContain('GIT_CONFIG_KEY_1=http.followRedirects\n');
    expect(env).toContain('GIT_CONFIG_VALUE_1=false\n');
    expect(await readFile(join(folder, 'args'), 'utf8')).not.toMatch(/ada|p4ssw0rd|Basic/);
    const plain = parseGitAddress('git+https://git.test/org/team.git');
    await git.refs(plain, {});
    expect(await readFile(join(folder, 'env'), 'utf8')).not.toContain('extraHeader');
  });

  it('asks nobody, and inherits nothing that leads it elsewhere or makes it talk', async () => {
    const git = await gitThat(`env > ${join(folder, 'env')}`, {
      GIT_DIR: '/elsewhere',
      GIT_TRACE: '1',
      GIT_ASKPASS: '/usr/bin/ask',
      GIT_CONFIG_COUNT: '9',
      GIT_SSH_COMMAND: 'ssh -i key',
      GIT_CONFIG_GLOBAL: '/my/config',
    });
    await git.refs(parseGitAddress('git+https://git.test/org/team.git'), {});
    const env = new Map(
      (await readFile(join(folder, 'env'), 'utf8')).split('\n').map((line) => {
        const at = line.indexOf('=');
        return [line.slice(0, at), line.slice(at + 1)];
      }),
    );
    expect(['GIT_DIR', 'GIT_TRACE', 'GIT_CONFIG_COUNT'].filter((name) => env.has(name))).toEqual([]);
    expect(Object.fromEntries(env)).toMatchObject({
      GIT_ASKPASS: '',
      GIT_TERMINAL_PROMPT: '0',
      SSH_ASKPASS_REQUIRE: 'never',
      GIT_ALLOW_PROTOCOL: 'https:ssh:file',
      GIT_CEILING_DIRECTORIES: folder,
      GIT_SSH_COMMAND: 'ssh -i key',
      GIT_CONFIG_GLOBAL: '/my/config',
      LC_ALL: 'C',
    });
  });

  it.each([
    ['fatal: Authentication failed for x', 'unavailable', 'asks for credentials'],
    ['fatal: Could not read from remote repository.', 'unavailable', 'asks for credentials'],
    ['Host key verification failed.', 'unavailable', 'ssh host is not known'],
    ['fatal: unable to access: Could not resolve host: git.test', 'unavailable', 'cannot be reached'],
    ["fatal: '/x' does not appear to be a git repository", 'not_found', 'no such repository'],
    ['remote: Repository not found.', 'not_found', 'no such repository'],
    ['fatal: write error: No space left on device', 'unavailable', 'the disk is full'],
    ['fatal: detected dubious ownership in repository', 'unavailable', 'another user'],
    ['fatal: something new', 'unavailable', 'git failed'],
  ])('says what %j means, and what to do', async (words, code, meaning) => {
    const git = await gitThat(`echo ${JSON.stringify(words)} >&2; exit 128`);
    const error = await refusal(() => git.refs(asked, {}));
    expect(error).toMatchObject({ code, message: expect.stringContaining(meaning) as string });
    expect(error.message).toContain('https://git.test/org/team.git');
    expect(error.hint).toMatch(/\w/);
  });

  it('tells a missing program from a missing folder', async () => {
    const nowhere = createGit({ env: { PATH: folder }, timeoutMs: 120_000, workFolder: folder, besides: [] });
    expect((await refusal(() => nowhere.refs(asked, {}))).message).toContain('git was not found');
    const lost = createGit({
      env: { PATH: process.env['PATH'] },
      timeoutMs: 120_000,
      workFolder: join(folder, 'lost'),
      besides: [],
    });
    expect((await refusal(() => lost.refs(asked, {}))).message).toContain('does not exist');
  });

  it('hides credentials that git repeats, and reports progress in steps', async () => {
    const steps: string[] = [];
    const git = await gitThat(
      "printf 'Receiving objects:  12%%\\rReceiving objects:  19%%\\r' >&2; sleep 0.1; printf 'Receiving objects: 100%%\\n' >&2; echo 'fatal: https://u:p4ssw0rd@h/x broke' >&2; exit 1",
    );
    const error = await refusal(() => git.refs(asked, { progress: (message) => steps.push(message) }));
    expect(error.message).not.toContain('p4ssw0rd');
    expect(steps).toEqual(['Receiving objects 10 %', 'Receiving objects 100 %']);
  });
});
