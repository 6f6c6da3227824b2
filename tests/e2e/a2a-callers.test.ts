import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { a2aPlace, type RpcAnswer } from '../support/a2a.ts';

const ADA = 'the-token-of-ada-12345 a2a';
const EVE = 'the-token-of-eve-12345 a2a';
const TEAM = 'the-token-of-the-team-1 read';

const place = await a2aPlace(afterAll);
let post: Awaited<ReturnType<typeof place.serve>>['post'];

beforeAll(async () => {
  const file = join(place.home, 'tokens');
  await writeFile(file, [ADA, EVE, TEAM, ''].join('\n'), { mode: 0o600 });
  ({ post } = await place.serve('--http-token-file', file));
});

async function ask(who: string, method: string, params: unknown): Promise<RpcAnswer> {
  const [token] = who.split(' ');
  const body = { jsonrpc: '2.0', id: 1, method, params };
  return (await post(body, { authorization: `Bearer ${token}` })).body;
}

let count = 0;

/** Sends a message; the task, or why there is none. */
async function send(
  who: string,
  more: { messageId?: string; contextId?: string } = {},
): Promise<{ id: string; contextId: string } | string> {
  count += 1;
  const message = {
    messageId: `m${count}`,
    role: 'ROLE_USER',
    parts: [{ text: 'Review the API of the cart' }],
    metadata: { skill: 'architect' },
    ...more,
  };
  const answer = await ask(who, 'SendMessage', { message, configuration: { returnImmediately: true } });
  return answer.error?.message ?? (answer.result?.['task'] as { id: string; contextId: string });
}

async function sent(who: string, more = {}): Promise<{ id: string; contextId: string }> {
  const task = await send(who, more);
  if (typeof task === 'string') throw new Error(task);
  return task;
}

describe('a task that came over Agent2Agent', () => {
  it('belongs to the caller who sent it (S-11)', async () => {
    const { id, contextId } = await sent(ADA, { messageId: 'mine' });
    const notFound = { error: { code: -32_001 } };
    expect(await ask(EVE, 'CancelTask', { id })).toMatchObject(notFound);
    expect(await ask(EVE, 'GetTask', { id })).toMatchObject(notFound);
    expect(await ask(EVE, 'SubscribeToTask', { id })).toMatchObject(notFound);
    expect(await ask(EVE, 'tasks/cancel', { id })).toMatchObject(notFound);
    expect((await ask(EVE, 'ListTasks', { contextId })).result).toMatchObject({ totalSize: 0 });
    // The same words in the same conversation are another task when somebody else says them.
    const copied = await sent(EVE, { messageId: 'mine', contextId });
    expect(copied.id).not.toBe(id);
    const own = await ask(ADA, 'GetTask', { id });
    expect(own.result).toMatchObject({ id, status: { state: 'TASK_STATE_AUTH_REQUIRED' } });
    expect((await ask(ADA, 'ListTasks', {})).result).toMatchObject({ totalSize: 1, tasks: [{ id }] });
    // A client of the project sees all of them.
    expect((await ask(TEAM, 'ListTasks', {})).result).toMatchObject({ totalSize: 2 });
    expect((await ask(ADA, 'CancelTask', { id })).result).toMatchObject({
      status: { state: 'TASK_STATE_CANCELED' },
    });
  });

  it('takes no place that others need (S-11)', async () => {
    let refusal: string | undefined;
    let taken = 0;
    while (refusal === undefined && taken < 150) {
      const answered = await send(EVE);
      if (typeof answered === 'string') refusal = answered;
      else taken += 1;
    }
    expect(refusal).toContain('of your tasks are already open');
    // With the one from before, half of the hundred places.
    expect(taken).toBe(49);
    await sent(ADA);
    await sent(ADA);
  });
});
