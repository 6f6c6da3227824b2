import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn } from '../support/app.ts';
import { conversation } from '../support/conversation.ts';
import { progressProject } from '../support/progress-project.ts';
import { plain, TEXT, v4Story } from '../support/progress-trees/pieces.ts';

const { folder: project, fill } = await progressProject(afterAll, '4.44.3');
const within = await contextIn(project, { env: { PATH: process.env['PATH'] } });
const init = (): unknown => execFileSync('git', ['init', '--quiet'], { cwd: project });
const EPIC = '# Epic 1: Base\n\n## Story 1.1: Setup\n\n## Story 1.2: Login\n\nText.\n';
const ask = async (args: Record<string, unknown>): Promise<string> => (await conversation(within)(args)).body;
const draft = { agent: 'sm', message: '*draft' };

describe('a story of version 4 that is to be drafted', () => {
  it('has the file to write, where texts and template disagree about its name', async () => {
    await fill({ 'docs/prd/epic-1-base.md': EPIC, 'docs/stories/1.1.setup.md': v4Story('1.1', 'Done') });
    for (const args of [draft, { workflow: 'create-next-story' }, { command: '*draft 1.2' }])
      expect(await ask(args)).toContain(
        '- story: 1.2, planned in docs/prd/epic-1-base.md:5; write it to docs/stories/1.2.story.md',
      );
  });

  it('is said to be none where all planned are done, before anything else is asked for', async () => {
    await fill({
      'docs/prd/epic-1-base.md': EPIC,
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Done'),
      'docs/stories/1.2.login.md': v4Story('1.2', 'Done'),
    });
    const none =
      '**No story is left to draft: all 2 that are planned are done.** There is no further epic to begin: new scope goes into the PRD first.';
    for (const args of [draft, { workflow: 'create-next-story' }, { command: '*draft' }]) {
      const body = await ask(args);
      expect(body).toContain(none);
      expect(body.indexOf(none)).toBeLessThan(body.indexOf('## Inputs that exist'));
    }
  });

  it('is said to be none where all planned have been written', async () => {
    await fill({
      'docs/prd/epic-1-base.md': EPIC,
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Done'),
      'docs/stories/1.2.login.md': v4Story('1.2', 'Approved'),
    });
    expect(await ask(draft)).toContain(
      '**No story is left to draft: all 2 that are planned have files, 1 is done.** What comes next: bmad {operation:"next"}.',
    );
    await fill({ 'docs/prd.md': plain });
    expect(await ask(draft)).not.toContain('No story is left');
  });
});

describe('the pieces of an architecture of version 4', () => {
  const shards = ['coding-standards', 'index', 'source-tree', 'tech-stack', 'test-strategy-and-standards'];
  const files = {
    'docs/prd/epic-1-base.md': EPIC,
    'docs/architecture.md': plain,
    ...Object.fromEntries(shards.map((name) => [`docs/architecture/${name}.md`, plain])),
    'docs/stories/1.1.setup.md': v4Story('1.1', 'Ready for Review'),
  };

  it('are named where a text names them, with those that it calls otherwise', async () => {
    await fill(files);
    const body = await ask({ workflow: 'create-next-story' });
    // It is loaded.
    expect(body).not.toContain('bmad://.bmad-core/core-config.yaml');
    expect(body).toContain(
      '- architecture: docs/architecture.md; docs/architecture/, in 5 files: coding-standards, source-tree, tech-stack, test-strategy-and-standards\n',
    );
    expect(body).toContain(
      '- called otherwise here: unified-project-structure.md is docs/architecture/source-tree.md, testing-strategy.md is docs/architecture/test-strategy-and-standards.md\n',
    );
  });

  it('are named for a text that looks for them in another folder, unless they are there', async () => {
    await fill(files);
    const line =
      '- called otherwise here: docs/coding-standards.md is docs/architecture/coding-standards.md, ';
    expect(await ask({ workflow: 'review-story' })).toContain(
      `${line}docs/unified-project-structure.md is docs/architecture/source-tree.md, docs/testing-strategy.md is docs/architecture/test-strategy-and-standards.md\n`,
    );
    await fill({ ...files, 'docs/coding-standards.md': plain });
    expect(await ask({ workflow: 'review-story' })).not.toContain('docs/coding-standards.md is');
    // A text that names none of them gets none.
    expect(await ask({ workflow: 'correct-course' })).toContain('docs/architecture/, in 5 files\n');
    // Nor one that names a single one, as an example.
    expect(await ask({ workflow: 'shard-doc' })).toContain('docs/architecture/, in 5 files\n');
  });
});

