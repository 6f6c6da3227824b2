import { readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { EPICS, impl, ledger, out, planned604, story } from '../../../tests/support/progress-trees/pieces.ts';
import { execute } from '../execute.ts';
import { manageProject } from '../unified/action-tool.ts';
import { next } from './next.ts';
import { sprintPlan } from './ledgers.ts';

const LEDGER = `${impl}/sprint-status.yaml`;
const PLAN = { [`${out}/epics.md`]: EPICS };

async function project(files: Readonly<Record<string, string>>) {
  const session = await openSession(afterAll);
  await writeFiles(session.folder, files);
  const text = (path = LEDGER): Promise<string> => readFile(join(session.folder, path), 'utf8');
  return { ...session, text };
}

const rowsOf = (text: string): string[] =>
  text.slice(text.indexOf('development_status:')).split('\n').slice(1, -1);

describe('sprint_plan', () => {
  it('shows the ledger made from the epics, and writes it only with apply', async () => {
    const { ok, fail, text, folder } = await project(PLAN);
    const shown = await ok(sprintPlan);
    expect(shown.answer.body).toMatch(/^Nothing was written\.\n/);
    expect(shown.answer.body).toContain(`${LEDGER}, new: 2 epics, 3 stories.`);
    expect(shown.answer.body).toContain('+  1-2-login: backlog');
    expect(shown.answer.body).not.toContain('STATUS DEFINITIONS');
    expect(shown.data['applied']).toBe(false);
    await writeFiles(folder, { [`${impl}/1-1-setup.md`]: story('1.1', 'ready-for-dev') });
    expect((await fail(sprintPlan, { apply: true, proposal: shown.data['proposal'] })).code).toBe('conflict');
    const { proposal } = (await ok(sprintPlan)).data;
    await ok(sprintPlan, { apply: true, proposal });
    expect(rowsOf(await text())).toEqual([
      '  epic-1: backlog',
      '  1-1-setup: ready-for-dev',
      '  1-2-login: backlog',
      '  epic-1-retrospective: optional',
      '',
      '  epic-2: backlog',
      '  2-1-cart: backlog',
      '  epic-2-retrospective: optional',
    ]);
    expect((await ok(sprintPlan)).answer.body).toBe(
      `${LEDGER} already has everything that the epics have: 2 epics, 3 stories.`,
    );
    expect((await ok(next)).answer.body).not.toContain('sprint-planning');
  });

  it('says how much the diff leaves out, and after writing only what was written', async () => {
    const { ok, text } = await project({ [`${out}/epics.md`]: EPICS });
    const shown = await ok(sprintPlan);
    const { answer } = await ok(sprintPlan, { apply: true, proposal: shown.data['proposal'] });
    expect(answer.body).toBe(`${LEDGER} was written: 2 epics, 3 stories.`);
    const comments = (await text()).split('\n').filter((line) => line.startsWith('#'));
    expect(shown.answer.body).toContain(
      `The legend is shortened here to "# …"; the file has it in full, as ${comments.length} comment lines.`,
    );
  });

  it('is named by "next" beside the workflow that does the same, where there are epics', async () => {
    const READINESS = {
      [`${out}/implementation-readiness-report-2026-01-01.md`]:
        '# Report\n\n### Overall Readiness Status\n\nREADY\n',
    };
    const { ok } = await project({ ...planned604, ...READINESS });
    expect((await ok(next)).answer.body).toMatch(
      /Plan the sprint: .*\n {3}.*sprint-planning.*\n {3}Or make the ledger from the epics: manage_project \{action:"sprint_plan"\}/,
    );
    const quick = await project({
      [`${out}/tech-spec.md`]: `---\nstatus: complete\n---\n\n${EPICS.replaceAll(/^#+ (?:Epic|Story).*$/gm, '')}`,
    });
    const { body } = (await quick.ok(next)).answer;
    expect(body).not.toContain('sprint_plan');
  });

  it('keeps comments, order, line ends, words of people and the key that a row has', async () => {
    const before =
      '# ours\r\nowner: Ada\r\ndevelopment_status:\r\n    # first\r\n    1-2-log-in: review # soon\r\n    epic-1: in-progress\r\n    1-1-setup: shipped\r\n    zebra: 7\r\n# the end';
    const { ok, text } = await project({ ...PLAN, [LEDGER]: before });
    const { answer } = await ok(sprintPlan, { apply: true });
    expect(answer.body).toContain('"shipped" is not a status of BMAD; it was left alone.');
    expect(await text()).toBe(
      before
        .replace('1-1-setup: shipped\r\n', '1-1-setup: shipped\r\n')
        .replace(
          '1-2-log-in: review # soon\r\n',
          '1-2-log-in: review # soon\r\n    epic-1-retrospective: optional\r\n\r\n    epic-2: backlog\r\n    2-1-cart: backlog\r\n    epic-2-retrospective: optional\r\n',
        ),
    );
  });

  it('leaves rows that are in no epic where they are, and takes them out when told to', async () => {
    const rows = {
      'epic-1': 'in-progress',
      '1-1-setup': 'done',
      '1-2-login': 'backlog',
      '1-9-ghost': 'done',
      'epic-1-retrospective': 'optional',
      'epic-2': 'backlog',
      '2-1-cart': 'backlog',
      'epic-2-retrospective': 'optional',
    };
    const { ok, text } = await project({ ...PLAN, [LEDGER]: ledger(rows) });
    expect((await ok(sprintPlan, { apply: true })).answer.body).toContain(
      'In no epic; they stay unless "drop" is given:\n- 1-9-ghost: done',
    );
    expect(await text()).toBe(ledger(rows));
    const shown = await ok(sprintPlan, { drop: true });
    expect(shown.answer.steps?.[0]?.args).toMatchObject({ apply: true, drop: true });
    await ok(sprintPlan, { apply: true, drop: true, proposal: shown.data['proposal'] });
    expect(await text()).toBe(ledger(rows).replace('  1-9-ghost: done\n', ''));
  });

  it('reads epics that are spread over a folder, and asks which version is meant where there are two', async () => {
    const shards = {
      [`${out}/epics/epic-1.md`]: '# Epic 1: Base\n\n## Story 1.1: Setup\n',
      [`${out}/epics/epic-2.md`]: '# Epic 2: Shop\n\n## Story 2.1: Cart\n',
    };
    const spread = await project(shards);
    await spread.ok(sprintPlan, { apply: true });
    expect(rowsOf(await spread.text()).filter(Boolean)).toHaveLength(6);
    const both = await project({ ...shards, ...PLAN });
    const error = await both.fail(sprintPlan, { apply: true });
    expect(error.code).toBe('ambiguous');
    expect(error.text).toMatch(/Story 1\.1 is planned in .*epics\/epic-1\.md:3 and in .*epics\.md:\d+/);
    await both.ok(sprintPlan, { apply: true, epics: [`${out}/epics.md`] });
    expect(await both.text()).toContain('1-2-login: backlog');
  });

  it.each([
    ['no epics', { 'README.md': 'x' }, 'No epics were found'],
    [
      'a broken ledger',
      { ...PLAN, [LEDGER]: 'development_status:\n  epic-1: [\n' },
      'The ledger cannot be used; nothing was written.',
    ],
    [
      'rows in one line',
      { ...PLAN, [LEDGER]: 'development_status: {epic-1: backlog}\n' },
      'has its rows on one line',
    ],
    ['version 4', { '.bmad-core/agents/dev.md': 'x', 'docs/prd.md': EPICS }, 'BMAD 4 keeps no ledger'],
  ])('refuses with %s and writes nothing', async (_, files: Readonly<Record<string, string>>, message) => {
    const { fail, text } = await project(files);
    expect((await fail(sprintPlan, { apply: true })).text).toContain(message);
    expect(await text().catch(() => undefined)).toBe(files[LEDGER]);
  });

  it('leaves both rows of a key that stands twice, and a second ledger', async () => {
    const twice = `${ledger({ 'epic-1': 'backlog', '1-1-setup': 'backlog' })}  1-1-setup: done\n`;
    const second = `${out}/sprint-status.yaml`;
    const { ok, text } = await project({ ...PLAN, [LEDGER]: twice, [second]: twice });
    const { answer } = await ok(sprintPlan, { apply: true });
    expect(answer.body).toContain(
      '1-1-setup appears in the ledger more than once; its rows were left alone.',
    );
    expect(answer.body).toContain(`${second} is a second ledger and is left alone.`);
    expect((await text()).match(/1-1-setup: \w+/g)).toEqual(['1-1-setup: backlog', '1-1-setup: done']);
    expect(await text(second)).toBe(twice);
  });

  it('writes nothing through a link, and nothing that has changed since it was shown', async () => {
    const { ok, fail, folder, text } = await project(PLAN);
    const { data } = await ok(sprintPlan);
    await writeFile(join(folder, `${out}/epics.md`), `${EPICS}\n### Story 2.2: Till\n`);
    expect((await fail(sprintPlan, { apply: true, proposal: data['proposal'] })).code).toBe('conflict');
    await ok(sprintPlan, { apply: true });
    const real = join(folder, 'real.yaml');
    await writeFile(real, ledger({ 'epic-1': 'backlog' }));
    await rm(join(folder, LEDGER));
    await symlink(real, join(folder, LEDGER));
    expect((await fail(sprintPlan, { apply: true })).code).toBe('forbidden');
    expect(await text()).toBe(ledger({ 'epic-1': 'backlog' }));
  });

  it('shows and does not write where the caller may only read', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, PLAN);
    const context = await contextIn(folder);
    const call = { ...testCall(), mayWrite: false };
    const asked = (args: object) => execute(manageProject, { action: 'sprint_plan', args }, context, call);
    expect((await asked({})).ok).toBe(true);
    expect((await asked({ apply: true })).ok).toBe(false);
    await expect(readFile(join(folder, LEDGER))).rejects.toThrow('ENOENT');
  });
});
