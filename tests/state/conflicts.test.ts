import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { logDecision, logLearning, rememberStructured } from '../../src/operations/memory/remember.ts';
import { recallStructured } from '../../src/operations/memory/recall-structured.ts';
import { getFailureMuseum, logFailure } from '../../src/operations/project/failures.ts';
import { getProjectContext } from '../../src/operations/project/project-context.ts';
import { logHandoff } from '../../src/operations/project/logs.ts';
import { next } from '../../src/operations/project/next.ts';
import { runCheckpoint, runOpen, runResume, saveSession } from '../../src/operations/runs/run-operations.ts';
import { getWorkflowStatus } from '../../src/operations/runs/workflow-status.ts';
import { doctor } from '../../src/operations/server/doctor.ts';
import { spawnSubagentTask, taskList } from '../../src/operations/tasks/tasks.ts';
import { taskClaim } from '../../src/operations/tasks/task-work.ts';
import { saidIn } from '../support/operations.ts';
import { memorySession, type MemorySession } from '../support/memory-session.ts';
import { KIT_FILES, writeFiles } from '../support/kit-project.ts';
import { commit, git, WHO } from '../support/two-clones.ts';

const LEDGER = '_bmad-output/implementation-artifacts/sprint-status.yaml';
const ledger = (first: string, second: string): string =>
  `development_status:\n  epic-1: in-progress\n  1-1-cart: ${first}\n  1-2-pay: ${second}\n`;

/** A day's work, as it is on each of two machines. */
async function work(session: MemorySession, run: string, who: string, step: number): Promise<void> {
  await session.ok(logFailure, { title: `Failed at ${who}`, category: 'CC-FAIL', rule: `Rule of ${who}` });
  await session.ok(logDecision, { agent: 'dev', decision: `Decision of ${who}` });
  await session.ok(logLearning, { agent: 'fullstack-dev', learning: `Learning of ${who}` });
  await session.ok(rememberStructured, { type: 'shared-context', agent: 'dev', text: `Memory of ${who}` });
  await session.ok(logHandoff, { from: 'dev', to: 'qa', task: `Hand-off of ${who}` });
  await session.ok(saveSession, { agent: 'dev', work: [`Session of ${who}`] });
  await session.ok(taskClaim, { worker: who });
  await session.ok(runCheckpoint, { run_id: run, step, notes: `Notes of ${who}` });
  await writeFile(join(session.folder, LEDGER), ledger(who === 'ada' ? 'review' : 'done', 'backlog'));
}

/** Two branches of a project with a day's work each, merged: git leaves its markers in all that both have changed. */
async function merged(): Promise<{ session: MemorySession; run: string; files: string[] }> {
  const session = await memorySession(onTestFinished);
  const { folder } = session;
  git(folder, 'init', '-q', '-b', 'main');
  await writeFiles(folder, {
    ...KIT_FILES,
    '_bmad/_memory/handoff-log.md': '| Date | Who | What | State |\n|---|---|---|---|\n',
    [LEDGER]: ledger('ready-for-dev', 'backlog'),
  });
  const { data } = await session.ok(runOpen, { workflow: 'prd' });
  const run = (data['run'] as { run_id: string }).run_id;
  await session.ok(runCheckpoint, { run_id: run, step: 1 });
  await session.ok(spawnSubagentTask, { agent: 'dev', task: 'Do it', output_key: 'out' });
  commit(folder);
  git(folder, 'checkout', '-qb', 'other');
  await work(session, run, 'bob', 3);
  commit(folder);
  git(folder, 'checkout', '-q', 'main');
  await work(session, run, 'ada', 2);
  commit(folder);
  expect(spawnSync('git', [...WHO, 'merge', '-q', 'other'], { cwd: folder }).status).toBe(1);
  const files = git(folder, 'diff', '--name-only', '--diff-filter=U').trim().split('\n');
  return { session, run, files };
}

