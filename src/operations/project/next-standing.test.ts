import { afterAll, describe, expect, it } from 'vitest';
import { contractSession } from '../../../tests/support/contract-project.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { KIT_FILES } from '../../../tests/support/kit-project.ts';
import { ledger, plain, v4Story } from '../../../tests/support/progress-trees/pieces.ts';
import { spec } from '../../../tests/support/progress-trees/reviews.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { runCompletionContract } from '../completion/completion.ts';
import { bmad } from '../unified/bmad.ts';
import { getProjectContext } from './project-context.ts';
import { runOpen, saveSession } from '../runs/run-operations.ts';
import { logHandoff } from './logs.ts';
import { spawnSubagentTask } from '../tasks/tasks.ts';
import { taskClaim } from '../tasks/task-work.ts';
import { next } from './next.ts';
import type { Action } from './next-actions.ts';

const IMPL = '_bmad-output/implementation-artifacts';
const ORDER = ['broken', 'begun', 'method', 'new'];
const PACKAGE = '{ "name": "tally", "scripts": { "test": "node --test" } }\n';
const waiting = { flags: { trustProject: 'false' } };

/** A project of version 4 whose only story is done, reviewed and has passed its gate. */
const finished4 = {
  'package.json': PACKAGE,
  '.bmad-core/core-config.yaml': 'qa:\n  qaLocation: docs/qa\ndevStoryLocation: docs/stories\n',
  'docs/prd.md': `${plain}\n## Epic 1 Base\n\n### Story 1.1 Setup\n`,
  'docs/architecture.md': plain,
  'docs/stories/1.1.setup.md': v4Story('1.1', 'Done'),
  'docs/qa/gates/1.1-setup.yml': 'schema: 1\nstory: "1.1"\ngate: PASS\n',
};

describe.skipIf(process.platform === 'win32')('next, where everything is built', () => {
  it('has proving it as the step that is left, with who does what', async () => {
    const { ok, folder } = await contractSession(afterAll, finished4, waiting);
    const { answer, data } = await ok(next);
    expect(answer.body).toContain('1 of 1 story done, 0 proven');
    expect(answer.body).not.toContain('Everything planned is done');
    expect(answer.body).toMatch(
      /1\. Prove what is done: it is built and reviewed, but not proven; the user has to allow the completion contract \(it runs [^)]*npm[^)]*\)\n/,
    );
    expect((data['actions'] as Action[])[0]?.steps).toMatchObject([
      { operation: 'trust', args: { folder }, why: 'The user runs' },
      { operation: 'run_completion_contract', why: 'Then call' },
    ]);
    expect(answer.body).toContain('\n   Then call: run_completion_contract {}');
    // Said once: under the step.
    expect(answer.steps?.some(({ operation }) => operation === 'trust')).toBe(false);
  });

  it('does not call it proven where nothing can prove it', async () => {
    const { 'package.json': _, ...bare } = finished4;
    const { answer } = await (await contractSession(afterAll, bare, waiting)).ok(next);
    expect(answer.body).toContain('Everything planned is done, and not proven.');
  });

  it('puts it before what is optional, and says what the files show', async () => {
    const { ok } = await contractSession(
      afterAll,
      {
        'package.json': PACKAGE,
        [`${IMPL}/sprint-status.yaml`]: ledger({
          'epic-1': 'in-progress',
          '1-1-setup': 'done',
          'epic-1-retrospective': 'optional',
        }),
        [`${IMPL}/spec-1-1-setup.md`]: spec('done'),
      },
      waiting,
    );
    const { answer } = await ok(next);
    expect(answer.body).toContain(
      '1. Bring the ledgers up to date: the files show 1 change missing from the ledgers (epic-1 → done)\n   manage_project {action:"reconcile_ledgers"}\n2. Prove what is done: ',
    );
    expect(answer.body).toContain('\n3. Hold the retrospective for epic 1 (optional)');
  });

  it('puts what the user asks for before what can wait, and after what is broken (P2-6, P2-7)', async () => {
    const { ok } = await contractSession(
      afterAll,
      {
        'package.json': PACKAGE,
        [`${IMPL}/sprint-status.yaml`]: ledger({
          'epic-1': 'in-progress',
          '1-1-setup': 'done',
          'epic-1-retrospective': 'optional',
        }),
        [`${IMPL}/spec-1-1-setup.md`]: spec('done'),
      },
      waiting,
    );
    const { answer, data } = await ok(next, { message: 'What was decided about carts?' });
    const starts = answer.body.split('\n').map((line) => /^(?:\d\. \w+|To \w+)/.exec(line)?.[0]);
    expect(starts.filter((start) => start !== undefined)).toEqual([
      '1. Bring',
      '2. To',
      '3. Prove',
      '4. Hold',
    ]);
    expect(answer.body).toContain('To answer a question about the project: recall_structured {query:"…"}\n');
    expect([...new Set((data['actions'] as Action[]).map(({ of }) => of))]).toEqual([
      'broken',
      'new',
      'method',
    ]);
  });

  it('is asked for by a contract that may not run, which names what it would run', async () => {
    const { fail } = await contractSession(afterAll, finished4, waiting);
    const error = await fail(runCompletionContract);
    expect(error.message).toContain('NOT_VERIFIED');
    expect(error.hint).toMatch(/It would run: .*npm/);
    expect(error.hint).toContain('A person has to allow it first');
  });
});

