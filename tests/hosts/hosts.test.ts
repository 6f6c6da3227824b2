import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { serverFile, temporaryFolder } from '../support/app.ts';
import { HOST_PACKAGES } from '../support/host-packages.ts';
import { startHttpServer } from '../support/http-server.ts';
import { installOf } from '../support/installs.ts';
import { bareEnvironment, bmad, runToEnd } from '../support/programs.ts';
import { node22, tool } from '../support/tools.ts';

/**
 * Real hosts from npm, each with an empty home folder, connect to the built server in a real project. They are some
 * hundred megabytes each, so this runs where they have been fetched before (see CONTRIBUTING.md). No account and no model is
 * needed: adding a server and checking its health are commands of their own.
 */
const SERVER = [process.execPath, serverFile];

interface Host {
  run(...args: readonly string[]): Promise<string>;
  home: string;
}

/** Runs a host's command line and gives what it printed, without colours. */
async function host(program: string, ...first: readonly string[]): Promise<Host> {
  const home = await temporaryFolder(afterAll);
  const project = await installOf('6.12.0');
  return {
    home,
    async run(...args) {
      const { code, stdout, stderr } = await runToEnd(program, [...first, ...args], {
        cwd: project,
        env: bareEnvironment(home, { CI: '1', GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
      });
      const text = `${stdout.toString('utf8')}${stderr}`.replaceAll(/\u001B\[[\d;]*m/g, '');
      expect(code, text).toBe(0);
      return text;
    },
  };
}

describe('a real host connects:', () => {
  it('Claude Code', async () => {
    const folder = await tool(...HOST_PACKAGES.claudeCode);
    const claude = await host(process.execPath, join(folder, 'cli-wrapper.cjs'));
    expect(await claude.run('--version')).toContain(HOST_PACKAGES.claudeCode[1]);
    await claude.run('mcp', 'add', '--scope', 'user', 'bmad', '--', ...SERVER);
    expect(await claude.run('mcp', 'list')).toMatch(/^bmad: .* ✔ Connected$/m);
  });

  it('Claude Code, over HTTP', async () => {
    const folder = await tool(...HOST_PACKAGES.claudeCode);
    const claude = await host(process.execPath, join(folder, 'cli-wrapper.cjs'));
    const server = await startHttpServer({ cwd: claude.home, home: claude.home });
    await claude.run('mcp', 'add', '--scope', 'user', '--transport', 'http', 'bmad', server.url);
    expect(await claude.run('mcp', 'list')).toMatch(/^bmad: .* \(HTTP\) - ✔ Connected$/m);
    await server.stop();
  });

  it('Gemini CLI', async () => {
    const folder = await tool(...HOST_PACKAGES.geminiCli);
    const gemini = await host(await node22(), join(folder, 'bundle/gemini.js'));
    await mkdir(join(gemini.home, '.gemini'));
    await writeFile(
      join(gemini.home, '.gemini/settings.json'),
      '{"security":{"folderTrust":{"enabled":false}}}',
    );
    await gemini.run('mcp', 'add', '--scope', 'user', 'bmad', ...SERVER);
    expect(await gemini.run('mcp', 'list')).toMatch(/✓ bmad: .* Connected/);
  });

  it('mcporter', async () => {
    const folder = await tool(...HOST_PACKAGES.mcporter);
    const mcporter = await host(await node22(), join(folder, 'dist/cli.js'));
    const args = ['--stdio', SERVER.map((word) => JSON.stringify(word)).join(' '), '--name', 'bmad'];
    expect(await mcporter.run('list', ...args)).toMatch(/function bmad\([^]*\d+ tools? · /);
  });
});

describe('a real host takes what "bmad setup" has written:', () => {
  /** Sets a host up in its own home, and gives what it says of its servers. */
  async function listedAfterSetup(id: string, own: Host): Promise<string> {
    const env = bareEnvironment(own.home);
    const { code, stderr } = await bmad(['setup', id], { cwd: await installOf('6.12.0'), env });
    expect(code, stderr).toBe(0);
    return own.run('mcp', 'list');
  }

  it('Claude Code', async () => {
    const folder = await tool(...HOST_PACKAGES.claudeCode);
    const claude = await host(process.execPath, join(folder, 'cli-wrapper.cjs'));
    const listed = await listedAfterSetup('claude-code', claude);
    expect(listed).toMatch(/^bmad: .* ✔ Connected$/m);
  });

  it('Codex', async () => {
    const folder = await tool(...HOST_PACKAGES.codex);
    const codex = await host(process.execPath, join(folder, 'bin/codex.js'));
    const listed = await listedAfterSetup('codex', codex);
    expect(listed).toMatch(/^bmad\s.*\benabled\b/m);
  });

  it('Gemini CLI', async () => {
    const folder = await tool(...HOST_PACKAGES.geminiCli);
    const gemini = await host(await node22(), join(folder, 'bundle/gemini.js'));
    const listed = await listedAfterSetup('gemini-cli', gemini);
    expect(listed).toMatch(/✓ bmad: .* Connected/);
  });

  it('opencode', async () => {
    const folder = await tool(...HOST_PACKAGES.opencode);
    const program = join(folder, '..', `opencode-${process.platform}-${process.arch}`, 'bin/opencode');
    const opencode = await host(program);
    const listed = await listedAfterSetup('opencode', opencode);
    expect(listed).toMatch(/✓ bmad .*connected/);
  });
});
