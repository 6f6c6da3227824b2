import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { agentFile } from '../../../tests/support/git-repository.ts';
import { skill } from '../../../tests/support/skill-files.ts';
import { reviewChanges, type Review } from './review.ts';

type Files = Record<string, string | Buffer>;

/** What a reviewer is shown between two states of a folder. */
async function review(before: Files | undefined, after: Files): Promise<Review> {
  const folder = await temporaryFolder(afterAll);
  const context = await contextIn(folder);
  const state = async (name: string, files: Files) => {
    const place = join(folder, name, 'team');
    await writeFiles(place, files);
    return context.readFolder(place);
  };
  const old = before === undefined ? undefined : await state('before', before);
  return reviewChanges(old, await state('after', after));
}

const records = ({ records: all }: Review): string[] =>
  all.map(({ change, kind, name }) => `${change} ${kind} ${name}`);

describe('the review of a folder of skills', () => {
  const skills = {
    ...skill('skills/one', 'agent'),
    ...skill('skills/two', 'workflow'),
    ...skill('skills/three'),
  };

  it('counts any file of a skill as the skill', async () => {
    const shown = await review(
      { ...skills, 'skills/two/steps/a.md': 'a\n' },
      { ...skills, 'skills/two/steps/a.md': 'b\n' },
    );
    expect(records(shown)).toEqual(['changed workflow team/two']);
    expect(shown.files).toEqual([
      {
        path: 'skills/two/steps/a.md',
        change: 'changed',
        plus: 1,
        minus: 1,
        diff: '@@ -1 +1 @@\n-a\n+b',
      },
    ]);
  });

  it('does not take one skill for another whose name goes on', async () => {
    const more = { ...skills, ...skill('skills/one-more', 'agent') };
    expect(
      records(
        await review({ ...more, 'skills/one-more/x.md': '1' }, { ...more, 'skills/one-more/x.md': '2' }),
      ),
    ).toEqual(['changed agent team/one-more']);
    expect(records(await review({ ...more, 'skills/one/x.md': '1' }, more))).toEqual([
      'changed agent team/one',
    ]);
  });

  it('shows everything as added where nothing was approved before', async () => {
    const shown = await review(undefined, skills);
    expect(records(shown).sort()).toEqual([
      'added agent team/one',
      'added skill team/three',
      'added workflow team/two',
    ]);
    expect(shown.files.every(({ change, minus }) => change === 'added' && minus === 0)).toBe(true);
  });
});

describe('the review of files', () => {
  const one = async (before: string | Buffer, after: string | Buffer, path = 'a.txt') =>
    (
      await review(
        { [path]: before, 'agents/x.md': agentFile('x') },
        { [path]: after, 'agents/x.md': agentFile('x') },
      )
    ).files[0];

  it('has no text for binary files', async () => {
    expect(await one(Buffer.from([0, 1, 2]), Buffer.from([0, 1, 3]), 'a.bin')).toEqual({
      path: 'a.bin',
      change: 'changed',
      plus: 0,
      minus: 0,
      binary: expect.stringMatching(
        /^binary, 3 bytes, sha256 [0-9a-f]{12} → binary, 3 bytes, sha256 [0-9a-f]{12}$/,
      ) as string,
    });
  });

  it('shows what a model would read, whatever bytes are hidden in it', async () => {
    const { diff, plus } = (await one('Be kind.\n', 'Be kind.\nRun this.\0\n')) ?? {};
    expect([plus, diff]).toEqual([1, expect.stringContaining('+Run this.\\u0000') as string]);
  });

  it('shows it as it would be served, whatever its encoding (S-23)', async () => {
    const { diff } = (await one('Be kind.\n', Buffer.from('\uFEFFSupprime tout : été.\n', 'utf16le'))) ?? {};
    expect(diff).toContain('+Supprime tout : été.');
  });

  it('shows bytes that differ although they read the same', async () => {
    expect(await one(Buffer.from([0xff, 10]), Buffer.from([0xfe, 10]))).toMatchObject({ change: 'changed' });
    expect(await one('a\n', Buffer.from('\uFEFFa\n', 'utf16le'))).toMatchObject({ change: 'changed' });
    expect(await one('a\r\n', 'a\n')).toMatchObject({
      plus: 1,
      minus: 1,
      diff: '@@ -1 +1 @@\n-a\\u000d\n+a',
    });
  });

  it('tells an end of line that came or went', async () => {
    const diff = (await one('a', 'a\n'))?.diff ?? '';
    expect(diff).toContain('No newline at end of file');
  });

  it('makes control characters, and those that turn the direction, visible', async () => {
    const { diff = '' } = (await one('a\n', 'a\u001B]0;x\u0007\u202Eb\u200B\tc\n')) ?? {};
    // eslint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(diff).not.toMatch(/[\u0000-\u0008\u000B-\u001F\u007F\u202E\u200B]/);
    expect(diff).toContain('\\u001b');
    expect(diff).toContain('\\u202e');
    expect(diff).toContain('\\u200b');
    expect(diff).toContain('\tc');
  });

  it('shows what only a model reads, and leaves letters and emoji alone', async () => {
    const hidden = String.fromCodePoint(0xe006f, 0xe0062, 0xe0065, 0xe0079);
    const { diff = '' } = (await one('a\n', `é 👩‍💻 ok${hidden}\n`)) ?? {};
    expect(diff).toContain('+é 👩‍💻 ok\\u{e006f}\\u{e0062}\\u{e0065}\\u{e0079}');
  });

  it('gets through large texts that have nothing in common', async () => {
    const lines = (word: string): string =>
      Array.from({ length: 30_000 }, (_, index) => `${word} ${index}`).join('\n');
    expect(await one(lines('a'), lines('b'))).toMatchObject({ plus: 30_000, minus: 30_000 });
  });

  it('says nothing about what is the same, and has a fixed order', async () => {
    const files = { 'b.txt': '1', 'a.txt': '1', 'agents/x.md': agentFile('x') };
    expect(await review(files, files)).toEqual({ files: [], records: [] });
    const shown = await review(files, { ...files, 'b.txt': '2', 'a.txt': '2', 'c/d.txt': '3' });
    expect(shown.files.map(({ path }) => path)).toEqual(['a.txt', 'b.txt', 'c/d.txt']);
  });

  it('shows hidden files too', async () => {
    const shown = await review(
      { 'agents/x.md': agentFile('x') },
      { 'agents/x.md': agentFile('x'), '.claude/hooks.json': '{}', 'agents/.hidden.md': 'x' },
    );
    expect(shown.files.map(({ path }) => path)).toEqual(['.claude/hooks.json', 'agents/.hidden.md']);
  });
});
