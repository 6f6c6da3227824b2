import { afterAll, describe, expect, it } from 'vitest';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { EPICS, impl, ledger, out } from '../../../tests/support/progress-trees/pieces.ts';
import { estimateTokens } from '../../base/text/text-budget.ts';
import { logDecision } from '../memory/remember.ts';
import { storyBrief, storyShow } from './stories.ts';

const CRITERIA = [
  '1. A login with a wrong password is refused after 5 tries.',
  '2. A session ends after 15 minutes.',
];
const STORY = `# Story 1.2: Login

Status: ready-for-dev

## Story

As a buyer I want to log in.

## Acceptance Criteria

${CRITERIA.join('\n')}

## Tasks / Subtasks

- [ ] Write \`src/login.ts\` and \`tests/login.test.ts\`

## Dev Notes

- Passwords are hashed [Source: architecture.md#Password Rules]
- Keep to AD-3 and NFR2.
- See [Source: architecture.md]
`;
const ARCHITECTURE = `# Architecture

## Password Rules

Argon2id with 64 MB, never bcrypt.

### AD-3: One table for sessions

**Rule:** sessions live in PostgreSQL only.

## Colours

${'Green and nothing else, in every shade there is. '.repeat(100)}
`;
const PROJECT = {
  'package.json': '{"name":"shop","scripts":{"test":"node --test"}}',
  [`${out}/architecture.md`]: ARCHITECTURE,
  [`${out}/prd.md`]: '# PRD\n\n- **NFR2:** every page answers within 200 ms\n',
  [`${out}/epics.md`]: EPICS,
  [`${out}/project-context.md`]:
    '# Rules\n\n- Every table has a created_at column\n- [ ] not a rule at all\n',
  [`${impl}/sprint-status.yaml`]: ledger({ 'epic-1': 'in-progress', '1-2-login': 'ready-for-dev' }),
  [`${impl}/1-2-login.md`]: STORY,
};

async function project(files: Readonly<Record<string, string>> = PROJECT) {
  const session = await openSession(afterAll, { env: { PATH: process.env['PATH'] } });
  await writeFiles(session.folder, files);
  const brief = async (story = '1.2'): Promise<string> =>
    (await session.ok(storyBrief, { story })).answer.body;
  return { ...session, brief };
}

