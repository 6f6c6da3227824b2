import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../tests/support/memory-session.ts';
import { getProjectContext } from './get-project-context.ts';
import { saveSession } from './save-session.ts';

describe('save_session', () => {
  it('saves where the session left off, under the name of the agent’s file, with a copy', async () => {
    const session = await memorySession(onTestFinished);
    await session.ok(saveSession, { agent: 'Stack', work: ['cart', 'tests'], files: ['a.ts'], next: 'CI' });
    expect((await session.ok(getProjectContext)).data['session']).toMatchObject({
      agent: 'fullstack-dev',
      work: ['cart', 'tests'],
      files: ['a.ts'],
      next: 'CI',
    });
    const memory = join(session.folder, '_bmad/_memory');
    expect(await readFile(join(memory, 'session-state.md'), 'utf8')).toContain(
      '# État de Session — Corner Shop',
    );
    expect(await readdir(join(memory, 'session-summaries'))).toEqual([
      expect.stringMatching(/^\d{8}-\d{4}-fullstack-dev\.md$/),
    ]);
  });

  it('is kept with the user where the project has no memory folder; it needs a plain name', async () => {
    const session = await memorySession(onTestFinished, { files: {} });
    const { data } = await session.ok(saveSession, { agent: 'dev', next: 'CI' });
    expect(data['notes']).toEqual([expect.stringContaining('no memory folder')]);
    expect(await readdir(session.folder)).not.toContain('_bmad');
    expect((await session.ok(getProjectContext)).data['session']).toMatchObject({ agent: 'dev', next: 'CI' });
    expect((await session.fail(saveSession, { agent: '../dev' })).code).toBe('invalid_input');
  });
});
