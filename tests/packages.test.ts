import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MCPConfigRegistry } from '@gleanwork/mcp-config-schema';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parseToml } from '../src/base/parse/parse.ts';
import {
  claudePlugin,
  codexPlugin,
  desktopBundle,
  geminiExtension,
  llmsInstall,
  llmsText,
  registryEntry,
} from '../scripts/packages/others.ts';
import {
  type Files,
  LARGEST,
  iconPng,
  installLinks,
  readProduct,
  startCommand,
  zipped,
} from '../scripts/packages/product.ts';
import { repository } from './support/app.ts';
import { unzipped } from './support/unzipped.ts';

const product = await readProduct();
/** Stands for the built server, with a file that is too large for Claude Desktop and does not pack. */
const noise = Buffer.from(Array.from({ length: 300_000 }, (_, at) => (at * at * 31 + at * 7) % 251));
const server: Files = new Map<string, string | Buffer>([
  ['bmad-mcp-server.cjs', '// the program\n'],
  ['embedder.bin', noise],
]);

const json = (files: Files, path: string): Record<string, unknown> =>
  JSON.parse(String(files.get(path))) as Record<string, unknown>;

const VERSIONED: readonly [string, Files, string][] = [
  ['Claude Code', claudePlugin(product, server), 'plugins/bmad/.claude-plugin/plugin.json'],
  ['Codex', codexPlugin(product), 'plugins/bmad/.codex-plugin/plugin.json'],
  ['Gemini CLI', geminiExtension(product, server), 'gemini-extension.json'],
  ['Claude Desktop', await desktopBundle(product, server), 'manifest.json'],
];

describe('packages', () => {
  it.each(VERSIONED)('have the version and the name of the product: %s', async (_, files, manifest) => {
    const { version } = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as {
      version: string;
    };
    expect(json(files, manifest)).toMatchObject({ version });
    for (const [path, content] of files) if (path.endsWith('.json')) JSON.parse(String(content));
  });

  it('name a file that is there wherever a manifest names one', () => {
    const [[, claude], [, codex], [, gemini]] = VERSIONED as [
      (typeof VERSIONED)[0],
      (typeof VERSIONED)[0],
      (typeof VERSIONED)[0],
    ];
    expect(claude.has('plugins/bmad/server/bmad-mcp-server.cjs')).toBe(true);
    expect(String(claude.get('plugins/bmad/.mcp.json'))).toContain(
      '${CLAUDE_PLUGIN_ROOT}/server/bmad-mcp-server.cjs',
    );
    expect(codex.has('plugins/bmad/.mcp.json') && codex.has('plugins/bmad/skills/bmad/SKILL.md')).toBe(true);
    expect(gemini.has('server/bmad-mcp-server.cjs') && gemini.has('GEMINI.md')).toBe(true);
  });

  it('have a command for each agent, which starts it with what was typed', () => {
    const names = ['analyst', 'architect', 'dev', 'pm', 'ux-designer'];
    expect(product.agents.map(({ name }) => name).sort()).toEqual(names);
    const [claude, gemini] = [claudePlugin(product, server), geminiExtension(product, server)];
    for (const name of names) {
      const command = String(claude.get(`plugins/bmad/commands/${name}.md`));
      expect(command).toContain(`agent "${name}" and message "$ARGUMENTS"`);
      const { prompt } = parseToml(name, String(gemini.get(`commands/bmad/${name}.toml`))) as {
        prompt: string;
      };
      expect(prompt).toContain(`agent "${name}" and message "{{args}}"`);
    }
  });

  it('have cases to evaluate the plugin by, each with a prompt and a grader', () => {
    const cases = [...claudePlugin(product, server).keys()].filter((path) => path.includes('/evals/'));
    expect(cases.filter((path) => path.endsWith('/prompt.md'))).toHaveLength(3);
    expect(cases.filter((path) => path.endsWith('/graders/criteria.md'))).toHaveLength(3);
  });

  it('have an icon of 512 pixels', () => {
    const icon = iconPng();
    expect(icon.subarray(1, 4).toString()).toBe('PNG');
    expect([icon.readUInt32BE(16), icon.readUInt32BE(20)]).toEqual([512, 512]);
    expect(icon.length).toBeLessThan(LARGEST);
  });
});

