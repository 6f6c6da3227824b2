import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { linkFolder, writeFiles } from '../support/folders.ts';
import { startHttpServer } from '../support/http-server.ts';
import { LineClient } from '../support/line-client.ts';
import { bareEnvironment, bmad } from '../support/programs.ts';

const CANARY = 'canary-3c81d5';
const folder = await temporaryFolder(afterAll);
const home = join(folder, 'people/me');
const shop = join(home, 'shop');
await writeFiles(home, {
  '.kube/config': `server: ${CANARY}\n`,
  '.kube/_bmad/core/config.yaml': '',
  '.password-store/x.txt': CANARY,
  '.gnupg/gpg.conf': CANARY,
  '.ssh/config': `Host ${CANARY}\n`,
  '.aws/config': `region = ${CANARY}\n`,
  '.config/gh/hosts.yml': `user: ${CANARY}\n`,
  '.config/tool/package.json': `{ "name": "${CANARY}" }`,
  '.bash_history': CANARY,
  '.local/state/bmad-mcp-server/http-token': CANARY,
  'Documents/diary.md': `Dear ${CANARY}\n`,
  'shop/_bmad/core/config.yaml': 'user_name: Ada\n',
  'shop/README.md': '# The shop\n',
  'shop/packages/web/package.json': '{}',
  'shop/packages/web/page.ts': 'export const page = "the page of the shop";\n',
  'shop/.gitignore': 'mine.txt\n',
  'shop/mine.txt': CANARY,
  '.dotfiles/setup.sh': 'echo hello\n',
});
execFileSync('git', ['init', '-q'], { cwd: shop });
execFileSync('git', ['config', 'user.name', CANARY], { cwd: shop });
await linkFolder(join(home, '.ssh'), join(shop, 'keys'));

const ATTACKS: [folder: string, file: string][] = [
  ['.kube', 'config'],
  ['.password-store', 'x.txt'],
  ['.gnupg', 'gpg.conf'],
  ['.ssh', 'config'],
  ['.aws', 'config'],
  ['.config/gh', 'hosts.yml'],
  ['.config/tool', 'package.json'],
  ['.local/state/bmad-mcp-server', 'http-token'],
  ['Documents', 'diary.md'],
  ['..', 'me/.bash_history'],
  ['../..', 'people/me/Documents/diary.md'],
  ['.', '.bash_history'],
  ['shop/.git', 'config'],
  ['shop/keys', 'config'],
  ['shop', 'mine.txt'],
  ['shop', '.git/config'],
  ['shop', 'keys/config'],
];

const TOOLS: [tool: string, args: (file: string) => object][] = [
  ['delegate_to_agent', (file) => ({ agent_id: 'architect', task: 'x', context: `@${file}` })],
  ['search_codebase', () => ({ query: 'canary' })],
  [
    'spawn_subagent_task',
    (file) => ({ agent: 'architect', task: 'x', output_key: 'k', context_files: [file] }),
  ],
  ['get_project_context', () => ({})],
];

async function connected(args: readonly string[], cwd = shop): Promise<LineClient> {
  const client = await LineClient.connect({ cwd, home, args, env: { PATH: process.env['PATH'] ?? '' } });
  onTestFinished(async () => void (await client.close()));
  return client;
}

/** The answer to a call, as it is written. */
async function said(client: LineClient, name: string, args: object): Promise<string> {
  return JSON.stringify(await client.request('tools/call', { name, arguments: args }));
}

describe('what is not in a project', () => {
  it.each([
    ['over stdin', []],
    ['over stdin, read-only', ['--read-only']],
    ['over stdin, with a project', ['--project', shop]],
  ] as [string, string[]][])('cannot be read %s, whatever a call names (X-12)', async (_, args) => {
    const client = await connected(args);
    for (const [place, file] of ATTACKS)
      for (const root of [join(home, place), `/proc/self/root${join(home, place)}`])
        for (const [tool, argsFor] of TOOLS) {
          const answer = await said(client, tool, { ...argsFor(file), project: root });
          expect(answer, `${tool} ${root} ${file}`).not.toContain(CANARY);
        }
  });

  it('is the server’s own state, though it lies in the project (17)', async () => {
    const own = join(folder, 'container');
    const files = [
      'state/bmad-mcp-server/decisions/x.jsonl',
      'config/bmad-mcp-server/config.toml',
      'cache/bmad-mcp-server/x.md',
    ];
    await writeFiles(own, {
      'package.json': '{}',
      'x.md': 'plain',
      ...Object.fromEntries(files.map((file) => [file, `# ${CANARY}\n`])),
    });
    const env = {
      PATH: process.env['PATH'] ?? '',
      XDG_STATE_HOME: join(own, 'state'),
      XDG_CONFIG_HOME: join(own, 'config'),
      XDG_CACHE_HOME: join(own, 'cache'),
    };
    for (const isRepository of [false, true]) {
      if (isRepository) execFileSync('git', ['init', '-q'], { cwd: own });
      const client = await LineClient.connect({ cwd: own, home, args: ['--project', own], env });
      onTestFinished(async () => void (await client.close()));
      for (const file of files)
        for (const [tool, argsFor] of TOOLS)
          expect(await said(client, tool, argsFor(file)), `${tool} ${file}`).not.toContain(CANARY);
      expect(
        await said(client, 'delegate_to_agent', { agent_id: 'architect', task: 'x', context: '@x.md' }),
      ).toContain('plain');
    }
  });

  it('cannot be read over HTTP either, of which nothing is told (X-12)', async () => {
    const server = await startHttpServer({ cwd: shop, home, env: { PATH: process.env['PATH'] ?? '' } });
    onTestFinished(async () => void (await server.stop()));
    const origin = new URL(server.url).origin;
    const answers = new Set<string>();
    for (const place of ['.kube', 'Documents', '.', '..', 'gone', '.config/tool', 'shop/keys']) {
      const project = join(home, place);
      const asked = new URLSearchParams({ agent_id: 'architect', task: 'x', context: '@config', project });
      const response = await fetch(`${origin}/api/delegate_to_agent?${asked.toString()}`);
      const text = await response.text();
      expect(text).not.toContain(CANARY);
      answers.add(
        text.replaceAll(JSON.stringify(project).slice(1, -1), '<folder>').replace(/"incident[^,]*/, ''),
      );
    }
    expect([...answers]).toHaveLength(1);
  });
});

describe('what is in a project', () => {
  it('can be read: a part of it, and a hidden folder that the user has named, which is said', async () => {
    const client = await connected([]);
    const part = { project: join(shop, 'packages/web'), context: '@page.ts' };
    expect(await said(client, 'delegate_to_agent', { agent_id: 'architect', task: 'x', ...part })).toContain(
      'the page of the shop',
    );
    const hidden = await connected(['--project', join(home, '.dotfiles')], folder);
    expect(
      await said(hidden, 'delegate_to_agent', { agent_id: 'architect', task: 'x', context: '@setup.sh' }),
    ).toContain('echo hello');
    const env = bareEnvironment(home);
    const doctor = await bmad(['doctor', '--project', join(home, '.dotfiles')], { cwd: shop, env });
    expect(doctor.stdout.toString()).toContain('although it is a hidden folder of the home folder');
    const refused = await bmad(['doctor', '--project', join(home, '.ssh')], { cwd: shop, env });
    expect(`${refused.stdout.toString()}${refused.stderr}`).toContain(
      'programs keep keys, passwords or their own data there',
    );
  });
});
