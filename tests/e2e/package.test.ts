import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { VERSION } from '../../src/base/product.ts';
import { commandIsFound } from '../../src/bin/program-place.ts';
import { repository, temporaryFolder } from '../support/app.ts';
import { connectClient, textsOf } from '../support/mcp-client.ts';
import { filesBelow } from '../support/package-skills.ts';
import { installPackedPackage } from '../support/packed-package.ts';
import { runToEnd, type Ended } from '../support/programs.ts';
import { DEFAULT_TOOLS } from '../support/tool-names.ts';
import { some } from '../support/how-much.ts';

const { folder: installed, home, env, files } = await installPackedPackage(afterAll);
const bin = (name: string): string => join(installed, 'node_modules', '.bin', name);
const run = (name: string, ...args: string[]): Promise<Ended> =>
  runToEnd(bin(name), args, { cwd: installed, env });

describe('the package', () => {
  it.each([
    'package.json',
    'README.md',
    'LICENSE',
    'dist/bmad.cjs',
    'dist/bmad-mcp-server.cjs',
    'dist/server.cjs',
    'dist/shared.cjs',
    'dist/library.cjs',
    'dist/library.mjs',
    'dist/library.d.cts',
    'dist/library.d.mts',
    'dist/THIRD_PARTY_LICENSES.txt',
    'dist/sbom.cdx.json',
    'dist/content/LICENSE',
    'dist/content/_config/manifest.yaml',
  ])('has %s', (path) => {
    expect(files).toContain(path);
  });

  it('has all of the content', async () => {
    const content = await filesBelow(join(repository, 'dist', 'content'));
    expect(content.length).toBeGreaterThan(200);
    expect(files).toEqual(expect.arrayContaining(content.map((path) => `dist/content/${path}`)));
  });

  it('has nothing that is only for its makers', () => {
    const allowed = /^(?:dist\/|(?:package\.json|README\.md|LICENSE|CHANGELOG\.md|SECURITY\.md)$)/;
    expect(files.filter((path) => !allowed.test(path))).toEqual([]);
    expect(files.filter((path) => /node_modules|\.map$|\.ts$|\/tests\/|__pycache__/.test(path))).toEqual([]);
  });
});

describe('the installed package', () => {
  it('says what traces need, and serves without', async () => {
    const { code, stdout, stderr } = await run('bmad-mcp-server', '--traces', '--test');
    expect(stderr).toContain('the package @opentelemetry/api is not installed, so no spans are recorded.');
    expect(stdout.toString()).toMatch(/ — Ready\n$/);
    expect(code).toBe(0);
  });

  it('brings nothing else along', async () => {
    const folder = join(installed, 'node_modules');
    const entries = (await readdir(folder)).filter((name) => !name.startsWith('.'));
    expect(entries).toEqual(['mcp-server-bmad']);
    expect(await readdir(join(folder, 'mcp-server-bmad'))).not.toContain('node_modules');
    expect((await readdir(join(folder, '.bin'))).sort()).toEqual(['bmad', 'bmad-mcp-server']);
  });

  it('tests itself', async () => {
    const { code, stdout } = await run('bmad-mcp-server', '--test');
    expect(code).toBe(0);
    expect(stdout.toString('utf8')).toMatch(/^BMAD MCP Server v\S+ — .* tools registered — .* — Ready\n$/);
    expect(stdout.toString('utf8')).toContain(`— ${DEFAULT_TOOLS.length} tools`);
    expect(stdout.toString('utf8')).toContain(`v${VERSION}`);
  });

  it('lists the agents', async () => {
    const { code, stdout } = await run('bmad', 'list', 'agents', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout.toString('utf8'))).toMatchObject({ total: 5 });
  });

  it('finds itself in order', async () => {
    const { code, stdout } = await run('bmad', 'doctor', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout.toString('utf8'))).toMatchObject({
      ok: true,
      handshake: {
        tools: [...DEFAULT_TOOLS],
      },
    });
  });

  it.each(some(1, ['auto', 'legacy'] as const))('serves the official client (%s)', async (mode) => {
    const client = await connectClient({ cwd: installed, home, mode, command: [bin('bmad-mcp-server')] });
    try {
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual([...DEFAULT_TOOLS]);
      const answer = await client.callTool({ name: 'bmad', arguments: { command: 'architect Hello.' } });
      expect(textsOf(answer)[0]).toMatch(/^# Winston[^]*Hello\./);
    } finally {
      await client.close();
    }
  });
});

describe('a clone', () => {
  it('has the programs in every folder after "npm link", as the README says', async () => {
    const prefix = await temporaryFolder(afterAll);
    const npm = process.env['npm_execpath'];
    const [program, first] = npm === undefined ? ['npm', []] : [process.execPath, [npm]];
    const flags = ['link', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    const linked = await runToEnd(program, [...first, ...flags], {
      cwd: repository,
      env: { ...env, npm_config_prefix: prefix },
    });
    expect(linked.code, linked.stderr).toBe(0);
    const folder = process.platform === 'win32' ? prefix : join(prefix, 'bin');
    const own = join(repository, 'dist', 'bmad.cjs');
    expect(commandIsFound({ PATH: folder }, process.platform, own)).toBe(true);
    expect(commandIsFound({ PATH: installed }, process.platform, own)).toBe(false);
    const { stdout } = await runToEnd(join(folder, 'bmad'), ['--version'], { cwd: prefix, env });
    expect(stdout.toString('utf8')).toBe(`${VERSION}\n`);
  });
});