const saidBy = ({ data, answer }: Awaited<ReturnType<MemorySession['ok']>>): string =>
  `${JSON.stringify(data, null, 1)}\n${answer.body}\n${saidIn(answer)}`;

const MARKER = /^(?:<{7}|={7}|>{7}|\|{7})|={7}|<{7} |>{7} /m;

describe('a project whose state was merged with conflicts', () => {
  it('is served with both sides and without a marker, and each file is named with its line (F-02, D-10)', async () => {
    const { session, run, files } = await merged();
    expect(files.join('\n')).toMatch(/museum[^]*handoff-log[^]*memories\.json/);
    // Tasks are lines and texts under names of their own, which never conflict.
    expect(files.filter((file) => file.includes('.tasks'))).toEqual([]);
    const calls = [
      [getFailureMuseum, {}],
      [getProjectContext, {}],
      [runResume, {}],
      [taskList, {}],
      [getWorkflowStatus, { run_id: run }],
      [next, {}],
      [recallStructured, { query: 'Failed Decision Learning Memory Hand-off' }],
    ] as const;
    const said = new Map<string, string>();
    for (const [operation, args] of calls) {
      said.set(operation.name, saidBy(await session.ok(operation, args)));
      expect(said.get(operation.name)).not.toMatch(MARKER);
    }
    expect(said.get('get_failure_museum')).toMatch(/Rule of ada[^]*Rule of bob/);
    expect(said.get('get_project_context')).toMatch(/Hand-off of ada[^]*Hand-off of bob/);
    for (const [name, file] of [
      ['get_failure_museum', 'failure-museum.md'],
      ['get_project_context', 'handoff-log.md'],
      ['get_workflow_status', 'state.json'],
      ['next', 'sprint-status.yaml'],
    ] as const)
      expect(said.get(name)).toMatch(
        new RegExp(`${file}(?:|[",:]+ *"message": "it|: it) has unresolved conflict markers of git \\(line`),
      );
    const text = saidBy(await session.ok(doctor, { handshake: false }));
    // Nothing is ever read from what is only written for people and for the kit.
    const read = files.filter((file) => !/activity\.jsonl$|session-summaries/.test(file));
    const unnamed = read.filter((file) => {
      const line = (text ?? '')
        .split('\n')
        .find((each) => each.includes(file) && /conflict markers/.test(each));
      return line === undefined;
    });
    expect(unnamed).toEqual([]);
    expect(text).not.toMatch(MARKER);
  });

  it('takes what is written next, and makes the state of a run again from its journal (F-02)', async () => {
    const { session, run, files } = await merged();
    const state = files.find((file) => file.endsWith('state.json')) ?? '';
    const status = await session.ok(getWorkflowStatus, { run_id: run });
    expect(JSON.stringify(status.data)).toContain('"steps_completed":[1,2,3]');
    await session.ok(runCheckpoint, { run_id: run, step: 4 });
    expect(JSON.parse(await readFile(join(session.folder, state), 'utf8'))).toMatchObject({
      steps_completed: [1, 2, 3, 4],
    });
    await session.ok(logFailure, { title: 'Failed later', category: 'CC-FAIL' });
    await session.ok(logHandoff, { from: 'qa', to: 'dev', task: 'Later' });
    await session.ok(spawnSubagentTask, { agent: 'dev', task: 'Do more', output_key: 'more' });
    await session.ok(saveSession, { agent: 'dev', work: ['Later'] });
    const memory = { type: 'shared-context', agent: 'dev', text: 'Memory of later' };
    expect(saidBy(await session.ok(rememberStructured, memory))).toContain(
      'memories.json was left unchanged: it has unresolved conflict markers of git (line',
    );
    const recalled = await session.recall('Memory of later');
    expect(recalled[0]?.snippet).toContain('later');
    expect(saidBy(await session.ok(getFailureMuseum))).toContain('Failed later');
    expect(saidBy(await session.ok(taskList))).toContain('Do more');
  });
});
