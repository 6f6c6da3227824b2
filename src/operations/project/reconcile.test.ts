import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { installOf } from '../../../tests/support/installs.ts';
import { openSession } from '../../../tests/support/operations.ts';
import { ledger, story, TEXT } from '../../../tests/support/progress-trees/pieces.ts';
import { execute } from '../execute.ts';
import { manageProject } from '../unified/action-tool.ts';
import { next } from './next.ts';
import { reconcileLedgers } from './ledgers.ts';

const IMPL = '_bmad-output/implementation-artifacts';
const LEDGER = `${IMPL}/sprint-status.yaml`;

interface Data {
  proposal: string;
  applied: boolean;
  ledgers: { file: string; changes: { key: string; from?: string; to: string }[]; diff: string }[];
  broken: { file: string; line?: number }[];
  left: string[];
}

async function project(files: Readonly<Record<string, string>>) {
  const session = await openSession(afterAll);
  await writeFiles(session.folder, files);
  const run = async (input = {}): Promise<Data> =>
    (await session.ok(reconcileLedgers, input)).data as unknown as Data;
  const text = (path = LEDGER): Promise<string> => readFile(join(session.folder, path), 'utf8');
  return { ...session, run, text };
}

const changesOf = ({ ledgers }: Data): string[] =>
  ledgers.flatMap(({ changes }) => changes.map(({ key, from, to }) => `${key}: ${from ?? 'none'} > ${to}`));

