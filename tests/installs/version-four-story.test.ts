import { afterAll, describe, expect, it } from 'vitest';
import { contextIn } from '../support/app.ts';
import { conversation } from '../support/conversation.ts';
import { progressProject } from '../support/progress-project.ts';
import { plain, v4Story } from '../support/progress-trees/pieces.ts';

const { folder: project, fill } = await progressProject(afterAll, '4.44.3');
const within = await contextIn(project, { env: { PATH: process.env['PATH'] } });
const EPIC = '# Epic 1: Base\n\n## Story 1.1: Setup\n\n## Story 1.2: Login\n\nText.\n';
const ask = async (args: Record<string, unknown>): Promise<string> => (await conversation(within)(args)).body;

describe('work of version 4', () => {
  it('has the file to write for a story that is named, where texts and template disagree about its name', async () => {
    await fill({ 'docs/prd/epic-1-base.md': EPIC, 'docs/stories/1.1.setup.md': v4Story('1.1', 'Done') });
    for (const args of [
      { agent: 'sm', message: '*draft 1.2' },
      { workflow: 'create-next-story', message: 'story 1.2' },
      { command: '*draft 1.2' },
    ])
      expect(await ask(args)).toContain(
        '- story: 1.2, planned in docs/prd/epic-1-base.md:5; write it to docs/stories/1.2.story.md',
      );
    expect(await ask({ agent: 'sm', message: '*draft' })).not.toContain('- story: ');
  });

  it('has the documents there are, whatever its text asks for', async () => {
    await fill({ 'docs/brief.md': plain, 'docs/prd.md': plain, 'docs/architecture.md': plain });
    const documents = async (args: Record<string, unknown>): Promise<string[]> =>
      [...(await ask(args)).matchAll(/^- (brief|prd|architecture): /gm)].map(([, kind = '']) => kind);
    for (const args of [
      { agent: 'pm', message: '*create-prd' },
      { agent: 'architect', message: '*create-backend-architecture' },
      { workflow: 'pm-checklist' },
      { workflow: 'greenfield-service', message: 'A command line tool' },
    ])
      expect(await documents(args), JSON.stringify(args)).toEqual(['brief', 'prd', 'architecture']);
  });
});
