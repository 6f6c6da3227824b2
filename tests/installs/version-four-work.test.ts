import { afterAll, describe, expect, it } from 'vitest';
import { contextIn } from '../support/app.ts';
import { conversation } from '../support/conversation.ts';
import { progressProject } from '../support/progress-project.ts';
import { plain, v4Story } from '../support/progress-trees/pieces.ts';

const { folder: project, fill } = await progressProject(afterAll, '4.44.3');
const within = await contextIn(project);
const story = { 'docs/prd.md': plain, 'docs/stories/1.1.setup.md': v4Story('1.1', 'Ready for Review') };
const EPIC = '# Epic 1: Base\n\n## Story 1.1: Setup\n\n## Story 1.2: Login\n\nText.\n';
const TEXT = '----- BEGIN';

describe('a task of version 4 that is started again', () => {
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
    expect(again.said).toContain('workflow:"bmad-core/review-story", message:"*review 1.2", detail:"full"');
    expect(again.said).toContain('agent:"bmad-core/qa", message:"*review 1.2", detail:"full"');
    expect((await ask({ workflow: 'review-story', message: 'once more' })).body).not.toContain(TEXT);
  });

  it('comes in a short form where the loop of stories repeats its calls, with what is new', async () => {
    await fill({ ...story, 'docs/prd/epic-1-base.md': EPIC });
    const ask = conversation(within);
    const draft = { agent: 'sm', message: '*draft' };
    const first = await ask(draft);
    expect(first.body).toContain(TEXT);
    expect(first.body).toContain('- story: 1.2, planned in docs/prd/epic-1-base.md:5');
    for (let cursor = first.result.next; cursor !== undefined;)
      cursor = (await ask({ workflow: 'create-next-story', cursor })).result.next;
    await fill({
      ...story,
      'docs/prd/epic-1-base.md': `${EPIC}\n## Story 1.3: Cart\n\nText.\n`,
      'docs/stories/1.2.login.md': v4Story('1.2', 'Done'),
    });
    await ask({ operation: 'next' });
    const again = await ask(draft);
    expect(again.body).not.toContain(TEXT);
    expect(again.body).toContain('- story: 1.3, planned in docs/prd/epic-1-base.md:9');
    expect((await ask(draft)).body).toContain(TEXT);
  });

  it('names the template or checklist in its short form too: commands of one task differ in it', async () => {
    await fill(story);
    const ask = conversation(within);
    await ask({ agent: 'architect', message: '*create-full-stack-architecture' });
    const backend = await ask({ agent: 'architect', message: '*create-backend-architecture' });
    expect(backend.body).not.toContain(TEXT);
    expect(backend.body).toContain('Its templates and checklists: bmad {operation:"read"');
    expect(backend.body).toContain('templates/architecture-tmpl.yaml');
    expect(backend.said).not.toContain('workflow:"bmad-core/create-doc"');
    expect(backend.said).toContain('message:"*create-backend-architecture", detail:"full"');
    await ask({ agent: 'po', message: '*execute-checklist-po' });
    for (const [agent, message, checklist] of [
      ['po', '*execute-checklist-po once more', 'po-master-checklist'],
      ['sm', '*story-checklist', 'story-draft-checklist'],
    ])
      expect((await ask({ agent, message })).body, message).toMatch(
        new RegExp(`given earlier[^]*Its templates and checklists: .*checklists/${checklist}\\.md`),
      );
  });

  it('tells its inputs each time, as they are now', async () => {
    await fill(story);
    const ask = conversation(within);
    const inputs = '## Inputs that exist';
    expect((await ask({ workflow: 'brownfield-create-epic', message: 'One' })).body).toContain(inputs);
    const second = await ask({ workflow: 'brownfield-create-epic', message: 'Two' });
    expect(second.body).toContain(inputs);
    expect(second.body).not.toContain(TEXT);
    await fill({ ...story, 'docs/architecture.md': plain });
    const changed = await ask({ workflow: 'brownfield-create-epic', message: 'Three' });
    expect(changed.body).toContain(inputs);
    expect(changed.body).toContain('docs/architecture.md');
    expect(changed.body).not.toContain(TEXT);
  });
});