describe('the brief of a story', () => {
  it('has its criteria, the rules it cites, decisions, files and tests, within 700 tokens', async () => {
    const { brief, ok } = await project();
    await ok(logDecision, { agent: 'architect', text: 'Logins are logged without the name of the user.' });
    const text = await brief('1-2-login');
    expect(text).toContain(`# 1-2-login: Login\n\nStatus: ready-for-dev · ${impl}/1-2-login.md`);
    expect(text).toContain(`## Acceptance criteria (${impl}/1-2-login.md:9)\n\n${CRITERIA.join('\n')}`);
    expect(text).toContain('Argon2id with 64 MB, never bcrypt.');
    expect(text).toContain('sessions live in PostgreSQL only.');
    expect(text).toContain(`**NFR2:** every page answers within 200 ms (${out}/prd.md:3)`);
    expect(text).toContain(`Every table has a created_at column (${out}/project-context.md:3)`);
    expect(text).toContain('Logins are logged without the name of the user.');
    expect(text).toContain('## Files named\n\nsrc/login.ts, tests/login.test.ts');
    expect(text).toMatch(/## Tests to run\n\n`npm /);
    expect(text).toContain(`Left out: ${out}/architecture.md:1.`);
    expect(text).not.toContain('not a rule');
    expect(estimateTokens(text)).toBeLessThanOrEqual(700);
    expect(await brief('1-2-login')).toBe(text);
  });

  it('never cuts the criteria, and names what did not fit with its line', async () => {
    const many = Array.from(
      { length: 60 },
      (_, index) => `${index + 1}. The criterion number ${index + 1} has to be fulfilled.`,
    );
    const { brief } = await project({
      ...PROJECT,
      [`${impl}/1-2-login.md`]: STORY.replace(CRITERIA.join('\n'), many.join('\n')),
    });
    const text = await brief();
    expect(text).toContain(many.join('\n'));
    expect(text).toMatch(new RegExp(`Left out: .*${out}/architecture.md:3`));
    expect(text).not.toContain('Argon2id');
  });

  it('names a rule that is too long, and fits all the same', async () => {
    const { brief } = await project({
      ...PROJECT,
      [`${impl}/1-2-login.md`]: STORY.replace('#Password Rules', '#colours'),
    });
    const text = await brief();
    expect(text).toContain(`${out}/architecture.md:11`);
    expect(text).not.toContain('in every shade');
    expect(text).toContain('sessions live in PostgreSQL only.');
    expect(estimateTokens(text)).toBeLessThanOrEqual(700);
  });

  it('takes the criteria from the plan where the story has no file, and from a spec with its boundaries', async () => {
    const epics = EPICS.replace(
      '### Story 1.2: Login\n',
      '### Story 1.2: Login\n\nAs a buyer\n\n**Acceptance Criteria:**\n\n**Given** a wrong password\n**Then** it is refused\n',
    );
    const { [`${impl}/1-2-login.md`]: _, ...without } = PROJECT;
    const planned = await project({ ...without, [`${out}/epics.md`]: epics });
    const text = await planned.brief();
    expect(text).toContain('**Given** a wrong password\n**Then** it is refused');
    expect(text).not.toContain('As a buyer');
    expect(text).not.toContain('Epic 2');
    const spec =
      "---\ntitle: 'Login'\nstatus: 'draft'\ncontext: ['{project-root}/docs/style.md', '.env']\n---\n\n# Login\n\n## Boundaries & Constraints\n\n**Always:** hash\n\n**Never:** log it\n\n## Tasks & Acceptance\n\n- [ ] `src/a.ts`\n\n**Acceptance Criteria:**\n- Given x, then y\n\n## Verification\n\nnothing\n";
    const specced = await project({
      ...without,
      [`${impl}/spec-1-2-login.md`]: spec,
      'docs/style.md': '- Tabs, never blanks\n',
      '.env': '- SECRET_VALUE=12345678\n',
    });
    const other = await specced.brief();
    expect(other).toContain('- Given x, then y');
    expect(other).not.toContain('nothing');
    expect(other).toContain('**Never:** log it');
    expect(other).toContain('Tabs, never blanks (docs/style.md:1)');
    expect(other).not.toContain('SECRET_VALUE');
  });

  it('works in version 4, and says what is not there', async () => {
    const session = await project({
      '.bmad-core/agents/dev.md': 'x',
      '.bmad-core/core-config.yaml':
        'devStoryLocation: docs/stories\narchitecture:\n  architectureShardedLocation: docs/architecture\n',
      'docs/architecture/coding-standards.md': '# Coding Standards\n\n## Names\n\nSnake case.\n',
      'docs/stories/1.1.setup.md':
        '# Story 1.1: Setup\n\n## Status\n\nApproved\n\n## Story\n\nAs a user\n\n## Acceptance Criteria\n\n1. It starts.\n\n## Dev Notes\n\n[Source: architecture/coding-standards.md#names]\n',
      'docs/stories/1.2.x.md': '# Story 1.2: X\n\n## Status\n\nDraft\n',
    });
    const text = await session.brief('1.1');
    expect(text).toContain('1. It starts.');
    expect(text).toContain('Snake case.');
    expect(await session.brief('1-2')).toContain('Neither the story nor the plan has any.');
    expect((await session.fail(storyBrief, { story: '1.4' })).suggestions).toEqual(['1.1', '1.2']);
  });
});

describe('a story as people read it', () => {
  it('has its text, criteria, tasks, the words it takes and what disagrees', async () => {
    const session = await openSession(afterAll);
    await writeFiles(session.folder, {
      [`${out}/epics.md`]:
        '# Epics\n\n## Epic 1: Access\n\n### Story 1.2: Login: e-mail & password\n\nAs a buyer.\n\n**Acceptance Criteria:**\n\nIt works.\n\n### Story 1.3: Later\n\nAs a seller, I wait.\n\n**Acceptance Criteria:**\n\nIt waits.\n',
      [`${impl}/sprint-status.yaml`]: ledger({
        'epic-1': 'in-progress',
        '1-2-login': 'review',
        '1-3-later': 'backlog',
      }),
      [`${impl}/1-2-login.md`]: STORY.replace('Status: ready-for-dev', 'Status: done').replace(
        '- [ ] Write',
        '- [x] First\n  - [ ] Write',
      ),
    });
    const { data } = await session.ok(storyShow, { story: '1.2' });
    expect(data).toMatchObject({
      number: '1.2',
      title: 'Login: e-mail & password',
      epic: { number: '1', title: 'Access' },
      status: 'review',
      text: { text: 'As a buyer I want to log in.' },
      criteria: { text: CRITERIA.join('\n') },
      tasks: [
        { text: 'First', done: true, depth: 0 },
        { text: expect.stringContaining('Write') as unknown, done: false, depth: 1 },
      ],
      words: expect.arrayContaining(['in-progress', 'review', 'done']) as unknown,
      drift: [{ about: '1-2-login' }],
    });
    const planned = await session.ok(storyShow, { story: '1-3-later' });
    expect(planned.data).toMatchObject({
      title: 'Later',
      text: { text: 'As a seller, I wait.' },
      criteria: { text: 'It waits.' },
      tasks: [],
    });
    expect((await session.fail(storyShow, { story: '9.9' })).code).toBe('not_found');
  });
});
