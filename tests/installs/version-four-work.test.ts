import { afterAll, describe, expect, it } from 'vitest';
import { contextIn } from '../support/app.ts';
import { conversation } from '../support/conversation.ts';
import { progressProject } from '../support/progress-project.ts';
import { plain, v4Story } from '../support/progress-trees/pieces.ts';

const { folder: project, fill } = await progressProject(afterAll, '4.44.3');
const within = await contextIn(project);
const story = { 'docs/prd.md': plain, 'docs/stories/1.1.setup.md': v4Story('1.1', 'Ready for Review') };
const TEXT = '----- BEGIN';

describe('a task of version 4 that is started again', () => {
  it('comes as it came before, with the documents as they are now (A-1)', async () => {
    await fill(story);
    const ask = conversation(within);
    for (const args of [
      { command: '*review 1.1' },
      { agent: 'sm', message: '*draft' },
      { workflow: 'review-story' },
    ]) {
      const first = await ask(args);
      expect(first.body).toContain(TEXT);
      await ask({ ...args, detail: 'full' });
      expect((await ask(args)).body).toBe(first.body);
    }
    await fill({ ...story, 'docs/architecture.md': plain });
    const changed = await ask({ workflow: 'brownfield-create-epic', message: 'Three' });
    expect(changed.body).toContain('- architecture: docs/architecture.md');
    expect(changed.body).toContain(TEXT);
  });

  it('comes with the template that the command names, where it fits', async () => {
    await fill(story);
    const { body } = await conversation(within)({ agent: 'pm', message: '*create-prd' });
    expect(body).toContain('----- END bmad://.bmad-core/templates/prd-tmpl.yaml -----');
    expect(body.match(/`\{project-root\}`: /g)).toHaveLength(1);
  });
});

describe('a checklist of version 4', () => {
  it('is run by its name, with the documents that it checks', async () => {
    await fill(story);
    for (const args of [{ workflow: 'pm-checklist' }, { command: 'pm-checklist' }]) {
      const { body } = await conversation(within)(args);
      expect(body).toMatch(/^"pm-checklist" is a checklist: run it with the task below\.\n/);
      expect(body).toContain('----- END bmad://.bmad-core/checklists/pm-checklist.md -----');
      expect(body).toContain('(task bmad-core/execute-checklist)');
      expect(body).toContain('- prd: docs/prd.md');
    }
  });

  it('has the story that it is for, where it is about one', async () => {
    await fill({ ...story, 'docs/stories/1.2.login.md': v4Story('1.2', 'Approved') });
    const inputs = async (workflow: string, message: string): Promise<string | undefined> =>
      /^- story: .*$/m.exec((await conversation(within)({ workflow, message })).body)?.[0];
    expect(await inputs('story-dod-checklist', '1.1')).toBe(
      '- story: docs/stories/1.1.setup.md (Ready for Review)',
    );
    expect(await inputs('story-draft-checklist', '1.2')).toBe(
      '- story: docs/stories/1.2.login.md (Approved)',
    );
    expect(await inputs('pm-checklist', '1.1')).toBeUndefined();
  });

  it('has the story where a command of an agent names the checklist', async () => {
    await fill({ ...story, 'docs/stories/1.2.login.md': v4Story('1.2', 'Draft') });
    const ask = conversation(within);
    expect((await ask({ command: '*story-checklist 1.1' })).body).toContain(
      '- story: docs/stories/1.1.setup.md (Ready for Review)',
    );
    for (const args of [
      { agent: 'sm', message: '*story-checklist' },
      { agent: 'po', message: '*execute-checklist-po' },
    ])
      expect((await ask(args)).body).not.toContain('- story: ');
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
    const [, list = ''] = /^## Documents of the project\n\n((?:- .*\n?)+)/m.exec(body) ?? [];
    return list.trim().split('\n').filter(Boolean);
  };
  const gate = '- gate: docs/qa/gates/1.1-setup.yml (CONCERNS)';

  const plans = [
    '- prd: docs/prd.md; docs/prd/, in 2 files',
    '- architecture: docs/architecture.md; docs/architecture/, in 1 file',
  ];

  it('are the documents there are, and a story and its gate where the message names one (J-E1)', async () => {
    await fill(files);
    const reviewed = '- story: docs/stories/1.1.setup.md (Ready for Review)';
    expect(await inputsOf({ workflow: 'review-story' })).toEqual(expect.arrayContaining(plans));
    expect((await inputsOf({ workflow: 'review-story' })).join()).not.toContain('story:');
    for (const args of [{ workflow: 'qa-gate', message: '1.1' }, { command: '*review 1.1' }])
      expect((await inputsOf(args)).slice(0, 2)).toEqual([reviewed, gate]);
    expect((await inputsOf({ workflow: 'create-next-story', message: '1.2' }))[0]).toBe(
      '- story: 1.2, planned in docs/prd/epic-1-base.md:5; write it to docs/stories/1.2.story.md',
    );
  });

  it('are there for a command that only its agent knows', async () => {
    await fill({
      ...files,
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Approved'),
      'docs/qa/gates/1.1-setup.yml': '',
    });
    const approved = '- story: docs/stories/1.1.setup.md (Approved)';
    expect(await inputsOf({ agent: 'dev', message: '*develop-story 1.1' })).toEqual([approved]);
    for (const message of ['*develop-story', 'Good morning'])
      expect(await inputsOf({ agent: 'dev', message })).toEqual([]);
    expect((await inputsOf({ command: '*review 1.1' })).slice(0, 2)).toEqual([
      approved,
      '- gate: none yet; it is written to docs/qa/gates/',
    ]);
  });

  it('come with the settings that texts and personas send to core-config.yaml for', async () => {
    const dev = (await conversation(within)({ agent: 'dev' })).body;
    // A persona has to load it before it greets anybody.
    expect(dev).toContain(
      '`.bmad-core/core-config.yaml` is loaded; the values used are under Values, and steps that load it can be skipped.',
    );
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

describe('a command of an agent of version 4', () => {
  it('that is none is answered with the nearest', async () => {
    const ask = conversation(within);
    expect((await ask({ agent: 'sm', message: '*drft' })).body).toContain(
      'This agent has no command "*drft". Nearest: *draft.',
    );
    for (const message of ['*help', '*Please* draft it', 'draft the next story'])
      expect((await ask({ agent: 'sm', message })).body).not.toContain('is unknown');
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
      '- story: docs/stories/1.1.setup.md (Done, but only 1 of 2 tasks ticked)',
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
    const none = 'o story has the number 9.9; there are 1.1, 1.2. Ask which one is meant.';
    for (const args of [
      { workflow: 'review-story', message: 'Please review story 9.9.' },
      { agent: 'dev', message: '*develop-story docs/stories/9.9.invented.md' },
      { operation: 'context', agent: 'dev', message: 'docs/stories/9.9.invented.md' },
    ])
      expect((await conversation(within)(args)).body, JSON.stringify(args)).toContain(none);
    const other = await conversation(within)({ agent: 'dev', message: '*develop-story with Node 20.1' });
    expect(other.body).not.toContain('- story: ');
  });
});
