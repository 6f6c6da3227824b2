import { execFileSync } from 'node:child_process';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { saidIn } from '../../../tests/support/operations.ts';
import { runCompletionContract } from '../completion/completion.ts';
import { getProjectContext } from './project-context.ts';
import { logHandoff } from './logs.ts';
import { memoryForget, memoryList, memoryRestore } from '../memory/memory-operations.ts';
import { rememberStructured } from '../memory/remember.ts';
import { runOpen, saveSession } from '../runs/run-operations.ts';
import { spawnSubagentTask } from '../tasks/tasks.ts';
import { manageProject } from '../unified/action-tool.ts';
import { projectState } from './state.ts';

const FACT = { type: 'decisions', agent: 'architect', text: 'Orders are kept in PostgreSQL' };
const ADD = { agent: 'dev', task: 'Review the cart', output_key: 'review' };

interface Opened extends MemorySession {
  home: string;
}

async function opened(
  files: Readonly<Record<string, string>>,
  flags: object = {},
  env: Record<string, string> = {},
): Promise<Opened> {
  const home = await temporaryFolder(onTestFinished);
  const all = { embedder: 'none', ...flags };
  return { ...(await memorySession(onTestFinished, { home, files, flags: all, env })), home };
}

/** Keeps some of every kind. */
async function used({ ok }: MemorySession): Promise<void> {
  await ok(rememberStructured, FACT);
  await ok(runOpen, { workflow: 'prd', total_steps: 3 });
  await ok(spawnSubagentTask, ADD);
  await ok(logHandoff, { from: 'dev', to: 'qa', summary: 'Check the cart' });
  await ok(saveSession, { agent: 'dev', work: ['The cart'] });
  await ok(runCompletionContract);
}

const filesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));

const stateOf = ({ home }: Opened): string => join(home, '.local/state/bmad-mcp-server');
/** What is always with the user: own lines once more, the end of the chain, consent, usage. */
const OWN =
  /^(?:decisions|mirror|usage|moving|trust[^/]*|locks)\/|^machine$|(?:^receipts\/[^/]+\/(?!receipts\.jsonl))/;
const withUser = async (session: Opened): Promise<string[]> =>
  (await filesIn(stateOf(session))).filter((file) => !OWN.test(file));

const parts = ['.memory', '.receipts', '.runs', '.tasks'];

describe('M-52: all state of a project is in one place', () => {
  it.each([
    ['an output folder', { 'build.sh': 'true\n', '_bmad-output/planning-artifacts/prd.md': '# PRD\n' }],
    [
      'an install without a memory folder',
      { 'build.sh': 'true\n', '_bmad/core/config.yaml': 'user_name: Ada\n' },
    ],
    ['BMAD 4', { 'build.sh': 'true\n', '.bmad-core/core-config.yaml': 'x: 1\n' }],
  ])('in the project, if it has %s', async (_what, files) => {
    const session = await opened(files);
    await used(session);
    expect(
      (await readdir(join(session.folder, '_bmad-output'))).filter((name) => name.startsWith('.')),
    ).toEqual(parts);
    expect(await withUser(session)).toEqual([]);
    // Copies are for the kit's own tools, and there is no kit.
    const kept = await filesIn(join(session.folder, '_bmad-output/.memory'));
    expect(kept.filter((file) => /decisions-log|memories\.json|activity/.test(file))).toEqual([]);
    // From another home all of it is found.
    const other = await memorySession(onTestFinished, {
      home: await temporaryFolder(onTestFinished),
      cwd: session.folder,
      files: {},
    });
    const hits = (await other.recall('orders postgresql', { project: session.folder })) as unknown[];
    expect(hits).toMatchObject([{ snippet: FACT.text }]);
  });

  it('with the user, if the project has no BMAD; what is kept once it has some goes into it, and both are read (J-E6)', async () => {
    const session = await opened({ 'build.sh': 'true\n' });
    await used(session);
    expect(await readdir(session.folder)).toEqual(['build.sh']);
    await mkdir(join(session.folder, '_bmad-output/planning-artifacts'), { recursive: true });
    const refunds = { ...FACT, text: 'Refunds are paid within two weeks' };
    // The first file in the project is told of as well.
    expect(saidIn((await session.ok(rememberStructured, refunds)).answer)).toContain(
      'The state of this project is kept in _bmad-output.',
    );
    await session.ok(logHandoff, { from: 'qa', to: 'dev', summary: 'Repair the cart', inbox: true });
    expect((await readdir(join(session.folder, '_bmad-output'))).toSorted()).toEqual([
      '.memory',
      'planning-artifacts',
    ]);
    const hits = await session.recall('orders refunds', { limit: 5 });
    expect(hits.map(({ snippet }) => snippet).toSorted()).toEqual([
      FACT.text,
      'Refunds are paid within two weeks',
    ]);
    const listed = (await session.ok(memoryList, { type: 'decisions' })).data as { total: number };
    expect(listed.total).toBe(2);
    const told = (await session.ok(getProjectContext)).answer.body;
    for (const text of ['Check the cart', 'Repair the cart']) expect(told).toContain(text);
    // A memory is changed, forgotten and brought back, wherever it is; what was changed is in the project from then on.
    const [first] = await session.recall('orders postgresql');
    await session.ok(memoryForget, { id: first?.id });
    expect(await session.recall('orders postgresql')).toEqual([]);
    await session.ok(memoryRestore, { id: first?.id });
    expect((await session.recall('orders postgresql'))[0]).toMatchObject({ id: first?.id, stored: true });
    // A colleague has what is in the project.
    const other = await memorySession(onTestFinished, {
      home: await temporaryFolder(onTestFinished),
      cwd: session.folder,
      files: {},
    });
    const theirs = await other.recall('orders refunds', { project: session.folder, limit: 5 });
    expect(theirs.map(({ snippet }) => snippet).toSorted()).toEqual([
      FACT.text,
      'Refunds are paid within two weeks',
    ]);
  });

  it('and is moved as a whole by a call that a model can make', async () => {
    const session = await opened({ 'build.sh': 'true\n' });
    await used(session);
    expect(await readdir(session.folder)).toEqual(['build.sh']);
    const moved = await session.ok(manageProject, { action: 'move_state', args: { apply: true } });
    expect(moved.answer.body).toContain('- 1 memory: now in _bmad-output/.memory/.bmad-memory');
    // Receipts prove something on this machine only, and are read where they are.
    const moving = parts.filter((part) => part !== '.receipts');
    expect((await readdir(join(session.folder, '_bmad-output'))).toSorted()).toEqual(moving);
    expect((await withUser(session)).filter((file) => !file.includes('.moved-'))).toEqual([]);
    expect((await session.recall('orders postgresql'))[0]).toMatchObject({
      snippet: FACT.text,
      stored: true,
    });
    expect((await session.ok(getProjectContext)).answer.body).toContain('Check the cart');
    const again = await session.fail(manageProject, { action: 'move_state' });
    expect(again.message).toContain('already in the project');
  });

  it('is private where it says so, until a person takes the .gitignore back', async () => {
    const session = await opened({ '_bmad/_memory/project-context.yaml': 'project:\n  name: Shop\n' });
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: session.folder, encoding: 'utf8' });
    git('init', '-q');
    await session.ok(rememberStructured, FACT);
    const lines = '_bmad/_memory/.bmad-memory';
    const seen = (): boolean => git('status', '--short', '-uall').includes(lines);
    const said = async (): Promise<string> => (await session.ok(projectState)).answer.body;
    expect(seen()).toBe(false);
    expect(await said()).toContain(`- memories: ${lines} (git ignores it)`);
    await writeFile(join(session.folder, lines, '.gitignore'), '');
    await session.ok(rememberStructured, { ...FACT, text: 'Refunds are paid within two weeks' });
    expect(seen()).toBe(true);
    expect(await said()).toMatch(/^- memories: _bmad\/_memory\/\.bmad-memory$/m);
    // What leaves out the folder around it leaves it out, too.
    expect((await session.ok(projectState)).data['ignore']).toEqual([
      '_bmad/_memory/',
      '_bmad-output/.runs/',
      '_bmad-output/.tasks/',
    ]);
  });

  it('as a user has set it', async () => {
    const mine = await opened({ '_bmad-output/a.md': '# A\n' }, { projectState: 'user' });
    await mine.ok(rememberStructured, FACT);
    expect(await readdir(join(mine.folder, '_bmad-output'))).toEqual(['a.md']);
    expect((await mine.fail(manageProject, { action: 'move_state' })).code).toBe('conflict');
    // What colleagues have in the project is read all the same.
    const log = '# Decisions Log\n\n- [2026-03-01] [PM] Refunds are paid within two weeks\n';
    const read = await opened({ '_bmad-output/.memory/decisions-log.md': log }, { projectState: 'user' });
    expect(await read.recall('refunds')).toHaveLength(1);
    const ours = await opened({}, { projectState: 'project' });
    await ours.ok(spawnSubagentTask, ADD);
    expect(await readdir(join(ours.folder, '_bmad-output'))).toEqual(['.memory', '.tasks']);
  });
});

