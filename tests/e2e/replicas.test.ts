import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join as path } from 'node:path';
import { StreamableHTTPClientTransport, type Client } from '@modelcontextprotocol/client';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { FakeQdrant } from '../memory/fake-qdrant.ts';
import { serverFile, temporaryFolder } from '../support/app.ts';
import { KIT_LIKE_SCRIPT, SCRIPT_PATH } from '../support/contract-project.ts';
import { writeFiles } from '../support/folders.ts';
import { startHttpServer, type HttpServerProcess } from '../support/http-server.ts';
import { KIT_FILES } from '../support/kit-project.ts';
import { newClient, textsOf, type ConnectOptions } from '../support/mcp-client.ts';
import { nginxProgram, startBalancer } from '../support/nginx.ts';

const nginx = nginxProgram();
/** Shown where the tests are skipped. */
const NEEDED = nginx === undefined ? ' (skipped: there is no nginx, and it cannot be installed here)' : '';

const guide = (module: string, title: string): string =>
  `---\nname: guide\ndescription: ${title}\n---\n<agent id="bmad/${module}/agents/guide.md" name="Gina" title="${title}" icon="🧭">\n<persona><role>${title}</role></persona>\n</agent>\n`;
const PROJECT = {
  ...KIT_FILES,
  [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
  '.verify/go': 'go test ./...|all well\n',
  'bmad/_cfg/manifest.yaml': 'installation:\n  version: 6.0.0-alpha.22\nmodules:\n  - bmb\n  - cis\n',
  'bmad/bmb/agents/guide.md': guide('bmb', 'Mountain guide'),
  'bmad/cis/agents/guide.md': guide('cis', 'City guide'),
};

/** Behind a proxy everybody looks like somebody on this machine, so that a token is asked for. */
const TOKEN = 'a-token-for-these-tests';
const AUTHORIZATION = { authorization: `Bearer ${TOKEN}` };

/** Two replicas in one project and one home, and nginx before them. */
async function replicas(
  args: readonly string[],
  onEnd: (cleanUp: () => Promise<void>) => void,
): Promise<{
  url: string;
  servers: [HttpServerProcess, HttpServerProcess];
  addresses: [string, string];
  start(port?: string[]): Promise<HttpServerProcess>;
  cwd: string;
}> {
  const [cwd, home] = [await temporaryFolder(onEnd), await temporaryFolder(onEnd)];
  await writeFiles(cwd, PROJECT);
  // What clients carry from one replica to the other is sealed by the secret they share.
  const env = { BMAD_HTTP_SECRET: 'the same for all replicas of a test', BMAD_HTTP_TOKEN: TOKEN };
  const start = (port = ['--port', '0']): Promise<HttpServerProcess> =>
    startHttpServer({ cwd, home, args: [serverFile, '--http', ...port, ...args], env });
  const servers: [HttpServerProcess, HttpServerProcess] = [await start(), await start()];
  onEnd(async () => void (await Promise.all(servers.map((server) => server.stop()))));
  const addresses = servers.map(({ url }) => new URL(url).host) as [string, string];
  const { url } = await startBalancer(nginx ?? '', addresses, onEnd);
  return { url, servers, addresses, start, cwd };
}

interface Joined {
  client: Client;
  /** Which replica has answered each request, in order. */
  seen: string[];
  call(name: string, args: Record<string, unknown>): Promise<Record<string, unknown>>;
  text(name: string, args: Record<string, unknown>): Promise<string>;
}

async function join(url: string, options: Pick<ConnectOptions, 'mode' | 'sample'> = {}): Promise<Joined> {
  const seen: string[] = [];
  const client = newClient({ mode: { pin: '2026-07-28' }, ...options });
  const noting = async (input: URL | string, init?: RequestInit): Promise<Response> => {
    const headers = new Headers(init?.headers);
    for (const [name, value] of Object.entries(AUTHORIZATION)) headers.set(name, value);
    const response = await fetch(input, { ...init, headers });
    seen.push(response.headers.get('x-replica') ?? '');
    return response;
  };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', url), { fetch: noting }));
  onTestFinished(() => client.close());
  const text = async (name: string, args: Record<string, unknown>): Promise<string> => {
    const result = await client.callTool({ name, arguments: args });
    const said = textsOf(result).join('\n');
    if (result.isError === true) throw new Error(said);
    return said;
  };
  return {
    client,
    seen,
    text,
    async call(name, args) {
      const response = await fetch(`${url}/api/${name}`, {
        method: 'POST',
        headers: { ...AUTHORIZATION, 'content-type': 'application/json' },
        body: JSON.stringify(args),
      });
      seen.push(response.headers.get('x-replica') ?? '');
      const { data, detail } = (await response.json()) as { data?: Record<string, unknown>; detail?: string };
      if (data === undefined) throw new Error(detail);
      return data;
    },
  };
}

/** Whether the last two requests were answered by different replicas. */
const bothSeen = ({ seen }: Joined): number => new Set(seen.slice(-2)).size;

type OnEnd = (cleanUp: () => Promise<void>) => void;

const ENGINES: { engine: string; args: (onEnd: OnEnd) => Promise<string[]> }[] = [
  { engine: 'SQLite in the project', args: async () => ['--memory-engine', 'sqlite'] },
  {
    engine: 'Qdrant',
    args: async (onEnd) => {
      const qdrant = new FakeQdrant();
      onEnd(() => qdrant.stop());
      return ['--qdrant-url', await qdrant.start()];
    },
  },
];

describe.skipIf(nginx === undefined).each(ENGINES)(
  `two replicas with memories on $engine${NEEDED}`,
  ({ args }) => {
    let url = '';
    beforeAll(async () => {
      const ends: (() => Promise<void>)[] = [];
      const onEnd: OnEnd = (cleanUp) => void ends.unshift(cleanUp);
      ({ url } = await replicas([...(await args(onEnd)), '--contracts-over-http', '--trust-project'], onEnd));
      return async () => {
        for (const end of ends) await end();
      };
    });

    it('share memories', async () => {
      const joined = await join(url);
      const text = 'Orders are kept in PostgreSQL because they need transactions';
      await joined.text('remember_structured', { type: 'decisions', agent: 'architect', text });
      expect(await joined.text('recall_structured', { query: 'where are orders kept' })).toContain(
        'PostgreSQL',
      );
      expect(bothSeen(joined)).toBe(2);
    });

    it('share the queue: what one has queued the other hands out, once', async () => {
      const joined = await join(url);
      await joined.text('spawn_subagent_task', {
        agent: 'architect',
        task: 'Measure it',
        output_key: 'figures',
      });
      const claimed = await joined.text('manage_project', { action: 'task_claim', args: {} });
      expect(claimed).toContain('Measure it');
      expect(bothSeen(joined)).toBe(2);
      expect(await joined.text('manage_project', { action: 'task_claim', args: {} })).toContain(
        'There is no task',
      );
    });

    it('give every task to one worker, however many ask at once', async () => {
      const joined = await join(url);
      const keys = Array.from({ length: 6 }, (_none, index) => `part_${index}`);
      for (const output_key of keys)
        await joined.call('spawn_subagent_task', { agent: 'architect', task: output_key, output_key });
      const claims = await Promise.all(keys.map(() => joined.call('task_claim', {})));
      const taken = claims.map(({ task }) => (task as { output_key: string }).output_key);
      expect(taken.sort()).toEqual(keys);
      expect(new Set(joined.seen).size).toBe(2);
    });

    it('share runs: one opens, the other goes on', async () => {
      const joined = await join(url);
      const { run } = (await joined.call('run_open', { workflow: 'prd' })) as { run: { run_id: string } };
      const checkpoint = { run_id: run.run_id, step: 1, variables: { tone: 'calm' } };
      await joined.call('run_checkpoint', checkpoint);
      expect(bothSeen(joined)).toBe(2);
      const resumed = await joined.text('manage_project', {
        action: 'run_resume',
        args: { run_id: run.run_id },
      });
      expect(bothSeen(joined)).toBe(2);
      expect(resumed).toMatch(/tone[^]*calm/);
    });

    it('share receipts', async () => {
      const joined = await join(url);
      await joined.text('run_completion_contract', {});
      const receipts = await joined.text('manage_project', { action: 'list_receipts', args: {} });
      expect(bothSeen(joined)).toBe(2);
      expect(receipts).toContain('PASS');
    });
  },
);

describe.skipIf(nginx === undefined)(`two replicas behind a balancer${NEEDED}`, () => {
  const ASKED = { operation: 'execute', agent: 'guide', message: 'Which tram goes to the museum?' };
  let url = '';
  let servers: [HttpServerProcess, HttpServerProcess];
  let addresses: [string, string];
  beforeAll(async () => {
    const ends: (() => Promise<void>)[] = [];
    ({ url, servers, addresses } = await replicas(
      ['--discovery', 'local'],
      (cleanUp) => void ends.unshift(cleanUp),
    ));
    return async () => {
      for (const end of ends) await end();
    };
  });

  it('go on with a question to the model of the client, whoever has asked it', async () => {
    const questions: unknown[] = [];
    const joined = await join(url, {
      sample: (params) => {
        questions.push(params);
        return { role: 'assistant', model: 'test', content: { type: 'text', text: 'cis/guide' } };
      },
    });
    const { content } = await joined.client.callTool({ name: 'bmad', arguments: ASKED });
    expect(JSON.stringify(content)).toContain("Most likely cis/guide: your client's model chose it.");
    expect(questions).toHaveLength(1);
    expect(bothSeen(joined)).toBe(2);
  });

  it('keep the session of a client of 2025 at one of them', async () => {
    const joined = await join(url, { mode: 'legacy' });
    for (let count = 0; count < 4; count += 1)
      await joined.text('bmad', { operation: 'list', query: 'agents' });
    expect(joined.seen.length).toBeGreaterThan(5);
    expect(new Set(joined.seen).size).toBe(1);
  });

  it('tell their figures one by one, not through the balancer', async () => {
    expect((await fetch(`${url}/metrics`)).status).toBe(404);
    for (const address of addresses)
      expect(await (await fetch(`http://${address}/metrics`, { headers: AUTHORIZATION })).text()).toContain(
        'bmad_build_info',
      );
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
  });

  it('can be started anew one after the other under load, without a call that fails', async () => {
    const given = await replicas(['--http-drain-ms', '300', '--discovery', 'local'], onTestFinished);
    const over = new AbortController();
    const statuses: Record<number, number> = {};
    const answered: Record<string, number> = {};
    let sent = 0;
    /** What a proxy could not pass on is sent again with its key: whatever became of it, it is done once. */
    const untilAnswered = async (name: string, body: object, key: string): Promise<number> => {
      for (let tries = 1; ; tries += 1) {
        const { status, headers } = await fetch(`${given.url}/api/${name}`, {
          method: 'POST',
          headers: { ...AUTHORIZATION, 'content-type': 'application/json', 'idempotency-key': key },
          body: JSON.stringify(body),
        });
        const by = headers.get('x-replica') ?? '';
        answered[by] = (answered[by] ?? 0) + 1;
        if (![502, 503].includes(status) || tries === 10) return status;
      }
    };
    const reads = async (): Promise<void> => {
      while (!over.signal.aborted) await note(untilAnswered('list', { what: 'agents' }, randomUUID()));
    };
    const writes = async (): Promise<void> => {
      while (!over.signal.aborted) {
        sent += 1;
        await note(
          untilAnswered('log_learning', { agent: 'dev', text: `Learned number ${sent}.` }, `key-${sent}`),
        );
      }
    };
    const note = async (answer: Promise<number>): Promise<void> => {
      const status = await answer;
      statuses[status] = (statuses[status] ?? 0) + 1;
    };
    const callers = [reads(), reads(), reads(), reads(), writes(), writes()];
    for (const server of given.servers) {
      const { port, host } = new URL(server.url);
      expect(await server.stop()).toBe(0);
      const before = answered[host] ?? 0;
      const again = await given.start(['--port', port]);
      onTestFinished(async () => void (await again.stop()));
      // The balancer leaves out for five seconds what did not answer: the other one stays until it is back.
      await expect.poll(() => answered[host] ?? 0, { timeout: 30_000 }).toBeGreaterThan(before + 20);
    }
    over.abort();
    await Promise.all(callers);
    expect(statuses).toEqual({ 200: expect.any(Number) as number });
    const page = await readFile(path(given.cwd, '_bmad/_memory/agent-learnings/dev.md'), 'utf8');
    const kept = [...page.matchAll(/Learned number (\d+)\./g)].map(([, number]) => Number(number));
    expect(kept.sort((one, other) => one - other)).toEqual(Array.from({ length: sent }, (_, at) => at + 1));
  });

  // The last: one of them is no more.
  it('keep serving when one is gone', async () => {
    const joined = await join(url);
    await Promise.all(
      Array.from({ length: 8 }, () => joined.text('bmad', { operation: 'list', query: 'agents' })),
    );
    expect(new Set(joined.seen).size).toBe(2);
    servers[0].child.kill('SIGKILL');
    await servers[0].stop();
    joined.seen.length = 0;
    for (let count = 0; count < 8; count += 1)
      expect(await joined.text('bmad', { operation: 'list', query: 'agents' })).toContain('guide');
    // The first to notice is sent on by nginx; its header then names both.
    expect(joined.seen.every((place) => place.endsWith(addresses[1]))).toBe(true);
    expect((await fetch(`${url}/readyz`)).status).toBe(200);
  });
});
