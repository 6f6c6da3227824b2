import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from 'vitest';
import { agentFile, makeRepository } from '../support/git-repository.ts';
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
async function as(
  account: number,
  args: readonly string[],
  cwd = project,
  folders: Readonly<Record<string, string>> = {},
): Promise<string> {
  const home = join(folder, `home-${account}`);
  const { stdout } = await run(
    'sh',
    ['-c', 'umask 0027; exec "$@"', 'sh', process.execPath, cliFile, ...args],
    { cwd, env: { ...bareEnvironment(home), ...folders }, uid: account, gid: GROUP },
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

  it('keeps the commits of git sources with the state, where the configuration is somebody else’s (D-1)', async () => {
    const team = await makeRepository(folder, 'team', { 'agents/ada.md': agentFile('ada') });
    await run('chown', ['-R', `${SERVER}:${GROUP}`, team.folder]);
    const [config, state] = [join(folder, 'etc'), join(folder, `home-${SERVER}`, 'state')];
    await mkdir(join(config, 'bmad-mcp-server'), { recursive: true });
    await writeFile(join(config, 'bmad-mcp-server/config.toml'), `git = ["${team.source}#main"]\n`);
    const folders = { XDG_CONFIG_HOME: config, XDG_STATE_HOME: state };
    await as(SERVER, ['sources', 'update'], project, folders);
    expect(await as(SERVER, ['list', 'agents'], project, folders)).toContain('ada');
    expect(await readdir(join(config, 'bmad-mcp-server'))).toEqual(['config.toml']);
    expect(await readdir(join(state, 'bmad-mcp-server'))).toContain('sources.lock.json');
  });
});
