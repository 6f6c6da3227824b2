import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { conversation } from '../../../tests/support/conversation.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { ledger, TEXT } from '../../../tests/support/progress-trees/pieces.ts';
import { spec } from '../../../tests/support/progress-trees/reviews.ts';

const PLANS = '_bmad-output/planning-artifacts';
const IMPL = '_bmad-output/implementation-artifacts';
const SPEC = `${IMPL}/spec-1-1-setup.md`;

const IDENTITY = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
const env = { PATH: process.env['PATH'], GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

const folder = await temporaryFolder(afterAll);
const git = (...args: string[]): string =>
  execFileSync('git', [...IDENTITY, ...args], { cwd: folder, env, encoding: 'utf8' }).trim();

await writeFiles(folder, {
  [`${PLANS}/prd.md`]: `# PRD\n${TEXT}`,
  [`${PLANS}/architecture.md`]: `# Architecture\n${TEXT}`,
  [`${PLANS}/epics.md`]: `# Epics\n\n## Epic 1: Shop\n\n### Story 1.1: Setup\n${TEXT}\n### Story 1.2: Login\n${TEXT}`,
  [`${IMPL}/sprint-status.yaml`]: ledger({ '1-1-setup': 'review', '1-2-login': 'backlog' }),
  'package.json': '{ "name": "shop", "scripts": { "test": "node --test" } }\n',
});
git('init', '--quiet');
git('add', '.');
git('commit', '--quiet', '-m', 'Plan');
const planned = git('rev-parse', 'HEAD');
const NOTES = '_bmad-output/.runs-notes.md';
await writeFiles(folder, { [SPEC]: spec('done'), [NOTES]: 'x\n', '_bmad-output/.runs/a/state.json': '{}\n' });
const context = await contextIn(folder, { env: { PATH: process.env['PATH'] } });

describe('what is told before work begins', () => {
  const ALONE =
    'No sub-agents? Do their part yourself, whatever a step says; call such a review not independent.';

  it('is whose the records in the tree are, and once in a conversation whose permission is missing and what to do unasked', async () => {
    const ask = conversation(context);
    const { body } = await ask({ workflow: 'build', message: 'story 1-2-login' });
    expect(body).toContain("`_bmad-output/{.memory,.runs,.tasks}` are the server's, not work:");
    expect(body).toMatch(/needs the user's permission to prove a story done\. Ask now: trust \S+/);
    expect(body).toContain('No questions wanted? Assume answers and approvals, not permissions (trust).');
    expect(body).toContain(ALONE);
    expect(body).toContain(`2 files not committed (such as \`${NOTES}\`): commit before you build`);
    const review = await ask({ workflow: 'code-review', message: 'story 1-1-setup' });
    // Each looks at the tree and launches sub-agents, whatever was started before.
    expect(review.body).toContain("the server's, not work");
    expect(review.body).toContain(ALONE);
    // Without it the text leaves the ledger as it is.
    expect(review.body).toContain('- `story_key`: 1-1-setup\n');
    expect(review.body).not.toContain('No questions wanted');
    const again = await ask({ workflow: 'build', message: 'story 1-2-login' });
    expect(again.body).not.toMatch(/user.s permission|No questions wanted/);
  });

  it("names BMAD's own way where the text has one, and says nothing where nothing is asked", async () => {
    const ask = conversation(context);
    expect((await ask({ workflow: 'create-epics-and-stories' })).body).toContain(
      'Assume answers and approvals',
    );
    expect((await ask({ workflow: 'sprint-planning' })).body).not.toContain("the server's, not work");
    expect((await ask({ agent: 'architect' })).body).not.toContain('No questions wanted');
  });

  it.each([
    'Decide yourself, keep it small.',
    'Do it without asking me.',
    'No questions, please',
    'Do not stop to ask me, just build it',
    "Don't ever ask me",
    'Décide toi-même, garde ça petit.',
    'Fais-le sans me demander.',
    'Pas de questions.',
  ])('is that the user wants no questions, in every start once they said "%s"', async (message) => {
    const ask = conversation(context);
    expect((await ask({ workflow: 'prd', message })).body).toContain(
      'The user wants no questions: follow its rules for headless runs at every menu, HALT and choice, now and later;',
    );
    for (const workflow of ['architecture', 'sprint-planning', 'code-review', 'build'])
      expect((await ask({ workflow, message: 'go on' })).body).toContain('The user wants no questions: ');
    const review = await ask({
      workflow: 'create-epics-and-stories',
      message: 'go on, but I want you to ask me this time',
    });
    expect(review.body).not.toContain('The user wants no questions');
  });

  it.each([
    'A form that does not ask for a password',
    'A quiz with no questions about history',
    'The quiz page shows no questions, fix it',
    'The login dialog should never ask again.',
    'Users can delete their account without asking.',
    "La page n'affiche aucune question.",
    'Le formulaire ne demande pas de mot de passe',
  ])('is nothing of the kind where what is built asks nothing: %s', async (message) => {
    expect((await conversation(context)({ workflow: 'prd', message })).body).not.toContain(
      'wants no questions',
    );
  });

  it('is the time, in the form that the text or its script writes', async () => {
    const ask = conversation(context);
    expect((await ask({ workflow: 'sprint-planning' })).body).toMatch(
      /^- The time now: \d\d-\d\d-\d{4} \d\d:\d\d\.$/m,
    );
    expect((await ask({ workflow: 'prd' })).body).toMatch(/^- The time now: \d{4}-\d\d-\d\dT\d\d:\d\d\.$/m);
    expect((await ask({ workflow: 'build' })).body).not.toContain('The time now');
  });

  it('says nothing of a permission that was given, or of records kept elsewhere', async () => {
    const trusted = conversation(
      await contextIn(folder, {
        env: { PATH: process.env['PATH'] },
        flags: { trust: 'always', projectState: 'user' },
      }),
    );
    const { body } = await trusted({ workflow: 'build', message: 'story 1-2-login' });
    expect(body).not.toMatch(/user.s permission|the server's, not work/);
  });

  it('is what a review compares with, by git, where a one-shot build has left no baseline_commit', async () => {
    const ask = conversation(context);
    const before = await ask({ workflow: 'code-review', message: 'story 1-1-setup' });
    expect(before.body).toContain('is not committed yet: compare with HEAD');
    expect(before.body).toContain(`- story: ${SPEC} (review in the ledger, done by its build, no baseline`);
    expect(before.body).toContain(
      `- acceptance criteria: ${PLANS}/epics.md:5, not in this one-shot spec; append \`### Review Findings\` at its end`,
    );
    git('add', '.');
    git('commit', '--quiet', '-m', 'Build');
    const { body } = await ask({ workflow: 'code-review', message: 'the story 1-1-setup' });
    expect(body).toContain(
      `no baseline_commit in it, and it was first committed in ${git('rev-parse', '--short=12', 'HEAD')}: compare with ${planned}`,
    );
  });

  it.each(['sprint-planning', 'code-review', 'build'])('is all plans there are, for %s', async (workflow) => {
    const { body } = await conversation(context)({ workflow });
    for (const name of ['prd', 'architecture', 'epics'])
      expect(body).toContain(`- ${name}: ${PLANS}/${name}.md`);
  });

  it('is no name where nobody has given one', async () => {
    const { body } = await conversation(context)({ workflow: 'code-review' });
    expect(body).toContain('`{user_name}`: (none given: leave it out)');
  });

  it('is one day, that of the user, whatever the day is in Greenwich', async () => {
    const before = process.env['TZ'];
    // One of them has another day at any hour.
    process.env['TZ'] = new Date().getUTCHours() < 11 ? 'Etc/GMT+12' : 'Etc/GMT-14';
    onTestFinished(() => {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    });
    const { body } = await conversation(await contextIn(await temporaryFolder(afterAll)))({
      workflow: 'prd',
    });
    const [, day] = /The time now: ([\d-]+)T/.exec(body) ?? [];
    expect(day).not.toBe(new Date().toISOString().slice(0, 10));
    expect(body).toContain(`\`{date}\`: ${day}`);
  });
});
