import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../tests/support/folders.ts';
import { refusal } from '../../tests/support/thrown.ts';
import { findProject } from './project-root.ts';

const folder = await temporaryFolder(afterAll);
await writeFiles(folder, {
  'home/': '',
  'team/a/project-context.yaml': 'project:\n  name: A\n',
  'team/a/deep/_bmad/': '',
  'team/a/deep/src/': '',
  'team/b/.git/HEAD': '',
  'team/c/bmad-mcp.toml': '',
  'team-other/': '',
  'elsewhere/secret/': '',
  'started/': '',
});
await linkFolder(join(folder, 'elsewhere'), join(folder, 'team/out'));
await linkFolder(join(folder, 'team/a'), join(folder, 'way-in'));
await linkFolder(join(folder, 'team'), join(folder, 'linked-team'));

const hints = { cwd: join(folder, 'started'), home: join(folder, 'home') };
const allowed = [join(folder, 'linked-team')];

describe('the projects a call may name', () => {
  it.each([
    ['.', 'started'],
    ['../team', 'team'],
    ['../team/a', 'team/a'],
    ['../team/a/deep', 'team/a/deep'],
    ['../team/b', 'team/b'],
    ['../team/c', 'team/c'],
    ['../way-in', 'team/a'],
    ['../linked-team/a', 'team/a'],
  ])('are those that are allowed, and what is below: %s', async (call, root) => {
    expect(await findProject({ ...hints, call, allowed, fixed: true })).toMatchObject({
      root: join(folder, root),
    });
  });

  it.each([
    '..',
    '/',
    '../home',
    '../team-other',
    '../elsewhere',
    '../team/out',
    '../team/out/secret',
    '../none',
  ])('are not others, of which nothing is told: %s', async (call) => {
    const error = await refusal(() => findProject({ ...hints, call, allowed, fixed: true }));
    expect(error.code).toBe('forbidden');
    expect(error.message).toBe(`This server does not serve the project folder "${call}".`);
    expect(error.hint).toContain('allow_projects');
    expect(error.text).not.toContain(folder);
  });

  it('are projects, not any folder below what is allowed (S-04)', async () => {
    const error = await refusal(() =>
      findProject({ ...hints, call: '../team/a/deep/src', allowed, fixed: true }),
    );
    expect(error.code).toBe('forbidden');
    expect(error.message).toBe('The folder "../team/a/deep/src" is not a project.');
    expect(error.text).not.toContain(folder);
    // The same where calls may name any project.
    expect((await refusal(() => findProject({ ...hints, call: '../team/a/deep/src' }))).message).toBe(
      error.message,
    );
  });

  it('must exist, which is told of what is allowed only', async () => {
    const error = await refusal(() => findProject({ ...hints, call: 'none', allowed, fixed: true }));
    expect(error.message).toContain('there is no such folder');
  });

  it('are never home and the root of the disk, even below what is allowed', async () => {
    const error = await refusal(() =>
      findProject({ ...hints, call: '../home', allowed: [folder], fixed: true }),
    );
    expect(error.message).toContain('home folder');
  });

  it('say nothing about the project the server was started for', async () => {
    expect(await findProject({ ...hints, allowed: [], fixed: true })).toMatchObject({ root: hints.cwd });
  });
});
