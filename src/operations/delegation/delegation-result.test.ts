import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testCall } from '../../../tests/support/app.ts';
import { desk, done, failed, given } from '../../../tests/support/delegation-desk.ts';
import { execute } from '../execute.ts';
import { runFinish, runOpen } from '../runs/run-operations.ts';
import { taskShow } from '../tasks/tasks.ts';
import { getWorkflowStatus } from '../runs/workflow-status.ts';

describe('what is kept of a delegation', () => {
  it('is a completed task with the whole answer, once', async () => {
    const own = await desk();
    const answer = 'A '.repeat(5_000).trim();
    const { data, note } = done(
      await own.call({ output_key: 'queue_choice', context: '@project-context.yaml' }, answer),
    );
    const kept = data['kept'] as Record<string, string>;
    expect(kept).toMatchObject({ output_key: 'queue_choice' });
    expect(kept['file']).toMatch(/^_bmad-output\/\.tasks\/task-.*\.result\.md$/);
    expect(note).toContain('Kept as queue_choice');
    const shown = await execute(taskShow, { task_id: kept['task_id'], brief: true }, own.context, testCall());
    if (!shown.ok) throw shown.error;
    expect(shown.data['task']).toMatchObject({
      status: 'completed',
      agent: 'architect',
      output_key: 'queue_choice',
    });
    expect(await readFile(join(own.folder, kept['file'] ?? ''), 'utf8')).toBe(answer);
    expect(shown.data['brief']).toMatch(/^# Brief for Winston[^]*## Role/);
    expect(shown.data['brief']).not.toContain('Nothing has been executed');
    const again = failed(await own.call({ output_key: 'queue_choice' }, 'Something else'));
    expect(again).toMatchObject({ code: 'conflict', hint: 'Choose another key.' });
    expect(again.steps).toMatchObject([{ operation: 'task_show' }]);
    // The key is looked at before anybody is asked.
    expect(own.asked).toHaveLength(1);
  });

  it('is one of two answers that come at once for the same key; the other is given and not kept', async () => {
    const own = await desk();
    const both = await Promise.all(
      ['SQS.', 'Kafka.'].map(async (text) => done(await own.call({ output_key: 'queue_choice' }, text))),
    );
    expect(both.map(({ data }) => data['answer'])).toEqual(['SQS.', 'Kafka.']);
    expect(both.filter(({ data }) => data['kept'] !== undefined)).toHaveLength(1);
    expect(both.filter(({ note }) => note.includes('The answer could not be kept: '))).toHaveLength(1);
    const names = await readdir(join(own.folder, '_bmad-output/.tasks'));
    expect(names.filter((name) => name.endsWith('.result.md'))).toHaveLength(1);
  });

  it('is told to the run it belongs to, and the same answer again changes nothing', async () => {
    const own = await desk();
    await mkdir(join(own.folder, '_bmad-output'), { recursive: true });
    await writeFile(join(own.folder, '_bmad-output/BMAD_TRACE.md'), '# Trace\n');
    const opened = await execute(runOpen, { workflow: 'bmad-prd' }, own.context, testCall());
    if (!opened.ok) throw opened.error;
    const run = opened.data['run'] as { run_id: string; folder: string };
    const { data } = done(await own.call({ run_id: run.run_id }, { text: 'SQS.', model: 'm-1' }));
    const kept = data['kept'] as Record<string, string>;
    expect(kept['output_key']).toMatch(/^from_architect_[\da-f]{8}$/);
    const status = await execute(getWorkflowStatus, { run_id: run.run_id }, own.context, testCall());
    if (!status.ok) throw status.error;
    const variables = {
      event: 'handoff',
      agent: 'architect',
      task: given.task,
      by: 'model of the client (m-1)',
    };
    const text = JSON.stringify(status.data);
    expect(text).toContain(kept['file']);
    const state = JSON.parse(await readFile(join(own.folder, run.folder, 'state.json'), 'utf8')) as {
      session_variables: Record<string, unknown>;
    };
    expect(state.session_variables[kept['output_key'] ?? '']).toEqual({
      ...variables,
      task_id: kept['task_id'],
    });
    expect(await readFile(join(own.folder, '_bmad-output/BMAD_TRACE.md'), 'utf8')).toMatch(
      /HANDOFF→architect/,
    );
    const journal = async (): Promise<unknown> => {
      const asked = { run_id: run.run_id, journal: true };
      const told = await execute(getWorkflowStatus, asked, own.context, testCall());
      return told.ok ? told.data['journal'] : told.error;
    };
    const before = await journal();
    const twice = done(await own.call({ run_id: run.run_id }, { text: 'SQS.', model: 'm-1' }));
    expect(twice.data['kept']).toEqual(kept);
    expect(await journal()).toEqual(before);
    // Another answer to the same task is another result.
    const other = done(await own.call({ run_id: run.run_id }, 'Kafka.'));
    expect((other.data['kept'] as Record<string, string>)['task_id']).not.toBe(kept['task_id']);
  });

  it.each(['paused', 'failed'] as const)('leaves a run that is %s as it is', async (status) => {
    const own = await desk();
    const opened = await execute(runOpen, { workflow: 'bmad-prd' }, own.context, testCall());
    if (!opened.ok) throw opened.error;
    const { run_id, folder } = opened.data['run'] as { run_id: string; folder: string };
    const stopped = await execute(runFinish, { run_id, status }, own.context, testCall());
    if (!stopped.ok) throw stopped.error;
    done(await own.call({ run_id }, 'SQS.'));
    const state = JSON.parse(await readFile(join(own.folder, folder, 'state.json'), 'utf8')) as object;
    expect(state).toMatchObject({ status });
    expect(JSON.stringify(state)).toContain('"event":"handoff"');
    const told = await execute(getWorkflowStatus, { run_id }, own.context, testCall());
    if (!told.ok) throw told.error;
    expect(told.data['run']).toMatchObject({ status });
  });

  it('asks nobody for a run that is not there', async () => {
    const shop = await desk();
    expect(failed(await shop.call({ run_id: 'nope' }, 'x'))).toMatchObject({ code: 'not_found' });
    expect(shop.asked).toEqual([]);
  });

  it('does not happen where the server only reads; asking does', async () => {
    const reading = await desk({}, { flags: { readOnly: 'true' } });
    expect(failed(await reading.call({ output_key: 'x' }, 'y')).code).toBe('forbidden');
    expect(done(await reading.call({}, 'SQS.')).data['executed']).toBe(true);
  });
});
