import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { connectOver, ERAS } from '../support/http-client.ts';
import { startHttpServer, type HttpServerProcess } from '../support/http-server.ts';
import { textsOf } from '../support/mcp-client.ts';
import { some } from '../support/how-much.ts';

const [ADA, BOB] = ['token-of-ada-0123456789', 'token-of-bob-0123456789'];

interface Machine {
  server: HttpServerProcess;
  /** Ends the server at once, as a crash does, and starts another. */
  crash(): Promise<void>;
  spawn(
    key: string,
    more?: { token?: string; task?: string; signal?: AbortSignal; accept?: string },
  ): Promise<Response>;
  tasks(): Promise<number>;
  /** Their ids and what each of them is to give. */
  ids(): Promise<[id: string, output: string][]>;
  /** Calls anything else with a key. */
  call(operation: string, key: string, input: object): Promise<Response>;
  /** As if the server had been killed just before it could keep the answers of all calls. */
  forget(): Promise<void>;
}

async function machine(): Promise<Machine> {
  const cwd = await temporaryFolder(onTestFinished);
  const home = await temporaryFolder(onTestFinished);
  await mkdir(join(cwd, '_bmad'));
  const file = join(home, 'tokens');
  await writeFile(file, `${ADA} # ada\n${BOB} # bob\n`, { mode: 0o600 });
  const start = (): Promise<HttpServerProcess> =>
    startHttpServer({ cwd, home, env: { BMAD_HTTP_TOKEN_FILE: file } });
  let server = await start();
  onTestFinished(async () => void (await server.stop()));
  const headers = (token: string): Record<string, string> => ({
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
  });
  async function ids(): Promise<[id: string, output: string][]> {
    const answer = await fetch(`${new URL(server.url).origin}/api/task_list`, { headers: headers(ADA) });
    const { data } = (await answer.json()) as { data: { tasks: { task_id: string; output_key: string }[] } };
    return data.tasks.map(({ task_id: id, output_key: output }) => [id, output]);
  }
  return {
    get server() {
      return server;
    },
    async crash() {
      server.child.kill('SIGKILL');
      await server.ended;
      server = await start();
    },
    spawn: (key, { token = ADA, task = 'Compare queues', signal, accept = '*/*' } = {}) =>
      fetch(`${new URL(server.url).origin}/api/spawn_subagent_task`, {
        method: 'POST',
        headers: { ...headers(token), accept, 'idempotency-key': key },
        body: JSON.stringify({ agent: 'dev', task, output_key: `${key}-${token.slice(-20)}` }),
        ...(signal === undefined ? {} : { signal }),
      }),
    call: (operation, key, input) =>
      fetch(`${new URL(server.url).origin}/api/${operation}`, {
        method: 'POST',
        headers: { ...headers(ADA), 'idempotency-key': key },
        body: JSON.stringify(input),
      }),
    async forget() {
      const folder = join(home, '.local/state/bmad-mcp-server/again');
      for (const name of (await readdir(folder)).filter((each) => each.endsWith('.json'))) {
        const { at, input } = JSON.parse(await readFile(join(folder, name), 'utf8')) as Record<
          string,
          string
        >;
        await writeFile(join(folder, name), JSON.stringify({ at, input }));
      }
    },
    tasks: async () => (await ids()).length,
    ids,
  };
}

const idOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { data: { task: { task_id: string } } }).data.task.task_id;

