import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { operations } from '../index.ts';
import { manageProject } from './action-tool.ts';
import { spawnSubagentTask } from '../tasks/tasks.ts';

const session = await memorySession(afterAll);

async function helpText(args: object = {}): Promise<string> {
  return (await session.ok(manageProject, { action: 'help', args })).answer.body;
}

describe('manage_project', () => {
  it('teaches its actions and their arguments', async () => {
    const all = await helpText();
    expect(all).toContain('\n- log_handoff {from, to, summary, inbox?}: ');
    const names = [...all.matchAll(/^- (\w+)(?: \{[\w, ?]+\})?: \S/gm)].map(([, name]) => name);
    expect(names.length).toBeGreaterThan(10);
    for (const name of names) {
      const text = await helpText({ action: name });
      expect(text).toMatch(new RegExp(`^${name}: `));
      expect(text).toContain('- project (string, optional)');
    }
    expect(await helpText({ action: 'task_complete' })).toMatch(/^- claim \(string, required\): /m);
    expect(await helpText({ action: 'task_merge' })).toContain('concat | structured | first-wins');
  });

  it('offers each companion that is a command, and no decision of a person', async () => {
    const text = await helpText();
    const names = new Set([...text.matchAll(/^- (\w+)/gm)].map(([, name]) => name));
    const persons = operations.filter(({ name }) => /approve|refuse/.test(name)).map(({ name }) => name);
    expect(persons).toEqual(expect.arrayContaining(['task_approve', 'task_refuse']));
    expect(persons.filter((name) => names.has(name))).toEqual([]);
  });

  it('carries out an action as the command would', async () => {
    await session.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key: 'x' });
    const { data, answer } = await session.ok(manageProject, {
      action: 'task_claim',
      args: { worker: 'me' },
    });
    const { task, claim } = data['result'] as { task: { task_id: string }; claim: string };
    expect(answer.steps).toContainEqual(
      expect.objectContaining({ operation: 'task_complete', open: ['result'] }),
    );
    const args = { task_id: task.task_id, claim, result: 'done' };
    const done = await session.ok(manageProject, { action: 'task_complete', args });
    expect(done.data['result']).toMatchObject({ task: { status: 'completed' } });
  });

  it.each([
    ['at the top level', { action: 'task_list', status: 'all', limit: 5 }],
    ['as text', { action: 'task_list', args: '{"status":"all","limit":"5"}' }],
    ['in both places', { action: 'task_list', status: 'all', args: { limit: 5 } }],
  ])('takes arguments that were put %s', async (_where, input) => {
    const { data } = await session.ok(manageProject, input);
    expect(data['result']).toMatchObject({ counts: { completed: 1 } });
  });

  it('knows actions by the words of their commands, and tells tools from actions', async () => {
    await session.ok(manageProject, { action: 'contract_receipts' });
    const error = await session.fail(manageProject, { action: 'spawn_subagent_task' });
    expect(error.message).toContain('is a tool, not an action');
    const near = await session.fail(manageProject, { action: 'contract_verfy' });
    expect(near.suggestions).toContain('contract_verify');
  });

  it('reads where nothing may be written, and refuses what writes', async () => {
    const reading = await memorySession(afterAll, { flags: { embedder: 'none', readOnly: 'true' } });
    await reading.ok(manageProject, { action: 'task_list' });
    const error = await reading.fail(manageProject, {
      action: 'log_decision',
      text: 'We use SQLite',
      agent: 'dev',
    });
    expect(error.code).toBe('forbidden');
  });

  it('says of what only a person may do that it is, and how they do it', async () => {
    const error = await session.fail(manageProject, { action: 'task_approve', args: {} });
    expect(error.code).toBe('forbidden');
    expect(error.steps).toMatchObject([{ operation: 'task_approve', open: ['task_id'] }]);
  });

  it.each([
    ['task_clam', {}, /no action "task_clam"/, /task_claim/],
    ['task_complete', {}, /task_complete: "task_id" is missing/, /Arguments: task_id, claim/],
    ['task_claim', { wrong: 1 }, /no argument "wrong"/, /Arguments/],
  ])('refuses %s with %j in words that help', async (action, args, message, hint) => {
    const error = await session.fail(manageProject, { action, args });
    expect(error.code).toBe('invalid_input');
    expect(error.message).toMatch(message);
    expect(`${error.suggestions.join()} ${error.hint}`).toMatch(hint);
  });
});
