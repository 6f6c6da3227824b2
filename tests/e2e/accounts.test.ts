import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { bareEnvironment } from '../support/programs.ts';
import { cliFile, temporaryFolder } from '../support/app.ts';

const run = promisify(execFile);

/** Accounts that nothing else has, and the group they share. */
const GROUP = 20_001;
const SERVER = 20_011;
const PERSON = 20_012;

let leave: () => Promise<void> = async () => undefined;
let folder: string;
let project: string;

/** A command as another account, under the strict mask of the systemd unit. */
async function as(account: number, args: readonly string[], cwd = project): Promise<string> {
  const home = join(folder, `home-${account}`);
  const { stdout } = await run(
    'sh',
    ['-c', 'umask 0027; exec "$@"', 'sh', process.execPath, cliFile, ...args],
    { cwd, env: bareEnvironment(home), uid: account, gid: GROUP },
  );
  return stdout;
}

/** Whether everybody may enter the folders that the programs lie in; one for temporary files can be root's alone. */
async function isOpenToAll(path: string): Promise<boolean> {
  if (((await stat(path)).mode & 0o005) !== 0o005) return false;
  return path === dirname(path) || isOpenToAll(dirname(path));
}

// Only root can be somebody else.
const canBeOthers = process.getuid?.() === 0 && (await isOpenToAll(dirname(cliFile)));
describe.skipIf(!canBeOthers)('a project that a server and people of its group work in', () => {
  beforeAll(async () => {
    folder = await temporaryFolder((cleanUp) => void (leave = cleanUp));
    await chmod(dirname(folder), 0o711);
    await chmod(folder, 0o755);
    project = join(folder, 'project');
    await mkdir(join(project, '_bmad/_memory'), { recursive: true });
    for (const path of ['', '_bmad', '_bmad/_memory']) {
      await chown(join(project, path), 0, GROUP);
      await chmod(join(project, path), 0o2775);
    }
    for (const account of [SERVER, PERSON]) {
      await mkdir(join(folder, `home-${account}`), { mode: 0o700 });
      await chown(join(folder, `home-${account}`), account, GROUP);
    }
    return () => leave();
  });

  it('lets a person agree to what the server has queued, and both remember', async () => {
    const add = ['task', 'add', 'dev', 'Do it', '--output-key', 'out', '--needs-approval', 'it costs'];
    const { task } = JSON.parse(await as(SERVER, [...add, '--json'])) as { task: { task_id: string } };
    const shown = JSON.parse(await as(PERSON, ['task', 'show', task.task_id, '--json'])) as {
      waits: { digest: string };
    };
    const approve = ['task', 'approve', task.task_id, '--digest', shown.waits.digest];
    expect(await as(PERSON, approve)).toContain('queued');
    // A decision counts for the account that made it.
    expect(await as(PERSON, ['task', 'claim', task.task_id])).toContain('Do it');
    await as(SERVER, ['memory', 'remember', 'decisions', 'dev', 'Messages go through NATS']);
    await as(PERSON, ['memory', 'remember', 'decisions', 'dev', 'The shop keeps sessions in Redis']);
    const listed = await as(SERVER, ['memory', 'list']);
    for (const word of ['NATS', 'Redis']) expect(listed).toContain(word);
  });

  it('keeps what is outside of the project to each of them', async () => {
    const plain = join(folder, 'plain');
    await mkdir(plain);
    await as(SERVER, ['memory', 'remember', 'decisions', 'dev', 'No place for it in the project'], plain);
    const home = join(folder, `home-${SERVER}`);
    // What Node keeps in its compile cache is closed by the folder around it.
    const made = (await readdir(home, { recursive: true }))
      .filter((path) => !/compile-cache./.test(path))
      .map((path) => join(home, path));
    expect(made).not.toEqual([]);
    for (const path of made) expect([path, (await stat(path)).mode & 0o077]).toEqual([path, 0]);
  });
});
