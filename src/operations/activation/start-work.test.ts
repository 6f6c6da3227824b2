import { afterAll, describe, expect, it } from 'vitest';
import { installOf } from '../../../tests/support/installs.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { activate, bmadWorkflow, executeTask, executeWorkflow } from './activate.ts';

const session = await openSession(afterAll, { flags: { answerBytes: '10000' } });
const alpha = await openSession(afterAll, {
  flags: { project: await installOf('6.0.0-alpha.7'), discovery: 'local' },
});

describe('execute_workflow', () => {
  it('gives what execute gives, with the parameters as the message', async () => {
    const started = await session.ok(executeWorkflow, {
      workflow_name: 'prd',
      params: { topic: 'bicycles', depth: 3, areas: ['shop'] },
    });
    const message = 'topic: bicycles\ndepth: 3\nareas: ["shop"]';
    const same = await session.ok(activate, { name: 'prd', message });
    expect(started.data).toEqual(same.data);
    expect(started.answer).toEqual({ ...same.answer, steps: [expect.anything()] });
    const cursor: unknown = same.data['next'];
    const why = 'Read on before going past this part';
    expect(started.answer.steps).toEqual([
      { operation: 'execute_workflow', args: { workflow_name: 'prd', cursor }, why },
    ]);
    expect(same.answer.steps).toEqual([{ operation: 'execute', args: { name: 'prd', cursor }, why }]);
    expect(started.answer.body).toContain(message);
  });

  it('works without parameters, and with none in them', async () => {
    const plain = await session.ok(executeWorkflow, { workflow_name: 'bmm/prd' });
    expect(plain.answer.body).not.toContain('Message from the user');
    expect(await session.ok(executeWorkflow, { workflow_name: 'bmm/prd', params: {} })).toEqual(plain);
  });

  it.each([
    ['a text', 'x'],
    ['a list', [1]],
    ['a number', 3],
  ])('refuses parameters that are %s', async (_what, params) => {
    const error = await session.fail(executeWorkflow, { workflow_name: 'prd', params });
    expect(error.code).toBe('invalid_input');
    expect(error.message).toMatch(/^execute_workflow: "params" is not valid: .*Expected an object/);
  });

  it('names the argument the caller knows', async () => {
    const long = await session.fail(executeWorkflow, {
      workflow_name: 'prd',
      params: { text: 'x'.repeat(300_000) },
    });
    expect(long.message).toMatch(
      /^execute_workflow: "params" must have at most 200000 characters, not \d+\.$/,
    );
    const wrong = await session.fail(executeWorkflow, { workflow_name: 'prdd' });
    expect([wrong.code, wrong.suggestions[0]]).toEqual(['not_found', 'prd']);
    expect((await session.fail(executeWorkflow, { workflow_name: '' })).message).toContain('"workflow_name"');
  });

  it('does not start an agent', async () => {
    expect((await session.fail(executeWorkflow, { workflow_name: 'architect' })).text).toContain(
      'It is the name of an agent',
    );
  });
});

describe('execute_task', () => {
  it('starts a task', async () => {
    const { data } = await alpha.ok(executeTask, { task_name: 'index-docs', params: { folder: 'docs' } });
    expect(data).toMatchObject({ kind: 'task', name: 'core/index-docs' });
    expect(data['text']).toContain('folder: docs');
  });

  it('starts the skill a task has become', async () => {
    expect((await session.ok(executeTask, { task_name: 'help' })).data).toMatchObject({ kind: 'skill' });
  });

  it('says that there is no such task', async () => {
    expect((await alpha.fail(executeTask, { task_name: 'nothing-like-it' })).message).toBe(
      'There is no task "nothing-like-it".',
    );
  });
});

describe('bmad-workflow', () => {
  it('takes a context in free words', async () => {
    const { data } = await session.ok(bmadWorkflow, { workflow: '*prd', context: 'A shop for bicycles' });
    expect(data['text']).toContain('A shop for bicycles');
    expect(data['name']).toBe('bmm/bmad-prd');
  });

  it('goes on with a cursor', async () => {
    const { next } = (await session.ok(bmadWorkflow, { workflow: 'prd' })).data;
    const { data } = await session.ok(bmadWorkflow, { workflow: 'prd', cursor: next });
    expect(data['next']).toBeUndefined();
    expect((await session.fail(bmadWorkflow, { workflow: 'build', cursor: next })).code).toBe(
      'invalid_input',
    );
  });
});
