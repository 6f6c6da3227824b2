import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, rm, utimes, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { cliFile, temporaryFolder } from '../support/app.ts';
import { commitAll } from '../support/contract-project.ts';
import { writeFiles } from '../support/folders.ts';
import { GitMachine } from '../support/git-machine.ts';
import { agentFile } from '../support/git-repository.ts';
import { startHttpServer } from '../support/http-server.ts';
import { connectClient } from '../support/mcp-client.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';

const run = promisify(execFile);

async function program(place: string, text: string): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  await writeFile(place, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
}

const pathWith = (...first: string[]): string => [...first, process.env['PATH']].join(delimiter);

/** A project that came as an archive: a skill that has git asked what has changed, and a submodule with a filter. */
async function archive(): Promise<{ cwd: string; home: string; ran: string; reset(): Promise<void> }> {
  const folder = await temporaryFolder(onTestFinished);
  const [cwd, home, ran] = [join(folder, 'project'), join(folder, 'home'), join(folder, 'ran')];
  await mkdir(home);
  const inner = join(cwd, 'sub');
  await writeFiles(inner, { 'a.txt': 'text\n', '.gitattributes': '*.txt filter=evil\n' });
  await commitAll(inner);
  await run('git', ['-C', inner, 'config', 'filter.evil.clean', `touch "${ran}"; cat`]);
  await writeFiles(cwd, {
    '_bmad/.keep': '',
    '.gitmodules': '[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n',
    '.claude/skills/bmad-rev/SKILL.md':
      '---\nname: bmad-rev\ndescription: Reviews\n---\n\n# Review\n\nStory status must be "Review"\n',
  });
  await commitAll(cwd);
  const reset = async (): Promise<void> => {
    await rm(ran, { force: true });
    await utimes(join(inner, 'a.txt'), 1, 1);
  };
  await reset();
  await run('git', ['-C', cwd, 'status'], { env: { ...process.env, GIT_OPTIONAL_LOCKS: '0' } });
  expect(existsSync(ran)).toBe(true);
  await reset();
  return { cwd, home, ran, reset };
}

describe.runIf(process.platform !== 'win32')('the programs of a project that nobody has allowed', () => {
  it('are not run as a filter of a submodule, by execute, a prompt, or a read-only server (X-01)', async () => {
    const { cwd, home, ran, reset } = await archive();
    const typed = await bmad(['execute', 'bmad-rev'], { cwd, env: bareEnvironment(home) });
    expect(typed.stdout.toString('utf8')).toContain('Story status must be');
    expect(existsSync(ran)).toBe(false);

    await reset();
    const client = await connectClient({ cwd, home });
    onTestFinished(() => client.close());
    const { messages } = await client.getPrompt({ name: 'bmad-rev' });
    expect(JSON.stringify(messages)).toContain('Story status must be');
    expect(existsSync(ran)).toBe(false);

    await reset();
    const token = 'a-token-of-this-test';
    const server = await startHttpServer({
      cwd,
      home,
      more: ['--read-only', '--http-auth', 'token'],
      env: { BMAD_HTTP_TOKEN: token },
    });
    onTestFinished(async () => void (await server.stop()));
    const response = await fetch(new URL('/api/execute?name=bmad-rev', server.url), {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('Story status must be');
    expect(existsSync(ran)).toBe(false);
  });

  it('do not open the page, nor are they found by what opens it (X-02)', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const [cwd, home] = [join(folder, 'project'), join(folder, 'home')];
    const [ran, opened] = [join(folder, 'ran'), join(folder, 'opened')];
    await writeFiles(cwd, { '_bmad/.keep': '' });
    await mkdir(home);
    const bin = join(cwd, 'node_modules/.bin');
    for (const name of ['xdg-open', 'open', 'browser'])
      for (const place of [bin, join(cwd, 'bin')]) await program(join(place, name), `touch "${ran}"`);
    for (const name of ['xdg-open', 'open']) await program(join(folder, 'mine', name), 'browser "$1"');
    await program(join(folder, 'mine/browser'), `echo "$1" > "${opened}"`);
    const page = spawn(process.execPath, [cliFile, 'page', '--open', '--port', '0'], {
      cwd,
      env: bareEnvironment(home, { PATH: pathWith(bin, join(cwd, 'bin'), 'bin', '', join(folder, 'mine')) }),
      stdio: 'ignore',
    });
    onTestFinished(async () => {
      page.kill('SIGTERM');
      await new Promise((resolve) => (page.exitCode === null ? page.once('close', resolve) : resolve(0)));
    });
    await vi.waitFor(() => expect(existsSync(opened)).toBe(true), { timeout: 60_000, interval: 50 });
    expect(existsSync(ran)).toBe(false);
  });

  it('are not taken for git or what git starts, though the PATH begins with a folder of it (X-10)', async () => {
    const machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
    const team = await machine.repository('team', { 'agents/ada.md': agentFile('ada') });
    const ran = join(machine.folder, 'ran');
    for (const name of ['git', 'ssh', 'git-remote-https', 'git-upload-pack'])
      await program(join(machine.project, 'bin', name), `touch "${ran}"; exit 1`);
    const env = machine.env({ PATH: pathWith(join(machine.project, 'bin'), 'bin', '') });
    const typed = (...args: string[]) => bmad(args, { cwd: machine.project, env });
    const added = await typed('sources', 'add', team.source);
    expect(added.code, added.stderr).toBe(0);
    expect((await typed('sources', 'update')).code).toBe(0);
    await rm(join(machine.home, '.cache'), { recursive: true });
    const listed = await typed('list', 'agents');
    expect(listed.stdout.toString('utf8')).toContain('ada');
    expect(existsSync(ran)).toBe(false);
  });
});
