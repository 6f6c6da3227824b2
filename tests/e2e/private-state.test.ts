import { execFile } from 'node:child_process';
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cliFile, temporaryFolder } from '../support/app.ts';
import { bareEnvironment } from '../support/programs.ts';

const run = promisify(execFile);

// Windows has other rights.
describe.skipIf(process.platform === 'win32')('what is kept with the user', () => {
  it('is readable by nobody else, also where the folder for it is open to all', async () => {
    const home = await temporaryFolder(onTestFinished);
    const project = await temporaryFolder(onTestFinished);
    await writeFile(join(project, 'build.sh'), 'true\n');
    for (let number = 0; number < 60; number += 1)
      await writeFile(join(project, `part-${number}.md`), `# Part ${number}\n`);
    const places = ['.local/state', '.cache', '.config'].map((base) => `${base}/bmad-mcp-server`);
    for (const place of places) await mkdir(join(home, place), { recursive: true });
    await chmod(home, 0o755);
    for (const entry of await readdir(home, { recursive: true })) await chmod(join(home, entry), 0o755);
    const there = new Set(await readdir(home, { recursive: true }));
    const bmad = async (...args: string[]): Promise<void> => {
      const program = ['-c', 'umask 022; exec "$@"', 'sh', process.execPath, cliFile, ...args];
      await run('sh', program, { cwd: project, env: bareEnvironment(home) });
    };
    await bmad('memory', 'remember', 'decisions', 'dev', 'Messages go through NATS');
    await bmad('task', 'add', 'dev', 'Do it', '--output-key', 'out');
    await bmad('run', 'open', 'prd');
    // Nothing was checked, which is a verdict too, and has a receipt.
    await expect(bmad('contract', 'run')).rejects.toThrow('contract run');
    await bmad('code', 'part');
    const made = (await readdir(home, { recursive: true })).filter((path) => !there.has(path));
    for (const part of ['memory', 'tasks', 'projects', 'receipts'])
      expect(made).toContain(`.local/state/bmad-mcp-server/${part}`);
    expect(made).toContain('.cache/bmad-mcp-server/code');
    // Node makes its compile cache itself, with nothing of the user in it.
    for (const path of made.filter((each) => !each.includes('compile-cache')))
      expect([path, (await stat(join(home, path))).mode & 0o077]).toEqual([path, 0]);
  });
});