describe('a checklist of version 4', () => {
  it('is run by its name, with the documents that it checks', async () => {
    await fill(story);
    for (const args of [{ workflow: 'pm-checklist' }, { command: 'pm-checklist' }]) {
      const { body } = await conversation(within)(args);
      expect(body).toMatch(/^"pm-checklist" is a checklist: run it with the task below\. Read it first: /);
      expect(body).toContain('bmad {operation:"read", uri:"bmad://.bmad-core/checklists/pm-checklist.md"}');
      expect(body).toContain('(task bmad-core/execute-checklist)');
      expect(body).toContain('- prd: docs/prd.md');
    }
  });

  it('has the story that it is for, where it is about one', async () => {
    await fill({ ...story, 'docs/stories/1.2.login.md': v4Story('1.2', 'Approved') });
    const inputs = async (workflow: string, message: string): Promise<string | undefined> =>
      /^- story: .*$/m.exec((await conversation(within)({ workflow, message })).body)?.[0];
    expect(await inputs('story-dod-checklist', '1.1')).toBe('- story: docs/stories/1.1.setup.md (review)');
    expect(await inputs('story-draft-checklist', '1.2')).toBe(
      '- story: docs/stories/1.2.login.md (ready-for-dev)',
    );
    expect(await inputs('pm-checklist', '1.1')).toBeUndefined();
  });

  it('has the story where a command of an agent names the checklist', async () => {
    await fill({ ...story, 'docs/stories/1.2.login.md': v4Story('1.2', 'Draft') });
    const ask = conversation(within);
    const drafted = '- story: docs/stories/1.2.login.md (drafted)';
    const first = await ask({ agent: 'sm', message: '*story-checklist' });
    expect(first.body).toContain(drafted);
    expect(first.body).toContain(TEXT);
    // Its text is known by then.
    const again = await ask({ command: '*story-checklist 1.1' });
    expect(again.body).toContain('- story: docs/stories/1.1.setup.md (review)');
    expect(again.body).not.toContain(TEXT);
    expect((await ask({ agent: 'po', message: '*execute-checklist-po' })).body).not.toContain('- story: ');
  });

  it('has the documents that it is about, and none that it only seems to name', async () => {
    await fill({ ...story, 'docs/brief.md': plain, 'docs/architecture.md': plain });
    const run = async (workflow: string, message?: string): Promise<string> =>
      (await conversation(within)({ workflow, message })).body;
    const done = await run('story-dod-checklist', 'docs/stories/1.1.setup.md, all but the last section');
    expect(done).toContain('- story: docs/stories/1.1.setup.md (review)');
    // It asks for "brief comments".
    expect(done).not.toContain('- brief:');
    expect(await run('architect-checklist')).toContain('- architecture: docs/architecture.md');
  });

  it('is offered by the task that runs checklists, with the call', async () => {
    const { body } = await conversation(within)({ workflow: 'execute-checklist' });
    expect(body).toContain(
      'Checklists, each run by its name with bmad {operation:"execute", workflow:"<name>"}: architect-checklist, change-checklist, pm-checklist, po-master-checklist, story-dod-checklist, story-draft-checklist.',
    );
  });
});

