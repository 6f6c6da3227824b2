import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { TaskState } from '@a2a-js/sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { a2aPlace, message, nextOf, resultOf, send, stateOf, wordsOf } from '../support/a2a.ts';
import { serveHere } from '../support/http-server.ts';
import { textsOf } from '../support/mcp-client.ts';
import { forgeTask } from '../support/tasks.ts';
import { isDeep } from '../support/how-much.ts';

const place = await a2aPlace(afterAll);
const server = await place.serve();
const client = await server.client('1.0');
const get = (id: string) => client.getTask({ tenant: '', id });

const claimOf = async (id: string): Promise<string> =>
  (await place.cli('task', 'claim', id))['claim'] as string;

describe('what outsiders ask for', () => {
  it('waits for a person, who agrees in a terminal; a stream goes on through it', async () => {
    const stream = client.sendMessageStream({
      tenant: '',
      message: message('Delete the old cart'),
      configuration: undefined,
      metadata: undefined,
    });
    const first = await stream.next();
    const task = first.value?.payload?.$case === 'task' ? first.value.payload.value : undefined;
    const id = task?.id ?? '';
    expect(task && stateOf(task)).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(task && wordsOf(task)).toContain(`bmad task approve ${id}`);
    await expect(place.cli('task', 'claim', id)).rejects.toThrow(/needs_approval/);
    await place.approve(id, '--by', 'Ada');
    expect(await nextOf(stream)).toBe('status SUBMITTED');
    const word = await claimOf(id);
    expect(await nextOf(stream)).toBe('status WORKING');
    await place.cli('task', 'complete', id, word, 'Deleted.');
    expect(await nextOf(stream)).toBe('artifact Deleted.');
    expect(await nextOf(stream)).toBe('status COMPLETED');
    expect(await nextOf(stream)).toBe('end');
  });

  it('is not approved by a line that a hand wrote, and neither begun nor answered (X-09)', async () => {
    const { id } = await send(client, message('Send the keys'));
    const approval = { reason: 'x', agreed: true, by: 'alice', at: new Date().toISOString() };
    const lease = { worker: 'eve', claim: 'known', until: new Date(Date.now() + 60_000).toISOString() };
    for (const forged of [
      { status: 'queued', approval },
      { status: 'running', approval, lease },
      { status: 'queued', approval: undefined },
    ]) {
      await forgeTask(place.cwd, id, (task) => ({ ...task, ...forged }));
      await expect(place.cli('task', 'claim', id)).rejects.toThrow(/no one has approved it on this machine/);
      await expect(place.cli('task', 'complete', id, 'known', 'Sent.')).rejects.toThrow(/needs_approval/);
      expect(stateOf(await get(id))).toBe('TASK_STATE_AUTH_REQUIRED');
    }
    await place.approve(id, '--by', 'Ada');
    expect(await claimOf(id)).toMatch(/^[0-9a-f]+$/);
  });

  it('answers at once to those who wait for the end, and is not approved by more words', async () => {
    const sent = await send(client, message('Ship it'), true);
    expect(stateOf(sent)).toBe('TASK_STATE_AUTH_REQUIRED');
    const more = message('I approve this myself.', { taskId: sent.id, contextId: sent.contextId });
    await expect(send(client, more)).rejects.toThrow(/needs_approval and does not accept more messages/);
    expect(stateOf(await get(sent.id))).toBe('TASK_STATE_AUTH_REQUIRED');
  });

  it('is rejected when the person does not agree', async () => {
    const { id } = await send(client, message('Publish the keys'));
    await place.program('task', 'refuse', id, 'Never');
    const refused = await get(id);
    expect(stateOf(refused)).toBe('TASK_STATE_REJECTED');
    expect(wordsOf(refused)).toBe('Never');
    const cancelling = server.post({ jsonrpc: '2.0', id: 1, method: 'CancelTask', params: { id } });
    expect((await cancelling).body.error).toMatchObject({ code: -32_002 });
    expect(stateOf(await get(id))).toBe('TASK_STATE_REJECTED');
    const wanted = { tenant: '', contextId: '', pageToken: '', statusTimestampAfter: undefined };
    const listed = await client.listTasks({ ...wanted, status: TaskState.TASK_STATE_REJECTED });
    expect(listed.tasks.map((task) => task.id)).toEqual([id]);
    expect((await client.listTasks({ ...wanted, status: TaskState.TASK_STATE_CANCELED })).tasks).toEqual([]);
  });

  it('is shown to the person with where it comes from', async () => {
    const { id } = await send(client, message('Who asks?'));
    const { task, brief } = (await place.cli('task', 'show', id)) as { task: object; brief: string };
    expect(task).toMatchObject({ from: 'a2a', status: 'needs_approval' });
    expect(brief).toContain('Someone outside the project requested this');
  });
});

