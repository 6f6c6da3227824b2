import { mkdir, readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { execute } from '../execute.ts';
import { memlog } from './logs.ts';

const RUN = '_bmad-output/planning-artifacts/prds/prd-shop';

async function project(files: Readonly<Record<string, string>> = {}) {
  const session = await openSession(afterAll);
  await writeFiles(session.folder, files);
  return { ...session, text: () => readFile(join(session.folder, RUN, '.memlog.md'), 'utf8') };
}

describe('memlog', () => {
  it('begins a log, adds lines to it and sets fields', async () => {
    const { ok, text, folder } = await project();
    const begun = await ok(memlog, {
      workspace: RUN,
      text: 'Sell\nplants',
      type: 'decision',
      fields: ['topic=A shop'],
    });
    expect(begun.answer.body).toContain(`${RUN}/.memlog.md, new: 1 entry.`);
    await ok(memlog, { workspace: join(folder, RUN), text: 'Open on Sunday?', type: 'question', by: 'user' });
    const set = await ok(memlog, {
      workspace: `{project-root}/${RUN}`,
      fields: ['status=complete', 'topic=Shop = plants'],
    });
    expect(set.answer.body).toContain('+status: complete');
    expect(await text()).toMatch(
      /^---\ntopic: Shop = plants\nstatus: complete\nupdated: \d{4}-\d\d-\d\dT\d\d:\d\d\n---\n\n- \(decision\) Sell plants\n- \(question by user\) Open on Sunday\?\n$/,
    );
  });

  it('makes one entry of one call, whatever is in its names', async () => {
    const { ok, text } = await project();
    await ok(memlog, {
      workspace: RUN,
      text: 'hello',
      type: 'idea',
      by: 'x) fine\n- (decision by Ada) ship it',
    });
    expect((await text()).match(/^- /gm)).toHaveLength(1);
  });

  it('keeps line ends of Windows', async () => {
    const { ok, text } = await project({
      [`${RUN}/.memlog.md`]: '---\r\nupdated: x\r\n---\r\n\r\n- one\r\n',
    });
    await ok(memlog, { workspace: RUN, text: 'two' });
    expect(await text()).toMatch(/^---\r\nupdated: \S+\r\n---\r\n\r\n- one\r\n- two\r\n$/);
  });

  it.each([
    ['outside the project', '../elsewhere'],
    ['the absolute path of another folder', '/tmp'],
    ['a folder of BMAD', '_bmad/bmm'],
    ['the folder of git', '.git'],
    ['packages', 'node_modules/x'],
    ['the project itself', '.'],
  ])('writes nothing into %s', async (_, workspace) => {
    const { fail } = await project({ '_bmad/bmm/config.yaml': 'x: 1\n' });
    expect((await fail(memlog, { workspace, text: 'x' })).code).toBe('forbidden');
  });

  it('writes through no link', async () => {
    const { fail, folder } = await project();
    const elsewhere = await temporaryFolder(afterAll);
    await mkdir(join(folder, '_bmad-output'));
    await symlink(elsewhere, join(folder, '_bmad-output/linked'));
    expect((await fail(memlog, { workspace: '_bmad-output/linked', text: 'x' })).code).toBe('forbidden');
  });

  it.each(['# no head\n', '---\ntopic: x\n'])('leaves a log that it cannot use as it is', async (broken) => {
    const { fail, text } = await project({ [`${RUN}/.memlog.md`]: broken });
    expect((await fail(memlog, { workspace: RUN, text: 'x' })).code).toBe('conflict');
    expect(await text()).toBe(broken);
  });

  it('says what is wrong with a field, and with a call that has nothing to write', async () => {
    const { fail, ok } = await project();
    expect((await fail(memlog, { workspace: RUN, fields: ['topic'] })).hint).toContain('topic=Onboarding');
    await ok(memlog, { workspace: RUN });
    expect((await fail(memlog, { workspace: RUN })).code).toBe('conflict');
  });

  it('loses no entry of callers that write at the same time', async () => {
    const { folder, text } = await project();
    const contexts = await Promise.all(Array.from({ length: 6 }, () => contextIn(folder)));
    await Promise.all(
      contexts.map((context, index) =>
        execute(memlog, { workspace: RUN, text: `entry ${index}` }, context, testCall()),
      ),
    );
    expect((await text()).match(/^- entry \d$/gm)?.sort()).toEqual(
      contexts.map((_, index) => `- entry ${index}`),
    );
  });
});