describe('M-52: where it is written', () => {
  it.each([
    ['remember_structured', rememberStructured, FACT],
    ['run_open', runOpen, { workflow: 'prd' }],
    ['spawn_subagent_task', spawnSubagentTask, ADD],
    ['log_handoff', logHandoff, { from: 'dev', to: 'qa', summary: 'Check the cart' }],
    ['save_session', saveSession, { agent: 'dev', work: ['The cart'] }],
  ] as const)('is said by the first call that keeps something, once: %s', async (_name, operation, input) => {
    const session = await opened({});
    const first = saidIn((await session.ok(operation, input)).answer);
    expect(first).toContain(
      `The state of this project is kept in ${stateOf(session)}, for you alone on this machine, because the project has no BMAD folder.`,
    );
    expect(first).toContain('manage_project {action:"move_state"}');
    const second = await session.ok(rememberStructured, { ...FACT, text: 'Refunds take two weeks' });
    expect(saidIn(second.answer)).not.toContain('The state of this project');
    const own = await opened({ '_bmad-output/a.md': '# A\n' });
    const said = saidIn((await own.ok(operation, input)).answer);
    expect(said).toContain('The state of this project is kept in _bmad-output.');
  });

  it('gives the lines for .gitignore before there is a repository, and none for what is kept elsewhere', async () => {
    const own = await opened({ '_bmad-output/a.md': '# A\n' });
    const { answer } = await own.ok(projectState);
    expect(answer.body).toContain('add to .gitignore:\n_bmad-output/.memory/');
    expect((await (await opened({})).ok(projectState)).data['ignore']).toEqual([]);
  });

  it('can be asked, with the lines for .gitignore, which are not written', async () => {
    const session = await opened({ '.git/HEAD': 'ref: refs/heads/main\n', '_bmad-output/a.md': '# A\n' });
    const { answer, data } = await session.ok(projectState);
    expect(answer.body).toContain('- memories: _bmad-output/.memory/.bmad-memory (git ignores it)');
    expect(data['ignore']).toEqual(['_bmad-output/.memory/', '_bmad-output/.runs/', '_bmad-output/.tasks/']);
    expect(answer.body).toContain('add to .gitignore:\n_bmad-output/.memory/');
    expect((await readdir(session.folder)).toSorted()).toEqual(['.git', '_bmad-output']);
  });
});
