import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { getProjectContext } from '../project/get-project-context.ts';
import { logFailure } from '../project/log-failure.ts';
import { logLearning } from '../memory/log-memory.ts';
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

  it.each([
    ['_bmad/_memory/config.yaml', 'communication_language: English\n', 'English'],
    [
      '_bmad/core/config.yaml',
      'document_output_language: english\ncommunication_language: French\n',
      'English',
    ],
    ['_bmad/config.toml', '[core]\ndocument_output_language = "Italian"\n', 'English'],
    ['project-context.yaml', 'user:\n  language: "English"\n', 'English'],
    ['project-context.yaml', 'user:\n  language: "Français"\n', 'French'],
    ['_bmad/_memory/config.yaml', 'communication_language: "{{user_language}}"\n', 'French'],
  ])('makes new files in the language that %s says: %j', async (path, text, language) => {
    const session = await memorySession(onTestFinished, {
      files: { '_bmad/_memory/decisions-log.md': '', [path]: text },
    });
    await session.ok(saveSession, { agent: 'dev', work: ['cart'] });
    await session.ok(logFailure, { title: 'Red tests', category: 'CC-FAIL', rule: 'Run them' });
    await session.ok(logLearning, { text: 'Run the migrations first', agent: 'dev' });
    const memory = join(session.folder, '_bmad/_memory');
    const written = await Promise.all(
      ['session-state.md', 'failure-museum.md', 'agent-learnings/dev.md'].map((name) =>
        readFile(join(memory, name), 'utf8'),
      ),
    );
    const words = {
      English: ['# Session State', '**Rule** : Run them', '> What this agent has learnt.'],
      French: ['# État de Session', '**Règle instaurée** : Run them', '> Apprentissages'],
    };
    const [state, museum, learnings] = words[language as 'English'];
    expect(written[0]).toContain(state);
    expect(written[1]).toContain(museum);
    expect(written[2]).toContain(learnings);
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