describe('reconcile', () => {
  it('shows the changes, and writes nothing until it is told to', async () => {
    const before = ledger({ 'epic-1': 'backlog', '1-1-setup': 'in-progress', '1-2-login': 'backlog' });
    const { run, text } = await project({ [LEDGER]: before, [`${IMPL}/1-1-setup.md`]: story('1.1', 'done') });
    const shown = await run();
    expect(changesOf(shown)).toEqual(['epic-1: backlog > in-progress', '1-1-setup: in-progress > done']);
    expect(shown.applied).toBe(false);
    expect(await text()).toBe(before);
    const done = await run({ apply: true, proposal: shown.proposal });
    expect(done.applied).toBe(true);
    expect(await text()).toBe(
      before
        .replace('epic-1: backlog', 'epic-1: in-progress')
        .replace('1-1-setup: in-progress', '1-1-setup: done'),
    );
    expect(changesOf(await run({ apply: true }))).toEqual([]);
  });

  it('names the changes after making them, and shows no diff again', async () => {
    const { ok } = await project({
      [LEDGER]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'in-progress' }),
      [`${IMPL}/1-1-setup.md`]: story('1.1', 'done'),
    });
    const { data, answer } = await ok(reconcileLedgers);
    expect(answer.body).toContain('```diff');
    const { body } = (await ok(reconcileLedgers, { apply: true, proposal: data['proposal'] })).answer;
    expect(body).toContain('- 1-1-setup: in-progress → done');
    expect(body).not.toContain('```');
  });

  it('keeps comments, quotation marks, order, unknown keys, line ends and the mark at the beginning', async () => {
    const before =
      '\uFEFF# legend: done\r\nlast_updated: "05-06-2025 21:30"   # by hand\r\nx-custom: {a: [1, 2]}\r\ndevelopment_status:\r\n' +
      '    epic-1:   \'in-progress\'   # ours\r\n    # a note\r\n    1-1-setup: "review" # almost\r\n\r\n    1-2-login:   # nobody knows\r\n    zebra: 7\r\nowner: Ada';
    const { run, text } = await project({
      [LEDGER]: before,
      [`${IMPL}/1-1-setup.md`]: story('1.1', 'done'),
      [`${IMPL}/1-2-login.md`]: story('1.2', 'review'),
    });
    const { ledgers } = await run({ apply: true });
    const after = await text();
    const date = /last_updated: "(\d{2}-\d{2}-\d{4} \d{2}:\d{2})" {3}# by hand\r\n/.exec(after)?.[1];
    expect(date).not.toBe('05-06-2025 21:30');
    expect(after).toBe(
      before
        .replace('05-06-2025 21:30', date ?? '')
        .replace('"review" # almost', '"done" # almost')
        .replace('1-2-login:   # nobody', '1-2-login: review   # nobody'),
    );
    expect(ledgers[0]?.diff).toContain(
      '-    1-1-setup: "review" # almost\n+    1-1-setup: "done" # almost\n',
    );
  });

  it('never lowers a status, and leaves words it cannot rank to people', async () => {
    const before = ledger({
      'epic-1': 'done',
      '1-1-setup': 'done',
      '1-2-login': 'shipped',
      '1-3-x': 'review',
    });
    const { run, text } = await project({
      [LEDGER]: before,
      [`${IMPL}/1-1-setup.md`]: story('1.1', 'in-progress'),
      [`${IMPL}/1-2-login.md`]: story('1.2', 'done'),
      [`${IMPL}/1-3-x.md`]: story('1.3', 'ready-for-dev'),
    });
    const { ledgers, left } = await run({ apply: true });
    expect(ledgers).toEqual([]);
    expect(left).toHaveLength(4);
    expect(await text()).toBe(before);
  });

  it('builds nothing on a story that the ledger calls done and its file does not', async () => {
    const before = ledger({
      'epic-1': 'in-progress',
      '1-1-setup': 'done',
      '1-2-login': 'in-progress',
      'epic-1-retrospective': 'optional',
    });
    const { run, text, ok } = await project({
      [LEDGER]: before,
      [`${IMPL}/1-1-setup.md`]: story('1.1', 'in-progress'),
      [`${IMPL}/1-2-login.md`]: story('1.2', 'done'),
    });
    const shown = await ok(next);
    expect(shown.answer.body).toContain('0 of 2 stories done');
    expect(shown.answer.body).not.toMatch(/retrospective|are done/);
    expect(shown.answer.body).toContain('Decide whether story 1-1-setup is done');
    const done = await run({ apply: true });
    expect(changesOf(done)).toEqual(['1-2-login: in-progress > done']);
    expect(done.left).toEqual([expect.stringContaining('1-1-setup: the ledger says done')]);
    expect(await text()).toContain('epic-1: in-progress');
    const after = await ok(next);
    expect(after.answer.body).toContain('1 of 2 stories done');
    expect(after.answer.body).not.toMatch(/retrospective|all 2/);
  });

  it('writes words as BMAD spells them, and adds rows for files that have none', async () => {
    const before = `${ledger({ 'epic-1': 'In_Progress', '1-1-setup': 'Done', 'epic-1-retrospective': 'optional', 'epic-2': 'backlog', '2-1-cart': 'backlog' })}action_items: []\n`;
    const { run, text } = await project({
      [LEDGER]: before,
      [`${IMPL}/1-2-login.md`]: story('1.2', 'review'),
      [`${IMPL}/1-3-out.md`]: story('1.3', 'ready-for-dev'),
      [`${IMPL}/9-1-lost.md`]: story('9.1', 'done'),
      [`${IMPL}/epic-2-retro-2026-01-01.md`]: `# R\n\n${TEXT}`,
    });
    const { left } = await run({ apply: true });
    expect(await text()).toBe(
      before
        .replace('In_Progress', 'in-progress')
        .replace('1-1-setup: Done\n', '1-1-setup: done\n  1-2-login: review\n  1-3-out: ready-for-dev\n'),
    );
    expect(left).toEqual([`${IMPL}/9-1-lost.md has no row in the ledger`]);
    expect((await run()).ledgers).toEqual([]);
  });

  it('closes an epic and its retrospective when all of it is proven', async () => {
    const rows = {
      'epic-1': 'in-progress',
      '1-1-setup': 'done',
      '1-2-login': 'review',
      'epic-1-retrospective': 'optional',
    };
    const { run } = await project({
      [LEDGER]: ledger(rows),
      [`${IMPL}/1-2-login.md`]: story('1.2', 'done'),
      [`${IMPL}/epic-1-retro-2026-01-01.md`]: `# Retrospective\n\n${TEXT}`,
    });
    expect(changesOf(await run())).toEqual([
      'epic-1: in-progress > done',
      '1-2-login: review > done',
      'epic-1-retrospective: optional > done',
    ]);
  });

  it('speaks the words of the alphas where the ledger does', async () => {
    const template = await readFile(
      join(
        await installOf('6.0.0-alpha.7'),
        'bmad/bmm/workflows/4-implementation/sprint-planning/sprint-status-template.yaml',
      ),
      'utf8',
    );
    const { run, text } = await project({
      'docs/sprint-status.yaml': template,
      'docs/stories/1-2-account-management.md': story('1.2', 'done'),
      'docs/stories/1-3-plant-data-model.md': story('1.3', 'drafted'),
      'docs/epic-1-retro-2026-01-01.md': `# Retrospective\n\n${TEXT}`,
    });
    await run({ apply: true });
    expect(await text('docs/sprint-status.yaml')).toBe(
      template
        .replace('1-2-account-management: drafted', '1-2-account-management: done')
        .replace('1-3-plant-data-model: backlog', '1-3-plant-data-model: drafted')
        .replace('epic-1-retrospective: optional', 'epic-1-retrospective: completed'),
    );
  });

  it('notes documents in the list of workflows of the alphas', async () => {
    const file = '_bmad-output/planning-artifacts/bmm-workflow-status.yaml';
    const before =
      'workflow_status:\n  prd: "required"  # pm\n  create-architecture: required\n  create-ux-design: skipped\n';
    const { run, text } = await project({
      [file]: before,
      '_bmad-output/planning-artifacts/prd.md': `# PRD\n\n${TEXT}`,
    });
    await run({ apply: true });
    expect(await text(file)).toBe(
      before.replace('"required"  #', '"_bmad-output/planning-artifacts/prd.md"  #'),
    );
    expect((await run()).ledgers).toEqual([]);
  });

  it('leaves a broken ledger as it is, and says where', async () => {
    const before = 'development_status:\n  1-1-setup: [done\n  1-2-x: done\n';
    const { ok, text } = await project({ [LEDGER]: before, [`${IMPL}/1-1-setup.md`]: story('1.1', 'done') });
    const { data, answer, failed } = await ok(reconcileLedgers, { apply: true });
    expect(data).toMatchObject({ applied: false, ledgers: [], broken: [{ file: LEDGER, line: 3 }] });
    expect(answer.body).toContain(`Left alone: ${LEDGER}:3:`);
    expect(answer.body).not.toContain('already have everything');
    expect(failed).toBe(true);
    expect(await text()).toBe(before);
  });

  it('touches no row that stands twice', async () => {
    const before = `${ledger({ 'epic-1': 'in-progress', '1-1-setup': 'backlog' })}  1-1-setup: review\n`;
    const { run, text } = await project({ [LEDGER]: before, [`${IMPL}/1-1-setup.md`]: story('1.1', 'done') });
    await run({ apply: true });
    expect(await text()).toBe(before);
  });

  it('refuses a proposal that is no longer true', async () => {
    const files = {
      [LEDGER]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'backlog' }),
      [`${IMPL}/1-1-setup.md`]: story('1.1', 'review'),
    };
    const { run, fail, folder, text } = await project(files);
    const { proposal } = await run();
    const edited = `${files[LEDGER]}# a colleague was here\n`;
    await writeFile(join(folder, LEDGER), edited);
    const error = await fail(reconcileLedgers, { apply: true, proposal });
    expect(error).toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('nothing was written') as string,
    });
    expect(await text()).toBe(edited);
    expect((await fail(reconcileLedgers, { proposal })).hint).toContain('apply');
  });

  it('shows changes in read-only mode, also through manage_project, and refuses to make them', async () => {
    const folder = await temporaryFolder(afterAll);
    await writeFiles(folder, {
      [LEDGER]: ledger({ '1-1-setup': 'backlog' }),
      [`${IMPL}/1-1-setup.md`]: story('1.1', 'review'),
    });
    const context = await contextIn(folder, { flags: { readOnly: 'true' } });
    const outcome = await execute(reconcileLedgers, { apply: true }, context, testCall());
    expect(outcome.ok ? undefined : outcome.error.code).toBe('forbidden');
    const action = 'reconcile_ledgers';
    const through = (args: object) => execute(manageProject, { action, args }, context, testCall());
    expect(await through({ apply: true })).toMatchObject({ ok: false, error: { code: 'forbidden' } });
    expect(await through({})).toMatchObject({ ok: true, data: { result: { applied: false } } });
    const shown = await execute(reconcileLedgers, {}, context, testCall());
    if (!shown.ok) throw shown.error;
    expect(changesOf(shown.data as unknown as Data)).toEqual(['1-1-setup: backlog > review']);
    expect(await readFile(join(folder, LEDGER), 'utf8')).toContain('1-1-setup: backlog');
  });

  it('makes each change once when many ask at the same time, and leaves nothing behind', async () => {
    const rows = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`1-${index + 1}-s`, 'backlog']),
    );
    const files = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [
        `${IMPL}/1-${index + 1}-s.md`,
        story(`1.${index + 1}`, 'review'),
      ]),
    );
    const { folder, run, text } = await project({
      [LEDGER]: ledger({ 'epic-1': 'backlog', ...rows }),
      ...files,
    });
    const contexts = await Promise.all(Array.from({ length: 6 }, () => contextIn(folder)));
    const outcomes = await Promise.all(
      contexts.map((context) => execute(reconcileLedgers, { apply: true }, context, testCall())),
    );
    for (const outcome of outcomes)
      if (!outcome.ok) expect(outcome.error.message).toContain('has changed in the meantime');
    expect(outcomes.some(({ ok }) => ok)).toBe(true);
    expect(await text()).toBe(
      ledger({
        'epic-1': 'in-progress',
        ...Object.fromEntries(Object.keys(rows).map((key) => [key, 'review'])),
      }),
    );
    expect((await run()).ledgers).toEqual([]);
    expect((await readdir(join(folder, IMPL))).filter((name) => /lock|tmp/.test(name))).toEqual([]);
  });
});
