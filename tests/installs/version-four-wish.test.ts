import { afterAll, expect, it } from 'vitest';
import { contextIn } from '../support/app.ts';
import { conversation } from '../support/conversation.ts';
import { writeFiles } from '../support/folders.ts';
import { progressProject } from '../support/progress-project.ts';
import { plain, v4Story } from '../support/progress-trees/pieces.ts';

const { folder } = await progressProject(afterAll, '4.44.3');

it('puts the one story of a small wish first in version 4, not another command of the same agent', async () => {
  const ask = conversation(await contextIn(folder));
  const message = 'I want a small command line tool that keeps a reading list';
  const { body } = await ask({ operation: 'next', message });
  expect(body).toContain(
    '1. Build something small right away: what is wanted is small: one story is written and then built, without other documents',
  );
  expect(body).toMatch(/\n {3}.*agent:"pm", message:"\*create-story/);
  const plainly = (await ask({ operation: 'next', detail: 'full' })).body;
  expect(plainly).toMatch(
    /\d\. Build something small right away[^\n]*: for one small change: one story is written/,
  );
});

it('does so too once the stories of the plan are done', async () => {
  const done = await progressProject(afterAll, '4.44.3');
  await writeFiles(done.folder, {
    'docs/prd.md': `${plain}\n## Epic 1 Base\n\n### Story 1.1 Setup\n`,
    'docs/architecture.md': plain,
    'docs/stories/1.1.setup.md': v4Story('1.1', 'Done'),
  });
  const { body } = await conversation(await contextIn(done.folder))({
    operation: 'next',
    message: 'a small option --json',
  });
  expect(body).toContain(
    '1. Build what is wanted now: it is small, and no story of the plan: one story is written and then built',
  );
  expect(body).toContain('agent:"pm", message:"*create-story a small option --json"');
});