describe('the inputs of work on a story of version 4', () => {
  const files = {
    'docs/prd.md': plain,
    'docs/prd/epic-1-base.md': '# Epic 1: Base\n\n## Story 1.1: Setup\n\n## Story 1.2: Login\n\nText.\n',
    'docs/prd/goals.md': plain,
    'docs/architecture.md': plain,
    'docs/architecture/tech-stack.md': plain,
    'docs/stories/1.1.setup.md': v4Story('1.1', 'Ready for Review'),
    'docs/qa/gates/1.1-setup.yml': 'schema: 1\nstory: "1.1"\ngate: CONCERNS\n',
  };
  const inputsOf = async (args: Record<string, unknown>): Promise<string[]> => {
    const { body } = await conversation(within)(args);
    const [, list = ''] = /^## Inputs that exist\n\n.*\n\n((?:- .*\n?)+)/m.exec(body) ?? [];
    return list.trim().split('\n').filter(Boolean);
  };
  const gate = '- gate: docs/qa/gates/1.1-setup.yml (CONCERNS)';

  it('are the story, its gate and the documents in pieces, and no document that the text does not ask for', async () => {
    await fill(files);
    const reviewed = '- story: docs/stories/1.1.setup.md (review)';
    expect(await inputsOf({ workflow: 'review-story' })).toEqual([reviewed, gate]);
    expect(await inputsOf({ workflow: 'qa-gate', message: '1.1' })).toEqual([reviewed, gate]);
    expect(await inputsOf({ command: '*review 1.1' })).toEqual([reviewed, gate]);
    expect(await inputsOf({ workflow: 'create-next-story' })).toEqual([
      '- story: 1.2, planned in docs/prd/epic-1-base.md:5; write it to docs/stories/1.2.story.md',
      '- prd: docs/prd.md; docs/prd/, in 2 files',
      '- architecture: docs/architecture.md; docs/architecture/, in 1 file: tech-stack',
    ]);
  });

  it('are there for a command that only its agent knows', async () => {
    await fill({
      ...files,
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Approved'),
      'docs/qa/gates/1.1-setup.yml': '',
    });
    const approved = '- story: docs/stories/1.1.setup.md (ready-for-dev)';
    expect(await inputsOf({ workflow: 'build', message: 'story 1.1' })).toEqual([approved]);
    expect(await inputsOf({ agent: 'dev', message: '*develop-story' })).toEqual([approved]);
    expect(await inputsOf({ agent: 'dev', message: 'Good morning' })).toEqual([]);
    expect(await inputsOf({ command: '*review 1.1' })).toEqual([
      approved,
      '- gate: none yet; it is written to docs/qa/gates/',
    ]);
  });

  it('come with the settings that texts and personas send to core-config.yaml for', async () => {
    const dev = (await conversation(within)({ agent: 'dev' })).body;
    // A persona has to load it before it greets anybody.
    const done = '- [Done: STEP 1, 2, 3: `.bmad-core/core-config.yaml` is loaded, ';
    expect(dev).toContain(`${done}see Values; tasks bring what they use.]`);
    expect((await conversation(within)({ agent: 'sm' })).body).toContain(`${done}tasks bring`);
    expect(dev).toContain(
      '- `{devLoadAlwaysFiles}`: docs/architecture/coding-standards.md, docs/architecture/tech-stack.md, docs/architecture/source-tree.md',
    );
    const review = (await conversation(within)({ workflow: 'review-story' })).body;
    expect(review).toContain('- `{devStoryLocation}`: docs/stories');
    expect(review).toContain('- `{qaLocation}`: docs/qa');
    expect(review).not.toContain('prdVersion}');
    // To draft a story takes `prd.*`.
    const draft = (await conversation(within)({ workflow: 'create-next-story' })).body;
    expect(draft).toContain('- `{prdShardedLocation}`: docs/prd');
    expect(draft).toContain('- `{epicFilePattern}`: epic-{n}*.md');
    expect(draft).not.toContain('slashPrefix');
  });
});

describe('a wish in plain words to an agent of version 4', () => {
  it('names the command that is for it', async () => {
    const { said } = await conversation(within)({ agent: 'pm', message: 'shard the PRD' });
    expect(said).toContain('This fits *shard-prd of its menu');
    expect(said).toContain('bmad {operation:"execute", agent:"bmad-core/pm", message:"*shard-prd"}');
  });

  it('is told which command is nearest, and how to go on where a program is missing', async () => {
    const ask = conversation(within);
    const { body, said } = await ask({ agent: 'sm', message: '*create 1.2' });
    expect(body).toContain('"*create" is unknown: no command of this agent. Nearest: *draft.');
    expect(said).toContain('agent:"bmad-core/sm", message:"*draft"');
    expect((await ask({ agent: 'sm', message: '*drft' })).body).toContain('Nearest: *draft.');
    for (const message of ['*help', '*Please* draft it'])
      expect((await ask({ agent: 'sm', message })).body).not.toContain('is unknown');
    const shards = await ask({ agent: 'pm', message: '*shard-prd docs/prd.md' });
    expect(shards.body).toContain('Do not stop, and leave core-config.yaml alone: take the Manual Method.');
    const fixes = await conversation(within)({ agent: 'dev', message: '*review-qa' });
    expect(fixes.body).toContain('Where this project has no Deno, `deps.ts` or');
  });

  it('finds what it is for first in search', async () => {
    const { body } = await conversation(within)({ operation: 'search', query: 'shard the PRD' });
    expect(body.split('\n').find((line) => line.startsWith('- '))).toContain('shard-doc');
  });
});