describe('a call with an idempotency key', () => {
  it('is made once over the API, also by a server that was started anew', async () => {
    const here = await machine();
    const first = await here.spawn('a');
    expect([first.status, first.headers.get('idempotency-replayed')]).toEqual([200, null]);
    const id = await idOf(first);
    const second = await here.spawn('a');
    expect([second.status, second.headers.get('idempotency-replayed'), await idOf(second)]).toEqual([
      200,
      'true',
      id,
    ]);
    expect(await (await here.spawn('a', { accept: 'text/markdown' })).text()).toContain(id);
    await here.crash();
    expect(await idOf(await here.spawn('a'))).toBe(id);
    const other = await here.spawn('a', { task: 'Something else' });
    expect(other.status).toBe(422);
    expect(await other.json()).toMatchObject({
      title: 'Unprocessable content',
      code: 'conflict',
      retry: false,
    });
    expect(await idOf(await here.spawn('a', { token: BOB }))).not.toBe(id);
    expect((await here.spawn('no key')).status).toBe(400);
    expect(await here.tasks()).toBe(2);
  });

  it('is made once by many who come together, and by one who leaves and comes back', async () => {
    const here = await machine();
    const answers = await Promise.all(Array.from({ length: 12 }, () => here.spawn('b')));
    expect(
      [...new Set(answers.map(({ status }) => status))].every((status) => [200, 409].includes(status)),
    ).toBe(true);
    const good = answers.filter(({ status }) => status === 200);
    expect(new Set(await Promise.all(good.map(idOf))).size).toBe(1);
    const leaving = new AbortController();
    const left = here.spawn('c', { signal: leaving.signal }).catch(() => undefined);
    setImmediate(() => leaving.abort());
    await left;
    let back = await here.spawn('c');
    while (back.status === 409) back = await here.spawn('c');
    expect(back.status).toBe(200);
    expect(await here.tasks()).toBe(2);
  });

  it('is made at most once by a server that is killed, and the next one says what is known', async () => {
    const here = await machine();
    for (const key of some(1, ['d', 'e', 'f'])) {
      const cut = here.spawn(key).catch(() => undefined);
      await new Promise((resolve) => setImmediate(resolve));
      await here.crash();
      await cut;
      const before = await here.tasks();
      const answer = await here.spawn(key);
      if (answer.status === 200) continue;
      const made = (await here.ids()).find(([, output]) => output.startsWith(`${key}-`))?.[0];
      expect(await answer.json()).toMatchObject({
        status: 409,
        detail: expect.stringContaining('was cut before its end'),
        hint: expect.stringContaining(
          made === undefined ? 'It has written no task' : `It has written task/${made}.`,
        ),
      });
      expect(await here.tasks()).toBe(before);
    }
    expect(await here.tasks()).toBeLessThanOrEqual(3);
  });

  it('that was cut says on its next try what it has written', async () => {
    const here = await machine();
    const id = await idOf(await here.spawn('g'));
    const learned = { agent: 'dev', text: 'Queues are files' };
    const memory = { type: 'agent-learnings', ...learned };
    expect((await here.call('remember_structured', 'h', memory)).status).toBe(200);
    expect((await here.call('run_open', 'i', { workflow: 'prd' })).status).toBe(200);
    expect((await here.call('log_handoff', 'nothing', { from: 'dev' })).status).toBe(400);
    await here.forget();
    await here.crash();
    const hint = async (answer: Promise<Response>): Promise<string> => {
      const { detail, hint: text } = (await (await answer).json()) as Record<string, string>;
      expect(detail).toContain('was cut before its end');
      return text ?? '';
    };
    expect(await hint(here.spawn('g'))).toContain(`It has written task/${id}.`);
    expect(await hint(here.call('remember_structured', 'h', memory))).toMatch(
      /It has written memory\/[\w/-]+\./,
    );
    expect(await hint(here.call('run_open', 'i', { workflow: 'prd' }))).toMatch(
      /It has written run\/main\/[\w-]+\./,
    );
    // Of what somebody else has written with the same key, nothing is said.
    const other = await idOf(await here.spawn('g', { token: BOB }));
    expect(await hint(here.spawn('g'))).not.toContain(other);
    expect(await here.tasks()).toBe(2);
  });

  it.each(some(1, ERAS))('is made once over MCP by $name', async ({ mode }) => {
    const { server, tasks } = await machine();
    const client = await connectOver(server.url, mode, ADA);
    const ask = async (task: string): Promise<string> =>
      textsOf(
        await client.callTool({
          name: 'spawn_subagent_task',
          arguments: { agent: 'dev', task, output_key: 'out' },
          _meta: { 'bmad/idempotencyKey': 'mcp' },
        }),
      ).join('\n');
    const first = await ask('Compare queues');
    expect(await ask('Compare queues')).toBe(first);
    expect(await ask('Something else')).toContain('This idempotency key was used for another call.');
    await client.close();
    expect(await tasks()).toBe(1);
  });
});
