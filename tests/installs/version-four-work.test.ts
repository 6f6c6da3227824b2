import { afterAll, describe, expect, it } from 'vitest';
import { contextIn } from '../support/app.ts';
import { conversation } from '../support/conversation.ts';
import { progressProject } from '../support/progress-project.ts';
import { plain, v4Story } from '../support/progress-trees/pieces.ts';

const { folder: project, fill } = await progressProject(afterAll, '4.44.3');
const within = await contextIn(project);

const TEXT = '----- BEGIN';

describe('a task of version 4 that is started again', () => {
  const story = { 'docs/prd.md': plain, 'docs/stories/1.1.setup.md': v4Story('1.1', 'Ready for Review') };

  it('comes in a short form beside its agent too, whichever brought it first', async () => {
    await fill(story);
    const ask = conversation(within);
    const first = await ask({ command: '*review 1.1' });
    expect(first.body).toContain('# review-story');
    // It is longer than one answer.
    expect((await ask({ command: '*review 1.1b' })).body).toContain('# review-story');
    for (let cursor = first.result.next; cursor !== undefined;)
      cursor = (await ask({ workflow: 'review-story', cursor })).result.next;
    const again = await ask({ command: '*review 1.2' });
    expect(again.body).toContain('## *review');
    expect(again.body).not.toContain('# review-story');
    expect(again.body).not.toContain(TEXT);
    expect(again.said).toContain('Short form');
    expect(again.said).toContain('workflow:"bmad-core/review-story", detail:"full"');
    expect(again.said).toContain('agent:"bmad-core/qa", detail:"full"');
    expect((await ask({ workflow: 'review-story', message: 'once more' })).body).not.toContain(TEXT);
  });

  it('tells its inputs again only where they are not the same', async () => {
    await fill(story);
    const ask = conversation(within);
    const inputs = '## Inputs that exist';
    expect((await ask({ workflow: 'brownfield-create-epic', message: 'One' })).body).toContain(inputs);
    expect((await ask({ workflow: 'brownfield-create-epic', message: 'Two' })).body).toContain(
      'The inputs are the same as before.',
    );
    await fill({ ...story, 'docs/architecture.md': plain });
    const changed = await ask({ workflow: 'brownfield-create-epic', message: 'Three' });
    expect(changed.body).toContain(inputs);
    expect(changed.body).toContain('docs/architecture.md');
    expect(changed.body).not.toContain(TEXT);
  });
});
