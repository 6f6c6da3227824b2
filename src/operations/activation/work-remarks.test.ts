import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
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
  it('is once in a conversation: whose the records in the tree are, whose permission is missing, what to do unasked', async () => {
    const ask = conversation(context);
    const { body } = await ask({ workflow: 'build', message: 'story 1-2-login, and do not ask me anything' });
    expect(body).toContain(
      "`_bmad-output/.memory/`, `_bmad-output/.runs/`, `_bmad-output/.tasks/` are the server's, not work:",
    );
    expect(body).toMatch(/needs the user's permission to prove a story done\. Ask now: trust \S+/);
    expect(body).toContain(
      'No questions wanted? Assume answers and approvals, now and later, not permissions. No sub-agents? Do their part.',
    );
    expect(body).toContain(`2 paths not committed (\`${NOTES}\`): commit before you build`);
    const review = await ask({ workflow: 'code-review', message: 'story 1-1-setup' });
    expect(review.body).not.toContain("the server's, not work");
    // Without it the text leaves the ledger as it is.
    expect(review.body).toContain('- `story_key`: 1-1-setup\n');
    expect(review.body).not.toContain('No questions wanted');
    const again = await ask({ workflow: 'build', message: 'story 1-2-login' });
    expect(again.body).not.toMatch(/the server's, not work|user.s permission|No questions wanted/);
  });

  it("names BMAD's own way where the text has one, and says nothing where nothing is asked", async () => {
    const ask = conversation(context);
    expect((await ask({ workflow: 'create-epics-and-stories' })).body).toContain(
      'Assume answers and approvals',
    );
    expect((await ask({ workflow: 'sprint-planning' })).body).not.toContain("the server's, not work");
    expect((await ask({ agent: 'architect' })).body).not.toContain('No questions wanted');
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
});
