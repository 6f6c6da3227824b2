import { chmod, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { KIT_LIKE_SCRIPT, SCRIPT_PATH } from '../../../tests/support/contract-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { impl, ledger, out, story, v4Story } from '../../../tests/support/progress-trees/pieces.ts';
import { execute } from '../execute.ts';
import { manageProject } from '../unified/action-tool.ts';
import { reconcileLedgers } from './ledgers.ts';
import { storyStatus } from './stories.ts';

const LEDGER = `${impl}/sprint-status.yaml`;
const V4 = {
  '.bmad-core/agents/dev.md': '# dev\n',
  '.bmad-core/core-config.yaml': 'devStoryLocation: docs/stories\n',
};

async function project(files: Readonly<Record<string, string>>) {
  const session = await openSession(afterAll);
  await writeFiles(session.folder, files);
  const text = (path: string): Promise<string> => readFile(join(session.folder, path), 'utf8');
  const set = async (name: string, status: string) => {
    const { answer, data } = await session.ok(storyStatus, { story: name, status });
    return { said: answer.body, notes: (data['notes'] as string[]).join('\n'), ends: data['ends'] };
  };
  return { ...session, text, set };
}

const two = {
  'epic-1': 'backlog',
  '1-1-setup': 'done',
  '1-2-login': 'ready-for-dev',
  'epic-1-retrospective': 'optional',
};

describe('the status of a story', () => {
  it.each(['1.2', '1-2', '1-2-login'])(
    'is set in the ledger and the file by %s, and its epic begins',
    async (name) => {
      const files = { [LEDGER]: ledger(two), [`${impl}/1-2-login.md`]: story('1.2', 'ready-for-dev') };
      const { set, text } = await project(files);
      const { said } = await set(name, 'in-progress');
      expect(await text(LEDGER)).toBe(
        files[LEDGER]
          ?.replace('epic-1: backlog', 'epic-1: in-progress')
          .replace('login: ready-for-dev', 'login: in-progress'),
      );
      expect(await text(`${impl}/1-2-login.md`)).toBe(story('1.2', 'in-progress'));
      expect(said).toContain('1-2-login: ready-for-dev → in-progress');
      expect(said).toContain('-Status: ready-for-dev\n+Status: in-progress');
      expect(said).toContain('-  1-2-login: ready-for-dev');
      expect((await set(name, 'in-progress')).said).toContain(
        '1-2-login is already in-progress; nothing was written.',
      );
    },
  );

  it('is shown first, and only what was shown is written; its way back is named', async () => {
    const files = { [LEDGER]: ledger(two), [`${impl}/1-2-login.md`]: story('1.2', 'ready-for-dev') };
    const { ok, fail, text } = await project(files);
    const asked = { story: '1.2', status: 'review' };
    const shown = await ok(storyStatus, { ...asked, show: true });
    expect(shown.answer.body).toMatch(/^Nothing was written\.\n/);
    expect(shown.answer.body).toContain('+  1-2-login: review');
    expect(await text(LEDGER)).toBe(files[LEDGER]);
    const { proposal } = shown.data;
    const changed = await fail(storyStatus, { ...asked, proposal: 'another' });
    expect(changed).toMatchObject({ code: 'conflict' });
    expect(await text(LEDGER)).toBe(files[LEDGER]);
    const { data } = await ok(storyStatus, { ...asked, proposal });
    expect(await text(LEDGER)).toContain('1-2-login: review');
    expect(storyStatus.undo?.(data as never)).toEqual({
      operation: 'story_status',
      args: { story: '1-2-login', status: 'ready-for-dev' },
    });
    expect(storyStatus.undo?.(shown.data as never)).toBeUndefined();
  });

  it('tells who looks at it before it is done that no receipt proves it', async () => {
    const files = {
      [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
      [LEDGER]: ledger(two),
    };
    const { ok } = await project(files);
    const notes = async (status: string, show: boolean) =>
      ((await ok(storyStatus, { story: '1.2', status, show })).data['notes'] as string[]).join('\n');
    expect(await notes('review', true)).not.toContain('No receipt');
    expect(await notes('done', true)).toContain(
      'No receipt proves it: the completion contract has not been run.',
    );
    expect(await notes('done', false)).not.toContain('No receipt');
  });

  it('keeps comments, quotation marks, line ends and everything else to the byte', async () => {
    const before =
      '\uFEFF# mine\r\nlast_updated: 2026-01-01 10:00 # hand\r\ndevelopment_status:\r\n  epic-1: "in-progress"\r\n  1-2-login: \'review\'   # soon\r\n  zebra: 7';
    const file =
      '# Story 1.2: Login\r\n\r\n**Status:** *review* <!-- by Ada -->\r\n\r\n## Story\r\n\r\nStatus: not this one\r\n';
    const { set, text } = await project({ [LEDGER]: before, [`${impl}/1-2-login.md`]: file });
    await set('1.2', 'done');
    const after = await text(LEDGER);
    const stamped = /last_updated: (\S+ \S+) # hand/.exec(after)?.[1] ?? '';
    expect(stamped).toMatch(/^\d{4}-\d{2}-\d{2} \d{2}:\d{2}$/);
    expect(after).toBe(before.replace('2026-01-01 10:00', stamped).replace("'review'", "'done'"));
    expect(await text(`${impl}/1-2-login.md`)).toBe(file.replace('*review*', '*done*'));
  });

  it('takes the words of version 4 where the project has that, in a section or a heading', async () => {
    const { set, text, fail } = await project({
      ...V4,
      'docs/prd.md':
        '# PRD\n\n## Epic 1: Base\n\n### Story 1.1: Setup\n\n### Story 1.2: Login\n\n### Story 1.3: Later\n',
      'docs/stories/1.1.setup.md': v4Story('1.1', 'Draft'),
      'docs/stories/1.2.login.md': '# Story 1.2: Login\n\n## Story\n\nAs a user\n',
    });
    expect((await set('1.1', 'approved')).said).toContain('Draft → Approved');
    expect(await text('docs/stories/1.1.setup.md')).toBe(v4Story('1.1', 'Approved'));
    await set('1-1', 'InProgress');
    await set('1.1', 'Ready for Review');
    expect((await set('1.1', 'draft')).notes).toBe('This is a step back: 1.1 was Ready for Review.');
    await set('1.2', 'Draft');
    expect(await text('docs/stories/1.2.login.md')).toBe(
      '# Story 1.2: Login\n\n## Status\n\nDraft\n\n## Story\n\nAs a user\n',
    );
    expect((await fail(storyStatus, { story: '1.1', status: 'ready-for-dev' })).hint).toBe(
      'One of: Draft, Approved, InProgress, Ready for Review, Review, Ready for Done, Done.',
    );
    expect((await fail(storyStatus, { story: '1.3', status: 'Draft' })).text).toContain(
      'is only planned (docs/prd.md:9)',
    );
  });

  it('writes into the front matter of a spec what the ledger means for it', async () => {
    const spec = (word: string): string =>
      `---\ntitle: 'Login'\nstatus: '${word}' # draft | done\nroute: oneshot\n---\n\n# Story 1.2: Login\n`;
    const path = `${impl}/spec-1-2-login.md`;
    const { set, text } = await project({ [LEDGER]: ledger(two), [path]: spec('ready-for-dev') });
    await set('1-2', 'in-review');
    expect(await text(path)).toBe(spec('in-review'));
    expect(await text(LEDGER)).toContain('1-2-login: in-progress');
    await set('1-2', 'review');
    expect(await text(path)).toBe(spec('done'));
    expect(await text(LEDGER)).toContain('1-2-login: review');
  });

  it('sets a spec that belongs to no story by its name', async () => {
    const path = `${impl}/spec-dark-mode.md`;
    const { set, text } = await project({ [path]: '---\ntitle: Dark\nstatus: draft\n---\n\n# Dark mode\n' });
    await set('spec-dark-mode', 'ready-for-dev');
    expect(await text(path)).toBe('---\ntitle: Dark\nstatus: ready-for-dev\n---\n\n# Dark mode\n');
  });

  it('leaves the end of an epic to people, says so, and takes it by its key', async () => {
    const { set, text } = await project({ [LEDGER]: ledger({ ...two, 'epic-1': 'in-progress' }) });
    const { notes, ends, said } = await set('1-2-login', 'done');
    expect(notes).toContain('It has no story file, so only the ledger is set.');
    expect(ends).toBe('epic-1');
    expect(said).toContain('All stories of epic-1 are done; its own row is unchanged.');
    expect(await text(LEDGER)).toContain('epic-1: in-progress');
    await set('epic-1', 'done');
    await set('epic-1-retrospective', 'done');
    expect(await text(LEDGER)).toContain(
      'epic-1: done\n  1-1-setup: done\n  1-2-login: done\n  epic-1-retrospective: done\n',
    );
    const back = await set('1.2', 'in-progress');
    expect(back.notes).toContain('This is a step back: 1-2-login was done.');
    expect(back.notes).toContain('epic-1 is done, and this story is not.');
  });

  it('begins an epic when its first story is written, where the legend of the ledger says so', async () => {
    const legend = "# - Epic transitions to 'in-progress' automatically when first story is created\n";
    const rows = ledger({ 'epic-1': 'backlog', '1-1-setup': 'backlog' });
    const early = await project({ [LEDGER]: legend + rows });
    await early.set('1.1', 'ready-for-dev');
    expect(await early.text(LEDGER)).toContain('epic-1: in-progress');
    const late = await project({ [LEDGER]: rows });
    await late.set('1.1', 'ready-for-dev');
    expect(await late.text(LEDGER)).toContain('epic-1: backlog');
  });

  it('keeps the words of the early alphas in a ledger that explains them', async () => {
    const before = `# contexted, drafted, completed\n${ledger({ 'epic-1': 'contexted', '1-1-setup': 'backlog', 'epic-1-retrospective': 'optional' })}`;
    const { set, text, fail } = await project({ [LEDGER]: before });
    await set('1.1', 'drafted');
    await set('epic-1-retrospective', 'completed');
    expect(await text(LEDGER)).toBe(
      before.replace('setup: backlog', 'setup: drafted').replace('optional', 'completed'),
    );
    expect((await fail(storyStatus, { story: 'epic-1', status: 'begun' })).hint).toBe(
      'One of: backlog, contexted, done.',
    );
  });
});

describe('a status that cannot be set', () => {
  it('of a story that is not there names those that are near', async () => {
    const { fail } = await project({ [LEDGER]: ledger(two) });
    const error = await fail(storyStatus, { story: '1.7', status: 'done' });
    expect([error.code, error.suggestions]).toEqual(['not_found', ['1-1-setup', '1-2-login']]);
    expect((await fail(storyStatus, { story: '1-2-logon', status: 'done' })).suggestions[0]).toBe(
      '1-2-login',
    );
    expect((await fail(storyStatus, { story: 'the login story', status: 'done' })).code).toBe('not_found');
  });

  it.each([
    [
      'a broken ledger',
      `development_status:\n  1-2-login: [\n`,
      /sprint-status\.yaml:\d+: it is not valid YAML/,
    ],
    [
      'a key that stands twice',
      `${ledger(two)}  1-2-login: done\n`,
      /1-2-login appears in .* more than once, on lines 7 and 9/,
    ],
    [
      'two keys of one number',
      `${ledger(two)}  1-2-logon: done\n`,
      /several rows for 1-2: 1-2-login, 1-2-logon/,
    ],
    [
      'a value of several lines',
      'development_status:\n  1-2-login: >\n    ready-for-dev\n',
      /cannot be changed in its place/,
    ],
  ])('because of %s leaves every file as it is', async (_, text, message) => {
    const path = `${impl}/1-2-login.md`;
    const session = await project({ [LEDGER]: text, [path]: story('1.2', 'ready-for-dev') });
    expect((await session.fail(storyStatus, { story: '1-2', status: 'done' })).text).toMatch(message);
    expect([await session.text(LEDGER), await session.text(path)]).toEqual([
      text,
      story('1.2', 'ready-for-dev'),
    ]);
  });

  it('in one of the two is set in neither', async () => {
    const path = `${impl}/stories/1-2-login.md`;
    const session = await project({ [LEDGER]: ledger(two), [path]: story('1.2', 'ready-for-dev') });
    // The file is written first; the ledger is a link, which nothing is written through.
    const real = join(session.folder, 'real.yaml');
    await writeFile(real, ledger(two));
    await rm(join(session.folder, LEDGER));
    await symlink(real, join(session.folder, LEDGER));
    expect((await session.fail(storyStatus, { story: '1.2', status: 'review' })).code).toBe('forbidden');
    expect(await session.text(path)).toBe(story('1.2', 'ready-for-dev'));
    expect(await readFile(real, 'utf8')).toBe(ledger(two));
  });

  it.skipIf(process.getuid?.() === 0)('in a folder without rights is set in neither', async () => {
    const session = await project({
      [LEDGER]: ledger(two),
      [`docs/stories/1-2-login.md`]: story('1.2', 'ready-for-dev'),
    });
    await chmod(join(session.folder, impl), 0o500);
    await session.fail(storyStatus, { story: '1.2', status: 'review' });
    await chmod(join(session.folder, impl), 0o700);
    expect(await session.text('docs/stories/1-2-login.md')).toBe(story('1.2', 'ready-for-dev'));
  });

  it('of several callers at once is set for all of them, and no lock stays behind', async () => {
    const keys = Array.from({ length: 8 }, (_, index) => `1-${index + 1}-part`);
    const rows = Object.fromEntries([
      ['epic-1', 'backlog'],
      ...keys.map((key) => [key, 'backlog']),
    ]) as Record<string, string>;
    const files = Object.fromEntries(
      keys.map((key, index) => [`${impl}/${key}.md`, story(`1.${index + 1}`, 'ready-for-dev')]),
    );
    const session = await project({ [LEDGER]: ledger(rows), ...files });
    const others = await Promise.all(keys.map(() => contextIn(session.folder)));
    await Promise.all(
      keys.map((key, index) =>
        execute(storyStatus, { story: key, status: 'review' }, others[index] ?? others[0]!, testCall()),
      ),
    );
    const text = await session.text(LEDGER);
    expect(keys.map((key) => text.includes(`${key}: review`))).toEqual(keys.map(() => true));
    expect((await readdir(join(session.folder, impl))).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('is refused to those who may only read', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, { [LEDGER]: ledger(two) });
    const context = await contextIn(folder);
    const args = { action: 'story_status', args: { story: '1.2', status: 'done' } };
    const outcome = await execute(manageProject, args, context, { ...testCall(), mayWrite: false });
    expect(outcome.ok).toBe(false);
    expect(await readFile(join(folder, LEDGER), 'utf8')).toBe(ledger(two));
  });
});

describe('beside it', () => {
  it('a second ledger is left alone and told', async () => {
    const second = `${out}/sprint-status.yaml`;
    const { set, text } = await project({ [LEDGER]: ledger(two), [second]: ledger(two) });
    expect((await set('1.2', 'review')).notes).toContain(`${second} is a second ledger and is left alone.`);
    expect(await text(second)).toBe(ledger(two));
  });

  it('nothing is left for reconcile_ledgers to do', async () => {
    const { set, ok } = await project({
      [LEDGER]: ledger(two),
      [`${impl}/1-2-login.md`]: story('1.2', 'ready-for-dev'),
    });
    for (const word of ['in-progress', 'review']) await set('1.2', word);
    expect((await ok(reconcileLedgers)).data['ledgers']).toEqual([]);
  });
});
