import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { GRIMOIRE_FILES, NEW_MUSEUM } from '../../../tests/support/kit-trees.ts';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { CATEGORIES } from '../../model/memory.ts';
import { checkFailures, getFailureMuseum, logFailure } from './failures.ts';
import { spawnSubagentTask, taskShow } from '../tasks/tasks.ts';

const GIVEN = {
  title: 'Story closed with red tests',
  category: 'CC-FAIL',
  severity: 'critical',
  agent: 'dev',
  root_cause: 'haste',
  rule: 'No done without a pass',
};

describe('log_failure', () => {
  it('says everything that is wrong at once', async () => {
    const session = await memorySession(onTestFinished, { files: {} });
    const { message } = await session.fail(logFailure, { severity: 'high', status: 'done', colour: 'red' });
    expect(message).toBe(
      `log_failure: "title" is missing. "category" is missing: one of ${CATEGORIES.join(', ')}. ` +
        '"severity" must be one of critical, important, micro, not "high". ' +
        '"status" must be one of open, resolved, wontfix, not "done". There is no argument "colour".',
    );
    const other = await session.fail(logFailure, { title: 'Red', category: 'BAD', severity: 'high' });
    expect(other.message).toContain('"category" must be one of CC-FAIL');
    expect(other.message).toContain('"severity" must be one of');
  });

  it('writes into the museum, where it is found again by all', async () => {
    const session = await memorySession(onTestFinished, {
      files: { '_bmad/_memory/failure-museum.md': NEW_MUSEUM },
    });
    expect((await session.ok(logFailure, GIVEN)).data).toMatchObject({
      outcome: 'created',
      files: ['_bmad/_memory/failure-museum.md'],
    });
    expect((await session.ok(logFailure, GIVEN)).data['outcome']).toBe('unchanged');
    expect((await session.ok(getFailureMuseum)).data).toMatchObject({
      total: 1,
      failures: [{ severity: 'critical', agents: ['dev'], root_cause: 'haste' }],
      rules: [{ rule: 'No done without a pass' }],
    });
    expect((await session.recall('red tests', { type: 'failures' }))[0]?.sources).toEqual([
      expect.stringContaining('failure-museum.md:'),
    ]);
  });

  it('numbers it in the log of the other family, and traces it', async () => {
    const session = await memorySession(onTestFinished, { files: GRIMOIRE_FILES });
    expect((await session.ok(logFailure, GIVEN)).data).toMatchObject({
      id: 'FM-003',
      files: [
        '_grimoire/_memory/failure-museum.jsonl',
        '_grimoire/_memory/failure-museum.md',
        '_grimoire-output/Grimoire_TRACE.md',
      ],
    });
    const trace = await readFile(join(session.folder, '_grimoire-output/Grimoire_TRACE.md'), 'utf8');
    expect(trace).toContain('[dev] [ERROR] CC-FAIL — Story closed with red tests');
  });

  it('remembers it where there is no museum to write into', async () => {
    const session = await memorySession(onTestFinished, { files: {} });
    const { data } = await session.ok(logFailure, GIVEN);
    expect(data).toMatchObject({ files: [], notes: [expect.stringContaining('Kept as a memory')] });
    const { data: museum, answer } = await session.ok(getFailureMuseum);
    expect(museum).toMatchObject({
      failures: [
        {
          title: GIVEN.title,
          category: 'CC-FAIL',
          severity: 'critical',
          agents: ['dev'],
          root_cause: 'haste',
          rule: GIVEN.rule,
        },
      ],
      rules: [{ rule: GIVEN.rule }],
    });
    expect(answer.body.match(/CC-FAIL/g)).toHaveLength(2);
    expect(answer.body).toContain('Rules to keep');
    const { answer: check } = await session.ok(checkFailures, {
      change: 'Close the story with red tests',
    });
    expect(check.body).toContain(`Rules to keep:\n- ${GIVEN.rule}`);
  });

  it.each([
    ['without a museum', {}],
    ['with a French one', { '_bmad/_memory/failure-museum.md': NEW_MUSEUM }],
  ])('is plain in the brief of a task, %s', async (_what, files) => {
    const session = await memorySession(onTestFinished, { files });
    await session.ok(logFailure, GIVEN);
    const task = { agent: 'dev', task: 'Close the story with red tests', output_key: 'story' };
    const { data } = await session.ok(spawnSubagentTask, task);
    const { task_id: id } = data['task'] as { task_id: string };
    const { answer } = await session.ok(taskShow, { task_id: id });
    expect(answer.body).toContain(`- ${GIVEN.title}. Rule: ${GIVEN.rule}\n`);
    expect(answer.body).not.toMatch(/Règle|Cause racine|Root cause/);
  });

  it('masks secrets and refuses private keys', async () => {
    const session = await memorySession(onTestFinished, {
      files: { '_bmad/_memory/failure-museum.md': NEW_MUSEUM },
    });
    const token = `ghp_${'a1B2'.repeat(9)}`;
    await session.ok(logFailure, { ...GIVEN, what_happened: `leaked ${token}` });
    expect(await readFile(join(session.folder, '_bmad/_memory/failure-museum.md'), 'utf8')).not.toContain(
      token,
    );
    const key =
      '-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7\n-----END PRIVATE KEY-----';
    expect((await session.fail(logFailure, { ...GIVEN, fix: key })).code).toBe('invalid_input');
  });

  it('wants a category that it knows', async () => {
    const session = await memorySession(onTestFinished);
    expect(await session.fail(logFailure, { ...GIVEN, category: 'CC-FALI' })).toMatchObject({
      code: 'invalid_input',
      suggestions: ['CC-FAIL'],
    });
  });
});
