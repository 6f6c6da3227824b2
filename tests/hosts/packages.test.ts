import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { claudePlugin, codexPlugin, geminiExtension } from '../../scripts/packages/others.ts';
import { desktopBundle } from '../../scripts/packages/others.ts';
import { type Files, readProduct, serverFiles, zipped } from '../../scripts/packages/product.ts';
import { temporaryFolder } from '../support/app.ts';
import { bareEnvironment, runToEnd } from '../support/programs.ts';
import { node22, tool } from '../support/tools.ts';

/** Each package is checked by the program that it is for; none of them needs an account or the network. */
const product = await readProduct();
const server = await serverFiles();

async function written(files: Files): Promise<string> {
  const folder = await temporaryFolder(afterAll);
  for (const [path, content] of files) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}

async function run(program: readonly string[], args: readonly string[], home: string): Promise<string> {
  const [first = '', ...rest] = program;
  const env = bareEnvironment(home, {
    CI: '1',
    CODEX_HOME: join(home, '.codex'),
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  });
  const { code, stdout, stderr } = await runToEnd(first, [...rest, ...args], { cwd: home, env });
  const text = `${stdout.toString('utf8')}${stderr}`;
  expect(code, text).toBe(0);
  return text;
}

describe('a package is accepted by', () => {
  it('Claude Code, without a warning, and for its directory', async () => {
    const folder = await written(claudePlugin(product, server));
    const home = await temporaryFolder(afterAll);
    const claude = [
      process.execPath,
      join(await tool('@anthropic-ai/claude-code', '2.1.325'), 'cli-wrapper.cjs'),
    ];
    expect(await run(claude, ['plugin', 'validate', '--strict', folder], home)).toContain(
      'Validation passed',
    );
    const plugin = join(folder, 'plugins', 'bmad');
    expect(
      await run(claude, ['plugin', 'validate', '--strict', '--profile', 'directory', plugin], home),
    ).toContain('Validation passed');
  });

  it('Codex, which installs it and lists its server', async () => {
    const folder = await written(codexPlugin(product));
    const home = await temporaryFolder(afterAll);
    await mkdir(join(home, '.codex'), { recursive: true });
    const codex = [process.execPath, join(await tool('@openai/codex', '0.166.0'), 'bin/codex.js')];
    await run(codex, ['plugin', 'marketplace', 'add', folder], home);
    await run(codex, ['plugin', 'add', `bmad@${product.name}`], home);
    expect(await run(codex, ['mcp', 'list'], home)).toMatch(/^bmad\s+npx\s.*enabled/m);
  });

  it('Gemini CLI', async () => {
    const folder = await written(geminiExtension(product, server));
    const gemini = [await node22(), join(await tool('@google/gemini-cli', '0.61.0'), 'bundle/gemini.js')];
    const home = await temporaryFolder(afterAll);
    expect(await run(gemini, ['extensions', 'validate', folder], home)).toContain('successfully validated');
  });

  it('the tool for Claude Desktop bundles', async () => {
    const home = await temporaryFolder(afterAll);
    const mcpb = [process.execPath, join(await tool('@anthropic-ai/mcpb', '2.1.2'), 'dist/cli/cli.js')];
    const files = await desktopBundle(product, server);
    const folder = await written(files);
    expect(await run(mcpb, ['validate', join(folder, 'manifest.json')], home)).toContain('validation passes');
    await writeFile(join(home, 'bmad.mcpb'), zipped(files));
    expect(await run(mcpb, ['unpack', join(home, 'bmad.mcpb'), join(home, 'out')], home)).toContain(
      'unpacked',
    );
  });
});