describe('the status of a story of version 4', () => {
  const files = {
    'docs/prd/epic-1-base.md': EPIC,
    'docs/stories/1.1.setup.md': v4Story('1.1', 'Ready for Review'),
  };

  it('is said where one text leaves it open and another uses other words', async () => {
    await fill(files);
    expect(await ask({ agent: 'po', message: '*validate-story-draft' })).toContain(
      '- After GO, set Status to Approved in the story file.',
    );
    const word = '`Ready for Review` counts as `Review`.';
    expect(await ask({ agent: 'qa', message: '*review 1.1' })).toContain(word);
    const dev = await ask({ agent: 'dev', message: '*develop-story' });
    expect(dev).toContain(word);
    expect(dev).toContain(
      '- Its checklist: bmad {operation:"execute", workflow:"story-dod-checklist", message:"<the story>"}.',
    );
    expect(await ask({ agent: 'dev', message: '*explain' })).not.toContain('Its checklist');
  });

  it('reminds of what is not committed, at a review and before the next story', async () => {
    await fill(files);
    expect(await ask({ agent: 'qa', message: '*review 1.1' })).not.toContain('not committed');
    init();
    expect(await ask({ agent: 'qa', message: '*review 1.1' })).toMatch(
      /Once it is Done, commit: \d+ paths are not committed yet \(`[^`]+`\)\./,
    );
    expect(await ask(draft)).not.toContain('not committed');
    await fill({ ...files, 'docs/stories/1.1.setup.md': v4Story('1.1', 'Done') });
    init();
    expect(await ask(draft)).toMatch(
      /\d+ paths are not committed yet \(`[^`]+`\): commit what is Done before the next story\./,
    );
  });
});

describe('the inputs of a document of version 4', () => {
  it('are those that it is written from, which its template names and the task does not', async () => {
    await fill({
      'docs/brief.md': plain,
      'docs/prd.md': plain,
      'docs/architecture.md': plain,
    });
    const inputs = async (args: Record<string, unknown>): Promise<string[]> =>
      [...(await ask(args)).matchAll(/^- (brief|prd|architecture): /gm)].map(([, kind = '']) => kind);
    expect(await inputs({ agent: 'pm', message: '*create-prd' })).toEqual(['brief', 'prd']);
    for (const kind of ['backend', 'full-stack', 'front-end'])
      expect(await inputs({ agent: 'architect', message: `*create-${kind}-architecture` }), kind).toEqual([
        'brief',
        'prd',
        'architecture',
      ]);
    expect(await inputs({ agent: 'analyst', message: '*create-project-brief' })).toEqual(['brief']);
    expect(await inputs({ workflow: 'pm-checklist' })).toEqual(['brief', 'prd', 'architecture']);
  });
});

describe('a workflow of version 4 that is a sequence of agents', () => {
  const start = { workflow: 'greenfield-service', message: 'A command line tool' };

  it('says which step is reached, and what has another name here', async () => {
    await fill({
      'docs/brief.md': plain,
      'docs/prd.md': plain,
      'docs/architecture.md': plain,
      'docs/prd/epic-1-base.md': EPIC,
      'docs/architecture/tech-stack.md': plain,
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Approved'),
    });
    const body = await ask(start);
    expect(body).toMatch(
      /^> By the project's files, this sequence has come to: Build story 1\.1 \([^)]+\)\. Continue there: bmad \{operation:"execute", agent:"dev", message:"\*develop-story docs\/stories\/1\.1\.setup\.md"\}\./,
    );
    expect(body).toContain(
      ' Called otherwise here: `*create` of sm is `*draft`; `project-brief.md` is docs/brief.md; the story-review task is `*validate-story-draft` of po.\n',
    );
  });

  it('says that nothing is left where all is done, and nothing of steps where none was taken', async () => {
    await fill({
      'docs/prd.md': plain,
      'docs/architecture.md': plain,
      'docs/prd/epic-1-base.md': `# Epic 1: Base\n\n## Story 1.1: Setup\n\n${TEXT}`,
      'docs/architecture/tech-stack.md': plain,
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Done'),
    });
    expect(await ask(start)).toMatch(
      /^> Everything that is planned is done: no step of this sequence is left\./,
    );
    expect(await ask({ ...start, workflow: 'brownfield-service' })).toMatch(
      /^> Everything that was planned before is done: this sequence begins with what is new\./,
    );
    await fill({});
    expect(await ask(start)).toMatch(
      /^> Called otherwise here: `\*create` of sm is `\*draft`; the story-review/,
    );
  });
});