describe('the context of a story that has no file', () => {
  it('says so, with the call that writes it', async () => {
    await fill({
      'docs/prd/epic-1-base.md': '# Epic 1: Base\n\n## Story 1.1: Setup\n\nText.\n',
    });
    const { body } = await conversation(within)({ operation: 'context', agent: 'dev', message: 'story 1.1' });
    expect(body).toContain(
      'Story 1.1 has no file yet; it is planned in docs/prd/epic-1-base.md:3. Write it first: bmad {operation:"execute", agent:"sm", message:"*draft 1.1"}.',
    );
  });
});

describe('what is not as it is said to be', () => {
  const told = '## Tasks / Subtasks\n\n- [x] One\n- [ ] Two\n';
  const files = {
    'docs/prd/epic-1-base.md': '# Epic 1: Base\n\n## Story 1.1: Setup\n\n## Story 1.2: Login\n\nText.\n',
    'docs/stories/1.1.setup.md': `${v4Story('1.1', 'Done')}\n${told}`,
  };

  it('a story that is called done with open tasks is to be checked', async () => {
    await fill(files);
    const ask = conversation(within);
    expect((await ask({ operation: 'next' })).body).toContain(
      '1. Check whether story 1.1 is done: it is called done, but only 1 of its 2 tasks is ticked',
    );
    expect((await ask({ workflow: 'review-story', message: '1.1' })).body).toContain(
      '- story: docs/stories/1.1.setup.md (done, but only 1 of 2 tasks ticked)',
    );
  });

  it('a story that is planned and has no file is said to be so, with the call that drafts it', async () => {
    await fill({ ...files, 'docs/stories/1.1.setup.md': v4Story('1.1', 'Done') });
    for (const args of [
      { command: '*develop-story docs/stories/1.2.story.md' },
      { command: '*develop-story 1.2' },
      { agent: 'qa', message: '*review docs/stories/1.2.story.md, please' },
    ])
      expect((await conversation(within)(args)).body, JSON.stringify(args)).toContain(
        '- story: 1.2 is planned in docs/prd/epic-1-base.md:5 and has no file yet; write it first: bmad {operation:"execute", agent:"sm", message:"*draft 1.2"}',
      );
    expect((await conversation(within)({ command: '*draft 1.2' })).body).toContain(
      '- story: 1.2, planned in docs/prd/epic-1-base.md:5; write it to docs/stories/1.2.story.md',
    );
  });

  it('a story that there is not is said to be none, and no other takes its place', async () => {
    await fill({ ...files, 'docs/stories/1.1.setup.md': v4Story('1.1', 'Approved') });
    const none = 'one has the number 9.9; there are 1.1, 1.2. Ask which one is meant.';
    for (const args of [
      { workflow: 'review-story', message: 'Please review story 9.9.' },
      { agent: 'dev', message: '*develop-story docs/stories/9.9.invented.md' },
      { operation: 'context', agent: 'dev', message: 'docs/stories/9.9.invented.md' },
    ])
      expect((await conversation(within)(args)).body, JSON.stringify(args)).toContain(none);
    const other = await conversation(within)({ agent: 'dev', message: '*develop-story with Node 20.1' });
    expect(other.body).toContain('- story: docs/stories/1.1.setup.md (ready-for-dev)');
  });
});
