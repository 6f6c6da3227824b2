import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { spawnSubagentTask, taskShow } from './tasks.ts';

const session = await memorySession(afterAll);
const given = { agent: 'architect', task: 'Review the API of the cart', output_key: 'api_review' };
const taskOf = (data: Record<string, unknown>): Record<string, string> =>
  data['task'] as Record<string, string>;

describe('spawn_subagent_task', () => {
  it('keeps a task with a brief that stands by itself', async () => {
    await session.remember('decisions', 'architect', 'The API of the cart is versioned in its path');
    await writeFile(join(session.folder, 'api.md'), '# API\n\nPOST /cart\n');
    const { data, answer } = await session.ok(spawnSubagentTask, {
      ...given,
      context_files: ['api.md', './api.md'],
    });
    const task = taskOf(data);
    expect(task).toMatchObject({ status: 'queued', output_key: 'api_review', attempts: 0 });
    expect(task['agent']).toMatch(/architect/);
    expect(data['kept_in']).toBe('_bmad-output/.tasks');
    expect(answer.body).toContain(task['task_id']);
    const shown = await session.ok(taskShow, { task_id: task['task_id'] });
    const brief = shown.data['brief'] as string;
    expect(brief).toContain('Review the API of the cart');
    expect(brief).toContain('POST /cart');
    expect(brief.match(/POST \/cart/g)).toHaveLength(1);
    expect(brief).toContain('The API of the cart is versioned in its path');
    expect(brief).toContain('Winston');
  });

  it('refuses a second task for the same key, and says which has it', async () => {
    const error = await session.fail(spawnSubagentTask, given);
    expect(error.code).toBe('conflict');
    expect(error.message).toMatch(/"api_review" is already used by task-.* \(queued\)/);
  });

  it('cuts long files to the budget and says what is missing', async () => {
    await writeFile(join(session.folder, 'long.md'), 'a line of the long file\n'.repeat(10_000));
    const { data } = await session.ok(spawnSubagentTask, {
      ...given,
      output_key: 'long',
      context_files: ['long.md', 'api.md'],
    });
    expect(data['brief_bytes']).toBeLessThan(61_000);
    expect(data['left_out']).toEqual([expect.stringMatching(/^long\.md: \d+ of 240000 bytes$/)]);
    const { data: shown } = await session.ok(taskShow, { task_id: taskOf(data)['task_id'] });
    expect(shown['brief']).toContain('POST /cart');
  });

  it.each([
    ['an agent nobody knows', { agent: 'nobody-at-all' }, 'not_found', /nobody-at-all/],
    ['a file outside', { context_files: ['../secret.txt'] }, 'forbidden', /context_files/],
    ['a file that is not there', { context_files: ['no.md'] }, 'not_found', /context_files/],
    ['a key with a slash', { output_key: '../x' }, 'invalid_input', /output_key/],
    ['a run that is not there', { run_id: 'nope' }, 'not_found', /There is no run "nope"/],
    ['the key of every object', { output_key: '__proto__' }, 'invalid_input', /output_key/],
    ['a file of secrets', { context_files: ['.env.local'] }, 'forbidden', /contains secrets/],
    ['a key that nothing has', { depends_on: ['nothing_there'] }, 'invalid_input', /nothing_there/],
  ])('refuses %s', async (_what, change, code, message) => {
    const error = await session.fail(spawnSubagentTask, { ...given, output_key: 'fresh', ...change });
    expect(error.code).toBe(code);
    expect(error.message).toMatch(message);
    expect(error.hint).toBeTruthy();
  });

  it('refuses a file behind a link that leads out, and one that is no text', async () => {
    await symlink('/etc/hostname', join(session.folder, 'link.md'));
    await writeFile(join(session.folder, 'blob.bin'), Buffer.from([0x50, 0, 1, 2]));
    const outside = await session.fail(spawnSubagentTask, {
      ...given,
      output_key: 'a',
      context_files: ['link.md'],
    });
    expect(outside.code).toBe('forbidden');
    const binary = await session.fail(spawnSubagentTask, {
      ...given,
      output_key: 'a',
      context_files: ['blob.bin'],
    });
    expect(binary.message).toContain('is not a text file');
  });

  it('refuses a link to a file of secrets', async () => {
    await writeFile(join(session.folder, '.env'), 'TOKEN=abc\n');
    await symlink('.env', join(session.folder, 'settings.txt'));
    const context_files = ['settings.txt'];
    const error = await session.fail(spawnSubagentTask, { ...given, output_key: 'a', context_files });
    expect(error.code).toBe('forbidden');
    expect(error.message).toContain('contains secrets');
  });

  it('names the agents there are when one is unknown', async () => {
    const error = await session.fail(spawnSubagentTask, { ...given, agent: 'nobody-at-all' });
    expect(error.hint).toMatch(/^Agents: .*architect/);
  });

  it('writes no secret, neither of the task nor of a file', async () => {
    const key = `sk-ant-api03-${'a1B2'.repeat(12)}`;
    await writeFile(join(session.folder, 'notes.md'), `Use ${key} here.\n`);
    await session.ok(spawnSubagentTask, {
      ...given,
      task: `Call the API with ${key}`,
      output_key: 'secretive',
      context_files: ['notes.md'],
    });
    const folder = join(session.folder, '_bmad-output/.tasks');
    for (const name of await readdir(folder))
      expect(await readFile(join(folder, name), 'utf8')).not.toContain(key);
  });

  it('leaves a project without BMAD clean', async () => {
    const bare = await memorySession(afterAll, { files: {} });
    const { data } = await bare.ok(spawnSubagentTask, given);
    expect(data['kept_in']).toMatch(/^the user's state folder/);
    // The home folder of the tests, where the user's state is.
    expect(await readdir(bare.folder)).toEqual([]);
  });

  it('writes nothing through an output folder that is a link to elsewhere', async () => {
    const linked = await memorySession(afterAll);
    const elsewhere = await memorySession(afterAll, { files: {} });
    await symlink(elsewhere.folder, join(linked.folder, '_bmad-output'));
    const { data } = await linked.ok(spawnSubagentTask, given);
    expect(data['kept_in']).toMatch(/^the user's state folder/);
    expect(await readdir(elsewhere.folder)).toEqual([]);
  });

  it('goes where the configuration of the project says', async () => {
    const own = await memorySession(afterAll);
    await mkdir(join(own.folder, '_bmad/core'), { recursive: true });
    await writeFile(join(own.folder, '_bmad/core/config.yaml'), 'output_folder: "{project-root}/made/out"\n');
    const { data } = await own.ok(spawnSubagentTask, given);
    expect(data['kept_in']).toBe('made/out/.tasks');
    const name = `${taskOf(data)['task_id']}.brief.md`;
    expect(await readFile(join(own.folder, 'made/out/.tasks', name), 'utf8')).toContain(given.task);
  });
});