describe('next, before anything is built', () => {
  const WISHES = [
    'Fix our architecture so that it scales to ten million users',
    'a REST endpoint, planned properly with PRD and one epic, then one story built and reviewed',
    'Reprends le travail là où nous en étions',
    `${'Describe everything, please. '.repeat(20)}Do not ask me much; take sensible decisions and note them.`,
  ];

  const QUESTION = 'To answer a question about the project: recall_structured {query:"…"}';

  it('shows the ways to begin as equals, in few words', async () => {
    const { answer } = await (await openSession(afterAll)).ok(next);
    expect(answer.body).toBe(
      'Nothing is planned yet.\nTo begin something new, use build (for one change) · prd (for several stories) · product-brief (for a whole plan) · brainstorming (for an idea that is not clear yet): bmad {operation:"execute", workflow:"…"}',
    );
    expect(answer.note).toBeUndefined();
  });

  it.each(WISHES)(
    'passes %j on whole and reads nothing out of it (J-E5, J-E10, J-O1, Q-E1)',
    async (message) => {
      const { ok } = await openSession(afterAll);
      const { answer, data } = await ok(bmad, { operation: 'next', message });
      const plainly = await ok(bmad, { operation: 'next' });
      const said = JSON.stringify(message).slice(1, -1);
      expect(answer.body.split(said)).toHaveLength(2);
      expect(answer.body.replace(`, message:"${said}"`, '')).toBe(`${plainly.answer.body}\n${QUESTION}`);
      expect(answer.steps).toEqual(plainly.answer.steps);
      const { actions } = data['result'] as { actions: Action[] };
      for (const { steps } of actions) expect(steps[0]?.args).toMatchObject({ message });
      const bare = (plainly.data['result'] as { actions: Action[] }).actions;
      expect(actions.map(({ what, why }) => [what, why])).toEqual(bare.map(({ what, why }) => [what, why]));
    },
  );

  it('says of a document without a status what is known, and begins no phase with a part of another', async () => {
    const { ok, folder } = await openSession(afterAll);
    await writeFiles(folder, {
      '.bmad-core/core-config.yaml': 'prd:\n  prdFile: docs/prd.md\n',
      'docs/prd.md': finished4['docs/prd.md'],
    });
    const { body } = (await ok(next)).answer;
    expect(body).toMatch(/^planning there · solutioning not started\n/);
    expect(body).toContain('the PRD exists and has content (docs/prd.md:3); this comes next');
    expect(body).not.toContain('the PRD is complete');
    const all = (await ok(next, { detail: 'full' })).answer.body;
    expect(all).toContain('| planning | prd | there | docs/prd.md:3 it has content |');
  });
});

