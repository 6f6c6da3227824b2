import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { sessionIn } from '../../../tests/support/operations.ts';
import { impl, ledger, story } from '../../../tests/support/progress-trees/pieces.ts';
import { storyHistory } from './stories.ts';

const run = promisify(execFile);

/** Commits all there is, at a given day. */
async function commit(folder: string, day: string): Promise<void> {
  const date = `2026-03-${day}T12:00:00Z`;
  const env = { ...process.env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date };
  await run('git', ['add', '-A'], { cwd: folder });
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@example.org'];
  await run('git', [...who, 'commit', '-qm', day], { cwd: folder, env });
}

async function shop(...days: readonly (readonly [string, Record<string, string>])[]) {
  const folder = await temporaryFolder(afterAll);
  await run('git', ['init', '-q', '.'], { cwd: folder });
  for (const [day, files] of days) {
    await writeFiles(folder, files);
    await commit(folder, day);
  }
  const session = await sessionIn(folder, { env: { PATH: process.env['PATH'] } });
  afterAll(() => session.close());
  return { folder, session };
}

const LEDGER = `${impl}/sprint-status.yaml`;

describe('the history of stories', () => {
  it('has the days on which each was planned, begun and done, from ledgers and story files', async () => {
    const { folder, session } = await shop(
      [
        '02',
        { [LEDGER]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'backlog', '1-2-login': 'backlog' }) },
      ],
      ['03', { [`${impl}/1-1-setup.md`]: story('1.1', 'in-progress') }],
      [
        '06',
        { [LEDGER]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'done', '1-2-login': 'in-progress' }) },
      ],
    );
    const { data, answer } = await session.ok(storyHistory);
    expect(data).toMatchObject({
      stories: [
        { id: '1-1-setup', planned: '2026-03-02T12:00:00.000Z', done: '2026-03-06T12:00:00.000Z', days: 3 },
        { id: '1-2-login', started: '2026-03-06T12:00:00.000Z' },
      ],
      undated: 0,
    });
    // Half of one story says nothing.
    expect([data['median_days'], answer.note]).toEqual([undefined, '']);
    // What is in no commit yet has no date.
    await writeFiles(folder, {
      [LEDGER]: ledger({
        'epic-1': 'in-progress',
        '1-1-setup': 'done',
        '1-2-login': 'done',
        '1-3-new': 'backlog',
      }),
    });
    expect((await session.ok(storyHistory)).data).toMatchObject({ undated: 1 });
  });

  it('says what half of the stories took from three stories on', async () => {
    const rows = (word: string) =>
      ledger({ 'epic-1': 'in-progress', '1-1-a': word, '1-2-b': word, '1-3-c': word });
    const { session } = await shop(
      ['02', { [LEDGER]: rows('in-progress') }],
      ['05', { [LEDGER]: rows('done') }],
    );
    const { data, answer } = await session.ok(storyHistory);
    expect([data['median_days'], answer.note]).toEqual([3, 'Half of the stories took 3 days or less.']);
  });

  it('knows names with accents, in ledgers and of files', async () => {
    const { session } = await shop(
      ['02', { [LEDGER]: ledger({ 'epic-1': 'in-progress', '1-1-créer-un-compte': 'backlog' }) }],
      ['04', { [`${impl}/1-1-créer-un-compte.md`]: story('1.1', 'in-progress') }],
    );
    expect((await session.ok(storyHistory)).data['stories']).toEqual([
      {
        id: '1-1-créer-un-compte',
        title: '1.1 Créer un compte',
        planned: '2026-03-02T12:00:00.000Z',
        started: '2026-03-04T12:00:00.000Z',
      },
    ]);
  });

  it('is empty, and says so, where there is no git', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { [LEDGER]: ledger({ 'epic-1': 'backlog', '1-1-setup': 'backlog' }) });
    const session = await sessionIn(folder, { env: { PATH: process.env['PATH'] } });
    const { data, answer } = await session.ok(storyHistory);
    expect(data).toEqual({ stories: [], undated: 1 });
    expect(answer.body).toContain('no git history');
    session.close();
  });
});
