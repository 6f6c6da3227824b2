import { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { temporaryFolder } from '../support/app.ts';
import { bmadHere } from '../support/command-line.ts';
import { makeReadOnly } from '../support/disks.ts';
import { writeFiles } from '../support/folders.ts';
import { LineClient } from '../support/line-client.ts';
import { bareEnvironment, bmad, type Ended } from '../support/programs.ts';

/** A home in which people have used their hosts, as far as each leaves a trace that is different in kind. */
const FILES: Record<string, string> = {
  '.claude.json': '{\n\t"numStartups": 3,\n\t"mcpServers": {}\n}',
  '.cursor/mcp.json': '{"mcpServers":{"a":{"command":"x"}}}\r\n',
  '.config/Code/User/settings.json': '{}',
  '.config/zed/settings.json': '// mine\n{\n  "theme": "One", /* dark */\n  "context_servers": {},\n}\n',
  '.codex/config.toml': '\uFEFFmodel = "x" # mine\r\n\r\n[mcp_servers.a]\r\ncommand = "x"\r\n',
  '.config/goose/config.yaml': 'GOOSE_MODEL: x   # mine\nextensions:\n  dev: { enabled: true }\n',
  '.config/opencode/opencode.json': '{ "theme": "x" }',
  'shop/.git/HEAD': '',
  'shop/.mcp.json': '{ "mcpServers": { "b": { "command": "y" } } }\n',
  'shop/.gemini/settings.json': '{}',
};
const USER_HOSTS = ['claude-code', 'cursor', 'vscode', 'zed', 'codex', 'goose', 'opencode'];
const PROJECT_HOSTS = ['claude-code', 'copilot-cli', 'gemini-cli', 'codex'];

type Table = Record<string, Record<string, Record<string, unknown>>>;
const COMMENTS = /\/\*[^]*?\*\/|\/\/.*$|,(?=\s*[}\]])/gm;
const READERS: Readonly<Record<string, (text: string) => Table>> = {
  json: (text) => JSON.parse(text.replace(COMMENTS, '')) as Table,
  toml: (text) => parseToml(text.replace(/^\uFEFF/, '')) as Table,
  yaml: (text) => parseYaml(text) as Table,
};

async function homeWith(files: Record<string, string>, onEnd = onTestFinished) {
  const home = await temporaryFolder(onEnd);
  await writeFiles(home, { 'shop/.git/HEAD': '', ...files });
  const cwd = join(home, 'shop');
  const env = bareEnvironment(home, { XDG_CONFIG_HOME: join(home, '.config') });
  return { home, cwd, env, path: (name: string) => join(home, name) };
}

interface Told {
  results: { host: string; outcome: string; file: string; problem?: string }[];
  handshakes: { ok: boolean; tools: number }[];
}

const told = ({ stdout }: Ended): Told => JSON.parse(stdout.toString('utf8')) as Told;
const outcomes = (ended: Ended): Record<string, string> =>
  Object.fromEntries(told(ended).results.map(({ host, outcome }) => [host, outcome]));

/** Every file below a folder with its text, without what the server keeps for itself. */
async function filesIn(home: string): Promise<Record<string, string>> {
  const all = await readdir(home, { recursive: true, withFileTypes: true });
  const files = all.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const theirs = files.filter((file) => !/bmad-mcp-server/.test(file.slice(home.length)));
  const texts = await Promise.all(
    theirs.sort().map(async (file) => [file.slice(home.length + 1), await readFile(file, 'utf8')] as const),
  );
  return Object.fromEntries(texts);
}

describe('set-up with the built program', () => {
  it('connects hosts in both scopes, whose entries answer, and leaves no byte behind when they are removed', async () => {
    const { home, cwd, env } = await homeWith(FILES);
    const before = await filesIn(home);
    const run = (...args: string[]): Promise<Ended> => bmad([...args, '--json'], { cwd, env });
    const user = await run('setup', ...USER_HOSTS);
    const project = await run('setup', ...PROJECT_HOSTS, '--scope', 'project');
    for (const ended of [user, project]) {
      expect(ended.code, ended.stderr).toBe(0);
      expect(new Set(Object.values(outcomes(ended)))).toEqual(new Set(['written']));
      expect(told(ended).handshakes).toMatchObject([{ ok: true, tools: 15 }]);
    }
    // What each host will read, by parsers that are not ours.
    const starts = new Set<string>();
    for (const { file } of [...told(user).results, ...told(project).results]) {
      const table = READERS[file.slice(file.lastIndexOf('.') + 1)]?.(await readFile(file, 'utf8')) ?? {};
      const key = ['mcpServers', 'servers', 'context_servers', 'mcp_servers', 'mcp', 'extensions'];
      const entry = key.map((name) => table[name]?.['bmad']).find((found) => found !== undefined) ?? {};
      starts.add(JSON.stringify([entry['command'] ?? entry['cmd'], entry['args'] ?? []].flat(2)));
    }
    expect(starts.size).toBe(1);
    const [node, program = ''] = JSON.parse([...starts][0] ?? '[]') as string[];
    expect(node).toBe(process.execPath);
    const client = await LineClient.connect({ cwd, home, program });
    onTestFinished(async () => void (await client.close()));
    expect((await client.request('tools/list')).result?.['tools']).toHaveLength(15);
    // Twice is once.
    const written = await filesIn(home);
    const again = await bmadHere(['setup', ...USER_HOSTS, '--json'], { cwd, env });
    expect(new Set(Object.values(outcomes(again)))).toEqual(new Set(['unchanged']));
    expect(await filesIn(home)).toEqual(written);
    const removed = await run('remove', '--yes');
    expect(removed.code, removed.stderr).toBe(0);
    expect(await filesIn(home)).toEqual(before);
  });
});