describe('next, in a project that others have worked in', () => {
  const kit = async (files: Record<string, string>) => {
    const session = await openSession(afterAll);
    await writeFiles(session.folder, { ...KIT_FILES, ...files });
    return session;
  };

  it('begins with what is under way, numbered, and says the same each time (J-O2)', async () => {
    const { ok } = await kit({
      '_bmad/_memory/session-state.md':
        '# État de Session\n\n## Dernière Session\n\n| Champ | Valeur |\n|---|---|\n| **Agent** | fullstack-dev |\n| **Date** | 2026-11-14 23:56 |\n\n## Prochaine étape recommandée\n\ntester\n',
      '_bmad/_memory/handoff-log.md': '| 2026-11-14 10:00 | dev → qa | valider US-042 | ⏳ |\n',
    });
    const { answer, data } = await ok(next);
    expect(answer.body).toMatch(
      /\n1\. Continue from the last session \(fullstack-dev, 2026-11-14 23:56\), whose note on the next step says: "tester"\n2\. Settle request H-\w+, dev asks qa: "valider US-042"\n   bmad \{operation:"execute", agent:"qa"\}\n   Once it is done: manage_project/,
    );
    // `bmad status` is the same in brief.
    const brief = (await ok(next, { detail: 'brief' })).answer.body;
    expect(brief).toMatch(/\n1\. Continue from .*\n2\. Settle request H-.*\n.*\n.*$/);
    expect(answer.body).not.toContain('Write a product brief');
    expect((data['actions'] as Action[]).map(({ of }) => of)).toEqual(
      [...(data['actions'] as Action[])]
        .map(({ of }) => of)
        .sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b)),
    );
    expect((await ok(next)).answer).toEqual(answer);
  });

  it('guesses nobody for the note of a session or for a request to nobody (W3-C1, W3-C2)', async () => {
    const { ok } = await kit({
      '_bmad/_memory/shared-context.md':
        '# Contexte\n\n## Requêtes inter-agents\n\n- [ ] [stack→?] besoin audit\n- [ ] [stack→atlas] cartographier\n',
    });
    await ok(saveSession, { agent: 'fullstack-dev', next: 'L’architecte confirme la pile' });
    const { answer, data } = await ok(next);
    const begun = (data['actions'] as Action[]).filter(({ of }) => of === 'begun');
    expect(
      begun.map(({ says, steps }) => [says, steps.find(({ operation }) => operation === 'execute')?.args]),
    ).toEqual([
      ['L’architecte confirme la pile', undefined],
      ['besoin audit', undefined],
      ['cartographier', { name: expect.stringContaining('project-navigator'), kind: 'agent' }],
    ]);
    expect(answer.body).not.toContain('fullstack-dev"');
  });

  it('tells of deferred work that is open, as the context does (W3-C6)', async () => {
    const file = `${IMPL}/deferred-work.md`;
    const entries = '- source_spec: a\n  summary: b\n  - detail\n- [x] settled\n- ~~struck~~\n* second\n';
    const { ok, folder } = await kit({
      [file]: `# Deferred\n\n\u0060\u0060\u0060\n- example\n\u0060\u0060\u0060\n\n${entries}`,
    });
    const said = `Deferred work: 2 open entries in ${file}`;
    for (const operation of [next, getProjectContext])
      expect((await ok(operation)).answer.body.split('\n')).toContain(said);
    expect((await ok(next)).data['deferred']).toEqual({ file, open: 2 });
    await writeFiles(folder, { [file]: '- [x] settled\n' });
    expect((await ok(next)).answer.body).not.toContain('Deferred work');
  });

  it('does not repeat the note of a session about stories that are done (J-E12)', async () => {
    const files = {
      [`${IMPL}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-3-tags': 'done',
        '1-4-sort': 'backlog',
      }),
    };
    const { ok } = await kit(files);
    await ok(saveSession, { agent: 'dev', summary: 'Built', next: 'Story 1.3' });
    expect((await ok(next)).answer.body).not.toContain('last session');
    await ok(saveSession, { agent: 'dev', summary: 'Built', next: '1-4-sort, with version 1.3 of the list' });
    expect((await ok(next)).answer.body).toContain('noted: "1-4-sort, with version 1.3 of the list"');
  });

  it('has one step for what the note of a session names by its key or id, with the note (P2-2)', async () => {
    const { ok } = await kit({
      [`${IMPL}/sprint-status.yaml`]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'ready-for-dev' }),
    });
    const handed = await ok(logHandoff, { from: 'qa', to: 'architect', summary: 'store the cart' });
    const id = handed.data['id'] as string;
    await ok(saveSession, { agent: 'dev', next: 'Build story 1-1-setup' });
    const ofStory = (await ok(next)).answer.body;
    expect(ofStory).toContain(
      '\n1. Build story 1-1-setup: it is ready for development\n   The last session noted: "Build story 1-1-setup"\n   bmad {',
    );
    expect(ofStory).toContain(`\n2. Settle request ${id}, qa asks architect: "store the cart"\n`);
    expect(ofStory.split('Build story 1-1-setup: ')).toHaveLength(2);
    await ok(saveSession, { agent: 'qa', next: `The architect settles ${id}.` });
    const ofRequest = (await ok(next)).answer.body;
    expect(ofRequest).toContain(
      `\n1. Settle request ${id}, qa asks architect: "store the cart"\n   The last session noted: "The architect settles ${id}."\n`,
    );
    expect(ofRequest).toMatch(/\n2\. Build story 1-1-setup: (?!.*last session)/);
    // What is only like it is another thing.
    await ok(saveSession, { agent: 'qa', next: `Not ${id}0, but the setup` });
    expect((await ok(next)).answer.body).toContain('\n1. Continue from the last session (qa, ');
  });

  it('names the story of a run, and lists the two once (J-E13)', async () => {
    const { ok } = await kit({
      [`${IMPL}/sprint-status.yaml`]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'ready-for-dev' }),
    });
    await ok(runOpen, { workflow: 'build', variables: { story_key: '1-1-setup' } });
    const { body } = (await ok(next)).answer;
    expect(body).toMatch(/\n1\. Resume run bmad-build-\S+ for story 1-1-setup: it is running, 0 of 5 steps/);
    expect(body).not.toContain('Build story 1-1-setup');
    // Another change can be built meanwhile.
    expect(body).toMatch(
      /\nTo begin something new, use build \(for one change\).*: bmad \{operation:"execute", workflow:"…"\}$/,
    );
  });

  it('has tasks that somebody has claimed', async () => {
    const { ok } = await kit({});
    const { data } = await ok(spawnSubagentTask, {
      agent: 'dev',
      task: 'Count the words',
      output_key: 'count',
    });
    await ok(taskClaim, { task_id: (data['task'] as { task_id: string }).task_id, worker: 'w-1' });
    expect((await ok(next)).answer.body).toMatch(
      /\n1\. Finish task count for dev: w-1 has claimed it until /,
    );
  });
});

describe('get_project_context', () => {
  it('has the stories and what QA said of them', async () => {
    const { ok, folder } = await openSession(afterAll);
    await writeFiles(folder, finished4);
    const { body } = (await ok(getProjectContext)).answer;
    expect(body).toMatch(
      /## Stories\n1 of 1 done .*\n- 1\.1: Done \(docs\/stories\/1\.1\.setup\.md:\d+\), gate PASS \(docs\/qa\/gates\/1\.1-setup\.yml:3\)/,
    );
  });
});
