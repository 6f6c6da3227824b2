import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { bmadHere } from '../support/command-line.ts';
import { connectOver, ERAS } from '../support/http-client.ts';
import { serveHere } from '../support/http-server.ts';
import { bareEnvironment } from '../support/programs.ts';

const [ADA, OTHER_ADA, READER] = [
  'token-of-ada-1-0123456789',
  'token-of-ada-2-0123456789',
  'token-of-bob-0123456789',
];
const WORDS = 'words that nobody else is to read';

interface AuditedServer {
  post(token: string, operation: string, body: object): Promise<Response>;
  get(path: string): Promise<Response>;
  url: string;
  folder: string;
  /** Whether any file of the project has these words. */
  kept(words: string): Promise<boolean>;
  lines(): Promise<Record<string, unknown>[]>;
  show(...args: string[]): Promise<string>;
  end(): Promise<void>;
}

/** `state` can be changed before the server starts. */
async function serve(
  env: Record<string, string> = {},
  prepare?: (state: string) => Promise<void>,
): Promise<AuditedServer> {
  const cwd = await temporaryFolder(onTestFinished);
  const home = await temporaryFolder(onTestFinished);
  await mkdir(join(cwd, '_bmad'));
  const file = join(home, 'tokens');
  // A comment may hold anything; what moves a cursor or hides is not kept of it.
  await writeFile(file, `${ADA} # a\u001b[31mda\n${OTHER_ADA} # a\u001b[31mda\n${READER} read bob\n`, {
    mode: 0o600,
  });
  const state = join(home, 'state');
  const folder = join(state, 'bmad-mcp-server', 'audit');
  await prepare?.(join(state, 'bmad-mcp-server'));
  const own = { XDG_STATE_HOME: state };
  const server = await serveHere({ cwd, home, env: { ...own, BMAD_HTTP_TOKEN_FILE: file, ...env } });
  onTestFinished(async () => void (await server.stop()));
  const { origin } = new URL(server.url);
  return {
    url: server.url,
    folder,
    post: (token, operation, body) =>
      fetch(`${origin}/api/${operation}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }),
    get: (path) => fetch(`${origin}${path}`, { headers: { authorization: `Bearer ${READER}` } }),
    async lines() {
      const names = (await readdir(folder)).sort();
      const texts = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')));
      return texts
        .flatMap((text) => text.trim().split('\n'))
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    },
    async kept(words) {
      const entries = await readdir(cwd, { recursive: true, withFileTypes: true });
      const files = entries
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name));
      return (await Promise.all(files.map((each) => readFile(each, 'utf8')))).some((text) =>
        text.includes(words),
      );
    },
    show: async (...args) =>
      String((await bmadHere(['audit', ...args], { cwd, env: bareEnvironment(home, own) })).stdout),
    end: async () => void (await server.stop()),
  };
}

const decision = { decision: WORDS, rationale: WORDS };

describe('the audit of an HTTP server', () => {
  it('says who has changed what and who was refused, and no word of it', async () => {
    const { post, get, url, lines, show, end, folder } = await serve();
    expect((await post(ADA, 'log_decision', decision)).status).toBe(200);
    expect(
      (await post(OTHER_ADA, 'spawn_subagent_task', { agent: 'dev', task: WORDS, output_key: 'brief' }))
        .status,
    ).toBe(200);
    expect((await post(READER, 'log_decision', decision)).status).toBe(403);
    expect((await post(ADA, 'task_claim', { task_id: 'task-that-is-not-there' })).status).toBe(404);
    expect((await post('a-token-of-nobody-0123', 'log_decision', decision)).status).toBe(401);
    expect((await get('/api/next')).status).toBe(200);
    for (const { mode } of ERAS) {
      const client = await connectOver(url, mode, ADA);
      await client.callTool({
        name: 'remember_structured',
        arguments: { type: 'decisions', agent: 'architect', text: WORDS },
      });
      await client.close();
    }
    await end();
    const all = await lines();
    expect(all.map(({ operation, outcome }) => `${String(operation)} ${String(outcome)}`).sort()).toEqual(
      [
        'log_decision ok',
        'spawn_subagent_task ok',
        'log_decision forbidden',
        'task_claim not_found',
        'door wrong_token',
        'remember_structured ok',
        'remember_structured ok',
      ].sort(),
    );
    const [first, second] = all.map(({ by }) => by as Record<string, string>);
    expect([first?.['name'], second?.['name']]).toEqual(['a [31mda', 'a [31mda']);
    expect(first?.['token']).not.toBe(second?.['token']);
    expect(all[0]?.['project']).toEqual(expect.any(String));
    expect(all[1]?.['target']).toMatch(/^task-/);
    expect(all[3]?.['target']).toBe('task-that-is-not-there');
    const files = await Promise.all(
      (await readdir(folder)).map((name) => readFile(join(folder, name), 'utf8')),
    );
    expect(files.join('')).not.toContain('nobody else');
    expect(files.join('')).not.toContain(ADA);
    expect(await show('--outcome', 'forbidden')).toMatch(
      /token bob \S+ \| log_decision \/\S+ \| forbidden \d+ ms/,
    );
    expect((await show('--caller', first?.['token'] ?? '')).match(/remember_structured/g)).toHaveLength(2);
    expect(await show('--since', '2099-01-01')).toContain('No call has been audited since 2099');
  });

  it('has reads as well, where that is asked for', async () => {
    const { get, lines } = await serve({ BMAD_AUDIT: 'all' });
    await get('/api/next');
    expect(await lines()).toMatchObject([
      { operation: 'next', outcome: 'ok', by: { kind: 'token', name: 'bob' } },
    ]);
  });

  it.each([
    ['', 200, 'degraded'],
    ['required', 503, 'degraded'],
  ])('that cannot be written: audit=%s', async (audit, status, health) => {
    const { post, get, folder, kept } = await serve(
      audit === '' ? {} : { BMAD_AUDIT: audit },
      async (state) => {
        await mkdir(state, { recursive: true, mode: 0o700 });
        await writeFile(join(state, 'audit'), 'in the way');
      },
    );
    const answer = await post(ADA, 'log_decision', decision);
    expect(answer.status).toBe(status);
    expect(await answer.text()).not.toContain(folder);
    expect(await (await get('/readyz')).json()).toMatchObject({ status: health });
    expect(await kept(WORDS)).toBe(status === 200);
  });

  it('has a line before each change, where it is required', async () => {
    const { post, lines } = await serve({ BMAD_AUDIT: 'required' });
    await post(ADA, 'log_decision', decision);
    expect((await lines()).map(({ outcome }) => outcome)).toEqual(['begun', 'ok']);
  });
});
