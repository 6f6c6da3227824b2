import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { cliFile, contentRoot, temporaryFolder } from '../support/app.ts';
import { bmadHere } from '../support/command-line.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';
import { DEFAULT_TOOLS } from '../support/tool-names.ts';
import { some } from '../support/how-much.ts';

const home = await temporaryFolder(afterAll);

describe('bmad config show', () => {
  it('tells for every setting which of the layers it came from', async () => {
    const project = await temporaryFolder(afterAll);
    const userFolder = await temporaryFolder(afterAll);
    await mkdir(join(userFolder, 'bmad-mcp-server'));
    const userFile = join(userFolder, 'bmad-mcp-server', 'config.toml');
    const projectFile = join(project, 'bmad-mcp.toml');
    await writeFile(
      userFile,
      'log_level = "error"\nanswer_bytes = 21000\npage_size = 21\nmax_file_bytes = 210000\n',
    );
    await writeFile(projectFile, 'log_level = "silent"\nanswer_bytes = 22000\npage_size = 22\n');
    const env = bareEnvironment(home, {
      XDG_CONFIG_HOME: userFolder,
      APPDATA: userFolder,
      BMAD_LOG_LEVEL: 'info',
      BMAD_ANSWER_BYTES: '23000',
    });
    const { code, stdout } = await bmad(['config', 'show', '--json', '--log-level', 'error'], {
      cwd: project,
      env,
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout.toString('utf8'))).toMatchObject({
      settings: expect.arrayContaining([
        { name: 'project', value: '(not set)', from: 'default' },
        { name: 'paths', value: '(not set)', from: 'default' },
        { name: 'root', value: '(not set)', from: 'default' },
        { name: 'discovery', value: 'auto', from: 'default' },
        { name: 'git', value: '(not set)', from: 'default' },
        { name: 'git_refresh', value: '0', from: 'default' },
        { name: 'git_approval', value: 'ask', from: 'default' },
        { name: 'git_timeout_ms', value: '60000', from: 'default' },
        { name: 'cache', value: '(not set)', from: 'default' },
        { name: 'toolsets', value: 'bmad, project, memory', from: 'default' },
        { name: 'tools', value: '(not set)', from: 'default' },
        { name: 'exclude_tools', value: '(not set)', from: 'default' },
        { name: 'read_only', value: 'false', from: 'default' },
        { name: 'code_search_ms', value: '3000', from: 'default' },
        { name: 'log_level', value: 'error', from: 'flag --log-level' },
        { name: 'answer_bytes', value: '23000', from: 'environment BMAD_ANSWER_BYTES' },
        { name: 'page_size', value: '22', from: `project file ${projectFile}` },
        { name: 'max_file_bytes', value: '210000', from: `user file ${userFile}` },
      ]) as unknown,
      project: { root: project, from: 'the working directory' },
      warnings: [],
    });
    const text = (await bmadHere(['config', 'show'], { cwd: project, env })).stdout.toString('utf8');
    expect(text).toContain('| log_level | info | environment BMAD_LOG_LEVEL |');
    expect(text).toContain(`| page_size | 22 | project file ${projectFile} |`);
  });

  it('tells what is wrong in a file and goes on without it', async () => {
    const project = await temporaryFolder(afterAll);
    await writeFile(join(project, 'bmad-mcp.toml'), 'page_siz = 5\nanswer_bytes = "many"\n');
    const { code, stdout } = await bmadHere(['config', 'show', '--json'], {
      cwd: project,
      env: bareEnvironment(home),
    });
    expect(code).toBe(0);
    const { warnings } = JSON.parse(stdout.toString('utf8')) as { warnings: string[] };
    expect(warnings).toHaveLength(2);
    expect(warnings.join('\n')).toMatch(/"page_siz", did you mean page_size/);
    expect(warnings.join('\n')).toMatch(/"many" is not valid for answer_bytes/);
  });

  it('names the project in use', async () => {
    const project = await temporaryFolder(afterAll);
    await mkdir(join(project, '_bmad'));
    await mkdir(join(project, 'deep', 'inside'), { recursive: true });
    const options = { cwd: join(project, 'deep', 'inside'), env: bareEnvironment(home) };
    const { stdout } = await bmadHere(['config', 'show', '--json'], options);
    expect(JSON.parse(stdout.toString('utf8'))).toMatchObject({
      project: { root: project, from: expect.stringContaining('_bmad') as string },
    });
  });
});

/** A copy of the built programs, without the content. */
async function copyOfPrograms(): Promise<string> {
  const copy = await temporaryFolder(afterAll);
  await cp(dirname(cliFile), copy, { recursive: true, filter: (path) => path !== contentRoot });
  return copy;
}

/** A copy of the built programs in which the server is another one. */
async function brokenInstallation(serverProgram: string): Promise<string> {
  const copy = await copyOfPrograms();
  await symlink(contentRoot, join(copy, 'content'));
  await writeFile(join(copy, 'server.cjs'), serverProgram);
  return join(copy, 'bmad.cjs');
}

describe('bmad doctor', () => {
  const env = bareEnvironment(home);

  it('shakes hands with the real server', async () => {
    const cwd = await temporaryFolder(afterAll);
    const { code, stdout, stderr } = await bmad(['doctor'], { cwd, env });
    expect(code).toBe(0);
    expect(stdout.toString('utf8')).toMatch(
      new RegExp(
        `^Handshake: ok, protocol 20[\\d-]+, ${DEFAULT_TOOLS.length} tools: ${DEFAULT_TOOLS.join(', ')}$`,
        'm',
      ),
    );
    expect(stderr).toContain('All is well.');
    const data = await bmadHere(['doctor', '--json'], { cwd, env });
    expect(JSON.parse(data.stdout.toString('utf8'))).toMatchObject({
      ok: true,
      handshake: {
        ok: true,
        tools: [...DEFAULT_TOOLS],
      },
      origins: [{ agents: 5, workflows: 22, skills: 2, deprecated: 21 }],
    });
  });

  const BROKEN = [
    ['prints garbage', "process.stdout.write('garbage\\n'); process.stdin.resume();", 'garbage'],
    ['cannot start', "throw new Error('no luck');", 'no luck'],
    ['ends at once', '', 'no tools'],
    [
      'has no tools',
      `require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
         const { id } = JSON.parse(line);
         if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { tools: [] } }));
       });`,
      'no tools',
    ],
  ] as const;
  it.each(some(1, BROKEN))('ends with 1 when the server %s', async (_name, program, why) => {
    const file = await brokenInstallation(program);
    const cwd = await temporaryFolder(afterAll);
    const { code, stdout, stderr } = await bmad(['doctor'], { cwd, env, file });
    expect(code).toBe(1);
    expect(stdout.toString('utf8')).toMatch(/^Handshake: FAILED: /m);
    expect(stdout.toString('utf8')).toContain(why);
    expect(stderr).toContain('Something is broken');
  });

  it('tells of an installation without content', async () => {
    const file = join(await copyOfPrograms(), 'bmad.cjs');
    const { code, stderr } = await bmad(['list'], { cwd: home, env, file });
    expect(code).toBe(6);
    expect(stderr).toContain('The built-in BMAD content is missing.');
  });
});