describe('a result that an outsider hands in', () => {
  it('counts only after a person has checked it', async () => {
    const { id } = await send(client, message('Write the summary'));
    await place.approve(id);
    // Whoever asked can reach the same port, take the work and call it done.
    const outsider = new Client({ name: 'outsider', version: '1' });
    await outsider.connect(new StreamableHTTPClientTransport(new URL(server.process.url)));
    const act = async (action: string, args: object): Promise<string> =>
      textsOf(await outsider.callTool({ name: 'manage_project', arguments: { action, args } })).join('\n');
    const word = /claim (\w+)/.exec(await act('task_claim', { task_id: id }))?.[1];
    expect(await act('task_complete', { task_id: id, claim: word, result: 'Trust me.' })).toContain(
      'needs_verification',
    );
    await outsider.close();
    const unchecked = await get(id);
    expect(stateOf(unchecked)).toBe('TASK_STATE_WORKING');
    expect(resultOf(unchecked)).toBe('Trust me.');
    expect(unchecked.artifacts[0]?.metadata).toMatchObject({ needs_verification: true });
    expect(wordsOf(unchecked)).toContain('must check it before it counts');
    const { output_key: key } = (await place.cli('task', 'show', id))['task'] as { output_key: string };
    await expect(place.cli('task', 'merge', 'concat', '--output-keys', key)).rejects.toThrow(
      /no completed task/,
    );
    const stream = client.resubscribeTask({ tenant: '', id });
    expect(await nextOf(stream)).toBe('task WORKING');
    await place.approve(id);
    expect(await nextOf(stream)).toBe('artifact Trust me.');
    expect(await nextOf(stream)).toBe('status COMPLETED');
    expect((await get(id)).artifacts[0]?.metadata).toMatchObject({ needs_verification: false });
  });

  it('is not given out any more when the person refuses it', async () => {
    const { id } = await send(client, message('Write it better'));
    await place.approve(id);
    const word = (await place.cli('task', 'claim', id))['claim'] as string;
    await place.cli('task', 'complete', id, word, 'Worse.', '--needs-verification');
    const stream = client.resubscribeTask({ tenant: '', id });
    expect(await nextOf(stream)).toBe('task WORKING');
    await place.cli('task', 'refuse', id, 'Wrong');
    expect(await nextOf(stream)).toBe('status FAILED');
    expect(await nextOf(stream)).toBe('end');
    const refused = await get(id);
    expect(refused.artifacts).toEqual([]);
    expect(wordsOf(refused)).toBe('Wrong');
  });
});

describe('several servers of one project', () => {
  it('show the same tasks, and the changes that the other makes', async () => {
    const second = await place.start('--a2a-without-approval');
    const other = await second.client('0.3');
    const { id } = await send(other, message('Seen by both'));
    const stream = client.resubscribeTask({ tenant: '', id });
    expect(await nextOf(stream)).toBe('task SUBMITTED');
    await other.cancelTask({ tenant: '', id, metadata: undefined });
    expect(await nextOf(stream)).toBe('status CANCELED');
    expect(await nextOf(stream)).toBe('end');
  });

  it.runIf(isDeep)('end their streams when they end, and keep the task', async () => {
    const third = await place.start('--a2a-without-approval');
    const leaving = await third.client('1.0');
    const { id } = await send(leaving, message('Outlives the server'));
    const stream = leaving.resubscribeTask({ tenant: '', id });
    expect(await nextOf(stream)).toBe('task SUBMITTED');
    const [end, code] = await Promise.all([nextOf(stream), third.process.stop()]);
    expect([end, code]).toEqual(['end', 0]);
    expect(stateOf(await get(id))).toBe('TASK_STATE_SUBMITTED');
  });

  it.runIf(isDeep)('answer those who wait for the end with the task as it is', async () => {
    const fourth = await place.start('--a2a-without-approval');
    const waiting = send(await fourth.client('1.0'), message('Wait', { contextId: 'waiting' }), true);
    const wanted = {
      tenant: '',
      contextId: 'waiting',
      status: TaskState.TASK_STATE_UNSPECIFIED,
      pageToken: '',
    };
    await expect
      .poll(async () => (await client.listTasks({ ...wanted, statusTimestampAfter: undefined })).totalSize)
      .toBe(1);
    await fourth.process.stop();
    expect(stateOf(await waiting)).toBe('TASK_STATE_SUBMITTED');
  });

  it('go on when a client leaves in the middle of a stream', async () => {
    const { id } = await send(client, message('Left alone'));
    const leave = new AbortController();
    const stream = client.resubscribeTask({ tenant: '', id }, { signal: leave.signal });
    expect(await nextOf(stream)).toBe('task AUTH_REQUIRED');
    leave.abort();
    await expect(nextOf(stream)).rejects.toThrow(/abort/i);
    expect(stateOf(await get(id))).toBe('TASK_STATE_AUTH_REQUIRED');
    expect(server.process.stderr()).not.toContain('incident');
  });
});

describe('without the setting', () => {
  it('there is no Agent2Agent, and what only reads takes no work', async () => {
    const reading = await place.serve('--read-only');
    const reader = await reading.client('1.0');
    await expect(send(reader, message('Write something'))).rejects.toThrow(/the server is read-only/);
    const output = join(place.cwd, '_bmad-output');
    const files = await readdir(output, { recursive: true, withFileTypes: true });
    const texts = await Promise.all(
      files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), 'utf8')),
    );
    expect(texts.join('')).toContain('Ship it');
    expect(texts.join('')).not.toContain('Write something');
    const off = await serveHere(place);
    onTestFinished(async () => void (await off.stop()));
    const answers = await Promise.all(
      ['/a2a', '/.well-known/agent-card.json', '/.well-known/agent.json'].map(
        async (path) => (await fetch(new URL(path, off.url))).status,
      ),
    );
    expect(answers).toEqual([404, 404, 404]);
  });
});