describe('the bundle for Claude Desktop', () => {
  it('has no file that is too large, and all bytes of those that were', async () => {
    const files = await desktopBundle(product, server);
    for (const [path, content] of files)
      expect(Buffer.byteLength(content), path).toBeLessThanOrEqual(LARGEST);
    expect([...files.keys()].filter((path) => path.startsWith('server/parts/')).length).toBeGreaterThan(0);
  });

  it('is a zip archive of just these files, the same bytes each time', async () => {
    const files = await desktopBundle(product, server);
    const zip = zipped(files);
    expect(zip.equals(zipped(await desktopBundle(product, server)))).toBe(true);
    const found = unzipped(zip);
    expect([...found.keys()]).toEqual([...files.keys()]);
    for (const [path, bytes] of found) expect(bytes.equals(Buffer.from(files.get(path) ?? ''))).toBe(true);
  });
});

describe('the entry of the registry', () => {
  const entry = registryEntry(product) as { name: string; packages: Record<string, unknown>[] };
  const [npm = {}] = entry.packages;
  const only = (changes: object): object => ({ ...entry, packages: [{ ...npm, ...changes }] });

  it('fits the rules of the registry, which refuse what it would refuse', async () => {
    const schema = JSON.parse(
      await readFile(join(repository, 'deploy', 'server.schema.json'), 'utf8'),
    ) as object;
    const check = new Ajv({ strict: false }).compile(schema);
    expect(check(entry), JSON.stringify(check.errors)).toBe(true);
    const remote = { type: 'streamable-http', url: 'https://bmad.example/mcp' };
    for (const right of [{ ...entry, packages: [], remotes: [remote] }, only({ transport: remote })])
      expect(check(right), JSON.stringify(check.errors)).toBe(true);
    const wrong = [
      { ...entry, description: 'x'.repeat(101) },
      { ...entry, name: 'io.github.a/b/c' },
      { ...entry, version: '^1.0.0' },
      { ...entry, remotes: [{ type: 'streamable-http' }] },
      only({ version: 'latest' }),
      only({ transport: { type: 'sse' } }),
      only({ packageArguments: [{ type: 'positional' }] }),
      only({ registryType: 'mcpb' }),
    ];
    expect(wrong.filter((each) => check(each))).toEqual([]);
  });

  it('has the name that the published package says is its own', async () => {
    const manifest = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')) as object;
    expect(manifest).toMatchObject({ mcpName: entry.name });
    expect(npm).toMatchObject({ identifier: product.name, version: product.version });
  });
});

describe('links that install the server', () => {
  it('have the forms that Cursor and VS Code read', () => {
    const registry = new MCPConfigRegistry();
    const { cursor, vscode } = installLinks(product);
    const template = (host: 'cursor' | 'vscode'): string =>
      registry.getConfig(host)?.protocolHandler?.urlTemplate ?? '';
    const [, config = ''] = /&config=(.*)$/.exec(cursor) ?? [];
    expect(cursor).toBe(
      template('cursor')
        .replace('{{name}}', 'bmad')
        .replace('{{config}}', () => config),
    );
    expect(JSON.parse(Buffer.from(decodeURIComponent(config), 'base64').toString())).toEqual(
      startCommand(product),
    );
    const [before = ''] = template('vscode').split('{{config}}');
    expect(vscode.startsWith(before)).toBe(true);
    expect(JSON.parse(decodeURIComponent(vscode.slice(before.length)))).toEqual({
      name: 'bmad',
      ...startCommand(product),
    });
  });
});

describe('texts for models', () => {
  it('name documents that exist, and the exact version to start', async () => {
    const text = await llmsText(product);
    const paths = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, path = '']) => path);
    expect(paths.length).toBeGreaterThan(8);
    for (const path of paths) await readFile(join(repository, path));
    expect(llmsInstall(product)).toContain(`${product.name}@${product.version}`);
  });
});
