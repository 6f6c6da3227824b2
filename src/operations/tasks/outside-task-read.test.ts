import { afterAll, describe, expect, it } from 'vitest';
import { contextIn } from '../../../tests/support/app.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { sessionIn } from '../../../tests/support/operations.ts';
import { execute } from '../execute.ts';
import { outsideTaskAdd, outsideTaskCancel, outsideTaskList, outsideTaskShow } from './outside-tasks.ts';
import { spawnSubagentTask } from './tasks.ts';
import { taskRefuse } from './task-decide.ts';
import { taskClaim, taskComplete } from './task-work.ts';

const flags = { embedder: 'none', a2aWithoutApproval: 'true' };
const session = await memorySession(afterAll, { flags });
const other = await sessionIn(session.folder, { flags });
type View = Record<string, string> & { result_bytes?: number };
const viewIn = (data: Record<string, unknown>): View => data['task'] as View;

let count = 0;
async function added(context_id: string): Promise<View> {
  count += 1;
  const asked = { agent: 'architect', text: `About ${context_id}`, message_id: `m${count}`, context_id };
  return viewIn((await session.ok(outsideTaskAdd, asked)).data);
}

describe('outside_task_show', () => {
  it('waits for a change that somebody else makes', async () => {
    const { task_id, mark: known } = await added('wait');
    const waiting = session.ok(outsideTaskShow, { task_id, known, wait_seconds: 60 });
    await other.ok(taskClaim, { task_id, worker: 'cursor' });
    expect(viewIn((await waiting).data)).toMatchObject({ status: 'running', worker: 'cursor' });
  });

  it('does not wait for what has changed already, nor longer than told', async () => {
    const { task_id, mark } = await added('no wait');
    const changed = await session.ok(outsideTaskShow, { task_id, known: 'older', wait_seconds: 60 });
    expect(viewIn(changed.data)['mark']).toBe(mark);
    const same = await session.ok(outsideTaskShow, { task_id, known: mark, wait_seconds: 1 });
    expect(viewIn(same.data)['mark']).toBe(mark);
  });

  it('stops waiting when the caller leaves', async () => {
    const { task_id, mark: known } = await added('left');
    const context = await contextIn(session.folder, { flags });
    const leave = new AbortController();
    const call = { signal: leave.signal, progress: () => undefined };
    const waiting = execute(outsideTaskShow, { task_id, known, wait_seconds: 60 }, context, call);
    leave.abort();
    expect(await waiting).toMatchObject({ ok: false, error: { code: 'cancelled' } });
  });

  it('cuts a result that no client could take in one piece, and says how long it is', async () => {
    const { task_id } = await added('long');
    const { data } = await session.ok(taskClaim, { task_id });
    const result = 'é'.repeat(600_001);
    await session.ok(taskComplete, { task_id, claim: data['claim'], result });
    const view = viewIn((await session.ok(outsideTaskShow, { task_id })).data);
    expect(view['result']).toBe('é'.repeat(500_000));
    expect(view.result_bytes).toBe(1_200_002);
  });

  it.each(['refused by a person', 'cancelled'])('does not show a result that was %s', async (how) => {
    const { task_id } = await added('unwanted');
    const { data } = await session.ok(taskClaim, { task_id });
    const handed = { task_id, claim: data['claim'], result: 'Not this', needs_verification: true };
    await session.ok(taskComplete, handed);
    const unchecked = viewIn((await session.ok(outsideTaskShow, { task_id })).data);
    expect(unchecked).toMatchObject({ status: 'needs_verification', result: 'Not this' });
    if (how === 'cancelled') await session.ok(outsideTaskCancel, { task_id });
    else await session.ok(taskRefuse, { task_id, by: 'Ada', reason: 'Wrong' });
    const view = viewIn((await session.ok(outsideTaskShow, { task_id })).data);
    expect(view['status']).toBe(how === 'cancelled' ? 'cancelled' : 'failed');
    expect(view).not.toHaveProperty('result');
    expect(view).not.toHaveProperty('result_bytes');
  });

  it.each(['task-20261115-000000-000000', '../x', 'task-'])('knows no %s', async (task_id) => {
    expect(['not_found', 'invalid_input']).toContain((await session.fail(outsideTaskShow, { task_id })).code);
  });
});

describe('outside_task_list', () => {
  it('has what outsiders asked for and nothing else, filtered and in pages', async () => {
    await session.ok(spawnSubagentTask, { agent: 'architect', task: 'Ours', output_key: 'ours' });
    const [first, second] = [await added('list'), await added('list')];
    await session.ok(outsideTaskCancel, { task_id: first['task_id'] });
    const list = async (input: object): Promise<string[]> =>
      ((await session.ok(outsideTaskList, input)).data['tasks'] as View[]).map(
        ({ task_id }) => task_id as string,
      );
    expect(await list({ context_id: 'list' })).toEqual([first['task_id'], second['task_id']]);
    expect(await list({ context_id: 'list', status: ['queued'] })).toEqual([second['task_id']]);
    expect(await list({ context_id: 'list', status: ['cancelled'], refused: true })).toEqual([]);
    expect(await list({ context_id: 'list', changed_after: second['updated_at'] })).toEqual([
      first['task_id'],
    ]);
    const page = await session.ok(outsideTaskList, { context_id: 'list', limit: 1 });
    expect(page.data).toMatchObject({ total: 2 });
    expect(page.answer.note).toContain('1 of 2');
    expect(await list({ context_id: 'list', limit: 1, cursor: page.data['next'] })).toEqual([
      second['task_id'],
    ]);
    expect((await list({})).length).toBe(8);
  });

  it('goes on behind what was shown, whatever has come or changed since', async () => {
    const ids: string[] = [];
    for (let one = 0; one < 5; one += 1) ids.push((await added('pages'))['task_id'] as string);
    const page = async (cursor?: unknown): Promise<{ ids: string[]; next?: unknown; total: unknown }> => {
      const input = { context_id: 'pages', limit: 2, cursor };
      const { tasks, next, total } = (await session.ok(outsideTaskList, input)).data;
      return { ids: (tasks as View[]).map(({ task_id }) => task_id as string), next, total };
    };
    const first = await page();
    expect(first.ids).toEqual([ids[4], ids[3]]);
    await added('pages');
    await session.ok(outsideTaskCancel, { task_id: ids[4] });
    const second = await page(first.next);
    expect(second).toMatchObject({ ids: [ids[2], ids[1]], total: 6 });
    await session.ok(taskClaim, { task_id: ids[1] });
    const third = await page(second.next);
    expect(third.ids).toEqual([ids[0]]);
    expect(third.next).toBeUndefined();
    for (const cursor of ['l0-3', `${String(first.next)}/x`, 'x'.repeat(200)])
      expect((await session.fail(outsideTaskList, { context_id: 'pages', cursor })).code).toBe(
        'invalid_input',
      );
    const foreign = { context_id: 'other', cursor: first.next };
    expect((await session.fail(outsideTaskList, foreign)).code).toBe('invalid_input');
    const bigger = { context_id: 'pages', limit: 50, cursor: first.next };
    expect(((await session.ok(outsideTaskList, bigger)).data['tasks'] as View[]).length).toBe(2);
  });
});
