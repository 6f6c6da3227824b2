import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { spawnSubagentTask, taskMerge } from './tasks.ts';
import { taskClaim, taskComplete } from './task-work.ts';

async function done(results: Readonly<Record<string, string>>): Promise<MemorySession> {
  const session = await memorySession(afterAll);
  for (const [output_key, result] of Object.entries(results)) {
    await session.ok(spawnSubagentTask, { agent: 'dev', task: `Do ${output_key}`, output_key });
    const { data } = await session.ok(taskClaim, {});
    const { task_id } = data['task'] as { task_id: string };
    await session.ok(taskComplete, { task_id, claim: data['claim'], result });
  }
  return session;
}

async function merged(
  session: MemorySession,
  input: object,
): Promise<{ text: string; data: Record<string, unknown> }> {
  const { data } = await session.ok(taskMerge, input);
  return { data, text: await readFile(join(session.folder, data['file'] as string), 'utf8') };
}

describe('task_merge', () => {
  it('puts all results one after the other, and never over an earlier file', async () => {
    const session = await done({ a: 'Alpha\n', b: 'Beta' });
    await session.ok(spawnSubagentTask, { agent: 'dev', task: 'later', output_key: 'c' });
    const first = await merged(session, { strategy: 'concat', merged_output_key: 'review' });
    expect(first.text).toMatch(/^# review\n\n## a \(.*\)\n\nAlpha\n\n## b \(.*\)\n\nBeta\n$/);
    expect(first.data['missing']).toEqual([{ output_key: 'c', status: 'queued', reason: 'no result yet' }]);
    expect(first.data['file']).toMatch(/^_bmad-output\/\.tasks\/merged\/review-\d{4}-\d\d-\d\d\.md$/);
    const second = await merged(session, { strategy: 'concat', merged_output_key: 'review' });
    expect(second.data['file']).toMatch(/review-.*-2\.md$/);
    expect(second.text).toBe(first.text);
  });

  it('makes one object of JSON results', async () => {
    const session = await done({ a: '{"ok":true}', b: '```json\n[1,2]\n```', c: 'plain words' });
    const { text } = await merged(session, { strategy: 'structured' });
    expect(JSON.parse(text)).toEqual({ a: { ok: true }, b: [1, 2], c: 'plain words' });
  });

  it('takes the first that was finished', async () => {
    const session = await done({ a: 'first one', b: 'second one' });
    const { text, data } = await merged(session, { strategy: 'first-wins' });
    expect(text).toBe('first one\n');
    expect(data['used']).toEqual(['a']);
  });

  it('counts votes by field or first line, and says when there is no majority', async () => {
    const votes = await done({
      a: '{"verdict":"Ship"}',
      b: '**Verdict**: ship.\n\nbecause',
      c: '# Wait\n\nnot yet',
    });
    expect((await merged(votes, { strategy: 'vote' })).text).toContain('**Ship** (2 of 3)');
    const tie = await merged(votes, { strategy: 'vote', output_keys: ['a', 'c'] });
    expect(tie.text).toContain('No majority.');
  });

  it('summarizes in the words of the results', async () => {
    const long = `# Report\n\nThe API is sound.\n\n${Array.from({ length: 20 }, (_, n) => `- point ${n}`).join('\n')}\n`;
    const { text } = await merged(await done({ a: long }), { strategy: 'summarize' });
    expect(text).toContain('The API is sound.');
    expect(text).toContain('- point 11\n- … 8 more in the result');
  });

  it('has nothing to merge where nothing is done', async () => {
    const session = await memorySession(afterAll);
    const error = await session.fail(taskMerge, { output_keys: ['ghost'] });
    expect(error.code).toBe('not_found');
    expect(error.hint).toContain('ghost (unknown)');
  });
});
