import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { getFailureMuseum, logFailure } from '../../src/operations/project/failures.ts';
import { getProjectContext } from '../../src/operations/project/project-context.ts';
import { completeHandoff, logHandoff } from '../../src/operations/project/logs.ts';
import { temporaryFolder } from '../support/app.ts';
import { writeFiles } from '../support/kit-project.ts';
import type { OpenSession } from '../support/operations.ts';
import { commit, git, machineIn, repositoryOfTwo } from '../support/two-clones.ts';

const LINES = '_bmad-output/.memory/.bmad-memory';

async function handoffs(session: OpenSession): Promise<string[]> {
  const { data } = await session.ok(getProjectContext, { section: 'agents' });
  const agents = data['agents'] as { handoffs: { id: string; text: string; done: boolean }[] };
  return agents.handoffs.map(({ text, done }) => `${text}${done ? ' done' : ''}`).sort();
}

async function titles(session: OpenSession): Promise<string[]> {
  const { failures } = (await session.ok(getFailureMuseum)).data as { failures: { title: string }[] };
  return failures.map(({ title }) => title).sort();
}

const failure = (title: string) => ({ title, category: 'CC-FAIL', severity: 'critical', rule: 'Run them' });

describe('failures and hand-offs that two machines write', () => {
  it('are both there after the merge, without a conflict, where there is no kit', async () => {
    const files = { '_bmad-output/prd.md': '# PRD\n', [`${LINES}/.gitignore`]: '' };
    const { one, two, clone } = await repositoryOfTwo(files);
    const first = await machineIn(one);
    const { data } = await first.ok(logHandoff, { from: 'dev', to: 'qa', summary: 'Check the cart' });
    await first.ok(logFailure, failure('Closed with red tests'));
    clone();
    const second = await machineIn(two);
    await second.ok(completeHandoff, { id: data['id'] });
    for (const [session, who] of [
      [first, 'ada'],
      [second, 'bob'],
    ] as const) {
      await session.ok(logHandoff, { from: 'dev', to: 'qa', summary: `Check what ${who} did`, inbox: true });
      await session.ok(logFailure, failure(`Deployed on a Friday by ${who}`));
      // The same on both is one.
      await session.ok(logFailure, failure('Both forgot the migration'));
    }
    for (const folder of [one, two]) commit(folder);
    git(two, 'pull', '-q', '--no-rebase', '--no-edit', 'origin', 'main');
    git(one, 'pull', '-q', '--no-rebase', '--no-edit', two, 'main');
    for (const session of [first, second, await machineIn(one)]) {
      expect(await handoffs(session)).toEqual([
        'Check the cart done',
        'Check what ada did',
        'Check what bob did',
      ]);
      expect(await titles(session)).toEqual([
        'Both forgot the migration',
        'Closed with red tests',
        'Deployed on a Friday by ada',
        'Deployed on a Friday by bob',
      ]);
    }
    const found = await second.ok(recallStructured, { query: 'check what ada did' });
    expect(found.answer.body).toContain('Check what ada did');
    const pages = (await readdir(join(one, '_bmad-output/.memory'))).filter((name) => name.endsWith('.md'));
    expect(pages).toEqual([]);
  });

  it('are found beside those that an earlier build has left in files', async () => {
    const folder = await temporaryFolder(onTestFinished);
    await writeFiles(folder, {
      '_bmad-output/prd.md': '# PRD\n',
      '_bmad-output/.memory/handoff-log.md': '| 2026-03-01 10:00 | dev → qa | Check the list | ⏳ |\n',
      '_bmad-output/.memory/failure-museum.md':
        '# Failure Museum\n\n## Critical\n\n### [2026-03-01] CC-FAIL — Closed too early\n',
    });
    const session = await machineIn(folder);
    await session.ok(logHandoff, { from: 'dev', to: 'qa', summary: 'Check the cart' });
    expect(
      (await session.ok(logHandoff, { from: 'dev', to: 'qa', summary: 'Check the cart' })).data,
    ).toMatchObject({ outcome: 'unchanged' });
    await session.ok(logFailure, failure('Closed with red tests'));
    expect(await handoffs(session)).toEqual(['Check the cart', 'Check the list']);
    expect(await titles(session)).toEqual(['Closed too early', 'Closed with red tests']);
  });

  it('are named by file and line where a merge has left its markers in the kit files', async () => {
    const folder = await temporaryFolder(onTestFinished);
    const sides = (one: string, other: string): string =>
      `<<<<<<< HEAD\n${one}\n=======\n${other}\n>>>>>>> other\n`;
    await writeFiles(folder, { '_bmad/_memory/project-context.yaml': 'project:\n  name: Shop\n' });
    const memory = join(folder, '_bmad/_memory');
    const row = (text: string): string => `| 2026-03-01 10:00 | dev → qa | ${text} | ⏳ |`;
    await writeFile(join(memory, 'handoff-log.md'), sides(row('Ours'), row('Theirs')));
    const entry = (text: string): string => `### [2026-03-01] CC-FAIL — ${text}`;
    await writeFile(
      join(memory, 'failure-museum.md'),
      `# Museum\n\n## Critical\n\n${sides(entry('Ours'), entry('Theirs'))}`,
    );
    const session = await machineIn(folder);
    expect(await handoffs(session)).toEqual(['Ours', 'Theirs']);
    const museum = await session.ok(getFailureMuseum);
    expect(museum.answer.note).toContain('failure-museum.md has unresolved conflict markers of git (line 5)');
    expect(await titles(session)).toEqual(['Ours', 'Theirs']);
    const context = await session.ok(getProjectContext, { section: 'agents' });
    expect(JSON.stringify(context.data)).toContain(
      'handoff-log.md has unresolved conflict markers of git (line 1)',
    );
  });
});
