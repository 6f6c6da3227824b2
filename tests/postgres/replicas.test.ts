import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Database } from '../../src/base/postgres/postgres.ts';
import { migrate } from '../../src/base/postgres/schema.ts';
import { serverFile, temporaryFolder } from '../support/app.ts';
import { type HttpServerProcess, startHttpServer } from '../support/http-server.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { nginxProgram, startBalancer } from '../support/nginx.ts';
import { isDeep } from '../support/how-much.ts';
import { Cluster, postgresPrograms } from '../support/postgres.ts';

const programs = postgresPrograms();
const nginx = nginxProgram();
const TOKEN = 'a-token-for-these-tests';
/** After so long a client asks again, whatever became of its call. */
const PATIENCE_MS = 30_000;

describe.skipIf(programs === undefined || nginx === undefined)(
  'two servers on two machines with one database',
  () => {
    let cluster: Cluster;
    beforeAll(async () => void (cluster = await Cluster.start(programs ?? '')));
    afterAll(() => cluster.remove());

    async function team(): Promise<{
      url: string;
      servers: [HttpServerProcess, HttpServerProcess];
      name: string;
    }> {
      const name = await cluster.database();
      const database = await Database.at(cluster.address(name));
      await migrate(database);
      await database.close();
      const start = async (): Promise<HttpServerProcess> => {
        const [cwd, home] = [await temporaryFolder(onTestFinished), await temporaryFolder(onTestFinished)];
        await writeFiles(cwd, KIT_FILES);
        const env = {
          BMAD_HTTP_SECRET: 'the same for all replicas of a test',
          BMAD_HTTP_TOKEN: TOKEN,
          BMAD_STATE: cluster.address(name),
        };
        return startHttpServer({ cwd, home, args: [serverFile, '--http', '--port', '0'], env });
      };
      const servers: [HttpServerProcess, HttpServerProcess] = [await start(), await start()];
      onTestFinished(async () => void (await Promise.all(servers.map((server) => server.stop()))));
      const [one, other] = servers.map(({ url }) => new URL(url).host) as [string, string];
      const { url } = await startBalancer(nginx ?? '', [one, other], onTestFinished);
      return { url, servers, name };
    }

    const post = (url: string, operation: string, key: string, body: object): Promise<Response> =>
      fetch(`${url}/api/${operation}`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${TOKEN}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });

    /** How many lines and tasks there are: a line may be about a name as well. */
    const made = (name: string) =>
      cluster.ask(
        name,
        `select count(distinct rev)::int as lines, count(distinct about)::int as tasks
        from bmad.line, unnest(entity) as about where about like 'task/%'`,
      );

    const order = (key: string) => ({ agent: 'dev', task: `Do the thing called ${key}`, output_key: key });

    it('make a call once, whichever of them is asked again', async () => {
      const { servers, name } = await team();
      const [one, other] = servers.map(({ url }) => new URL(url).origin) as [string, string];
      const answers = [
        await post(one, 'spawn_subagent_task', 'k1', order('a')),
        await post(other, 'spawn_subagent_task', 'k1', order('a')),
      ];
      const [first, second] = (await Promise.all(answers.map((each) => each.json()))) as { data: unknown }[];
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
      expect(second?.data).toEqual(first?.data);
      expect((await post(other, 'spawn_subagent_task', 'k1', order('b'))).status).toBe(422);
      expect(await made(name)).toEqual([{ lines: 1, tasks: 1 }]);
    });

    it('say of a call that was cut only what there is', async () => {
      const { servers, name } = await team();
      const [one, other] = servers.map(({ url }) => new URL(url).origin) as [string, string];
      const answer = await post(one, 'spawn_subagent_task', 'k1', order('a'));
      const { data } = (await answer.json()) as { data: { task: { task_id: string } } };
      const task = `task/${data.task.task_id}`;
      const hint = async (): Promise<unknown> => {
        const { hint: text } = (await (
          await post(other, 'spawn_subagent_task', 'k1', order('a'))
        ).json()) as {
          hint?: string;
        };
        return text;
      };
      await cluster.ask(name, `update bmad.request set answer = answer::jsonb - 'answer'`);
      expect(await hint()).toContain(`It has written ${task}.`);
      // As after the agreement to it was written, and before the task was.
      await cluster.ask(name, `delete from bmad.line where '${task}' = any(entity)`);
      const left = await cluster.ask(name, `select 1 from bmad.line where 'decision/${task}' = any(entity)`);
      expect(left).toHaveLength(1);
      expect(await hint()).toContain('It has written no task');
    });

    it.runIf(isDeep)(
      'fail no call of clients that try again while one of them is killed, and make none twice',
      async () => {
        const { url, servers, name } = await team();
        const calls = 60;
        let answered = 0;
        const call = async (what: string): Promise<void> => {
          const until = Date.now() + 3 * PATIENCE_MS;
          for (let key = what; ;) {
            const response = await post(url, 'spawn_subagent_task', key, order(what)).catch(() => undefined);
            if (response?.ok === true) return void (answered += 1);
            const { status = 0 } = response ?? {};
            const text = (await response?.text().catch(() => '')) ?? '';
            if (![0, 409, 429, 502, 503, 504].includes(status)) throw new Error(`${what}: ${status} ${text}`);
            // Of a call that was cut the answer says what it has written; where that is nothing, it is another call.
            if (text.includes('It has written task/')) return void (answered += 1);
            if (text.includes('It has written no task')) key = `${key}+`;
            if (Date.now() > until) throw new Error(`${what} has no answer yet: ${status} ${text}`);
            await delay(100);
          }
        };
        const work = async (at: number): Promise<void> => {
          for (let count = 0; count < calls / 6; count += 1) await call(`c${at}-${count}`);
        };
        const all = Promise.all(Array.from({ length: 6 }, (_, at) => work(at)));
        await expect.poll(() => answered, { timeout: 60_000 }).toBeGreaterThan(10);
        servers[0].child.kill('SIGKILL');
        await servers[0].ended;
        await all;
        expect(answered).toBe(calls);
        expect(await made(name)).toEqual([{ lines: calls, tasks: calls }]);
      },
    );
  },
);