describe('set-up, where something is wrong', () => {
  it('leads from the words of other programs to the command', async () => {
    const { cwd, env } = await homeWith({});
    for (const [word, command, why] of [
      ['init', 'setup', 'Connect this server to your hosts'],
      ['install', 'setup', 'Connect this server to your hosts'],
      ['uninstall', 'remove', 'Disconnect it from them'],
    ] as const) {
      const { code, stderr } = await bmadHere([word], { cwd, env });
      expect(stderr).toBe(
        `There is no command "${word}"; the one for it is "${command}".\n\n${why}: bmad ${command}\n`,
      );
      expect(code).toBe(3);
    }
    const { stderr } = await bmadHere(['board'], { cwd, env });
    expect(stderr).toContain('There is no command "board"; the one for it is "next".');
    expect(stderr).toContain('bmad page shows it in a browser.');
    // A workflow of that name is what was meant.
    await writeFiles(cwd, {
      '_bmad/bmm/workflows/init/SKILL.md': '---\nname: init\ndescription: Begins.\n---\n# Begin here\n',
    });
    expect((await bmadHere(['init'], { cwd, env })).stdout.toString('utf8')).toContain('Begin here');
  });

  it('says so, and writes nothing else', async () => {
    const { home, cwd, env, path } = await homeWith({
      '.cursor/mcp.json': '{}',
      '.kiro/settings/x': '',
      '.junie/mcp': 'a file where a folder should be',
    });
    const run = (...args: string[]) => bmadHere(args, { cwd, env });
    // Unknown hosts come with the nearest; nothing is written for the others either.
    const unknown = await run('setup', 'cursor', 'kiru');
    expect(unknown.stderr).toMatch(/There is no host "kiru"[^]*kiro/);
    expect(await readFile(path('.cursor/mcp.json'), 'utf8')).toBe('{}');
    // A host that is not there is connected, and that is said.
    const absent = await run('setup', 'windsurf', '--dry-run');
    expect(absent.stdout.toString('utf8')).toMatch(/Windsurf.*\(it does not seem to be installed\)/);
    // Folders and links in the place of files.
    await mkdir(path('.kiro/settings/mcp.json'));
    await mkdir(path('.codeium/windsurf'), { recursive: true });
    await symlink(path('nowhere.json'), path('.codeium/windsurf/mcp_config.json'));
    const wrong = await run('setup', 'kiro', 'windsurf', 'junie', 'cursor', '--json');
    expect(wrong.code).toBe(1);
    const problems = Object.fromEntries(told(wrong).results.map(({ host, problem = '' }) => [host, problem]));
    expect(problems['kiro']).toMatch(/is not a regular file; it is unchanged/);
    expect(problems['windsurf']).toMatch(/is a link/);
    expect(problems['junie']).toMatch(/is a file, but a folder belongs there/);
    expect(problems['cursor']).toBe('');
    expect(await readdir(home)).not.toContain('nowhere.json');
    expect(await readFile(path('.junie/mcp'), 'utf8')).toBe('a file where a folder should be');
  });

  it('goes on from what people and other versions have left', async () => {
    const { cwd, env, path } = await homeWith({ '.cursor/mcp.json': '{}' });
    const run = (...args: string[]) => bmadHere([...args, '--json'], { cwd, env });
    expect(outcomes(await run('setup', 'cursor'))).toEqual({ cursor: 'written' });
    // The entry is removed by hand, and wanted again; then the whole file is gone.
    await writeFile(path('.cursor/mcp.json'), '{"mine": 1}');
    expect(outcomes(await run('setup', 'cursor'))).toEqual({ cursor: 'written' });
    await rm(path('.cursor/mcp.json'));
    expect(outcomes(await run('remove', 'cursor'))).toEqual({ cursor: 'absent' });
    // The Node that was written down is gone: the entry is ours all the same, is said to be broken, and repaired.
    const gone = { command: '/gone/bin/node', args: ['/gone/dist/bmad-mcp-server.cjs'] };
    await writeFile(path('.cursor/mcp.json'), JSON.stringify({ mcpServers: { bmad: gone } }));
    expect(outcomes(await run('setup', 'cursor'))).toEqual({ cursor: 'updated' });
    expect(await readFile(path('.cursor/mcp.json'), 'utf8')).toContain(JSON.stringify(process.execPath));
    expect(outcomes(await run('remove', 'cursor'))).toEqual({ cursor: 'removed' });
  });

  it('tells of a home on a disk that may only be read', async (context) => {
    const { home, cwd, env, path } = await homeWith({ '.cursor/mcp.json': '{}', '.kiro/x': '' }, afterAll);
    if (!(await makeReadOnly(home, onTestFinished))) return context.skip('nothing can be mounted here');
    const ended = await bmadHere(['setup', '--yes', '--json'], { cwd, env });
    expect(ended.code).toBe(1);
    expect(ended.stderr).not.toMatch(/incident/);
    expect(outcomes(ended)).toEqual({ cursor: 'refused', kiro: 'refused' });
    for (const { problem } of told(ended).results) expect(problem).toMatch(/read-only|cannot be written/i);
    expect(await readFile(path('.cursor/mcp.json'), 'utf8')).toBe('{}');
  });
});
