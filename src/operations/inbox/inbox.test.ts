import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { KIT_LIKE_SCRIPT, SCRIPT_PATH } from '../../../tests/support/contract-project.ts';
import { DELIVERY_FILES } from '../../../tests/support/delivery-project.ts';
import { GitMachine } from '../../../tests/support/git-machine.ts';
import { agentFile } from '../../../tests/support/git-repository.ts';
import { writeFiles } from '../../../tests/support/kit-project.ts';
import { impl, ledger, story } from '../../../tests/support/progress-trees/pieces.ts';
import { kitState } from '../../../tests/support/run-project.ts';
import { execute } from '../execute.ts';
import { FOR_PEOPLE } from '../offers.ts';
import { createDeliveryContract } from '../handover/handovers.ts';
import { operations } from '../index.ts';
import type { AnyOperation } from '../operation.ts';
import { runCompletionContract } from '../completion/completion.ts';
import { trust } from '../completion/trust.ts';
import { sourcesUpdate } from '../git-sources/sources.ts';
import { reconcileLedgers } from '../project/ledgers.ts';
import { spawnSubagentTask } from '../tasks/tasks.ts';
import { inbox } from './inbox.ts';
import type { InboxItem } from './inbox.ts';

const FILES = {
  ...DELIVERY_FILES,
  [`${impl}/sprint-status.yaml`]: ledger({ 'epic-1': 'in-progress', '1-1-setup': 'in-progress' }),
  [`${impl}/1-1-setup.md`]: story('1.1', 'done'),
  '_bmad-output/.runs/main/prd-20260101-000000/state.json': kitState({
    run_id: 'prd-20260101-000000',
    status: 'paused',
    last_checkpoint: '2026-01-01T00:00:00Z',
    agent_notes: 'Which currency?',
  }),
  [SCRIPT_PATH]: KIT_LIKE_SCRIPT,
  '.verify/go': 'go test ./...|FAILED\n',
};

interface Inbox {
  project: string;
  items: InboxItem[];
  unread: { what: string; why: string }[];
}

async function project(files: Readonly<Record<string, string>>) {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  const context = await contextIn(folder);
  const ok = async (operation: AnyOperation, input = {}): Promise<Record<string, unknown>> => {
    const outcome = await execute(operation, input, context, testCall());
    if (!outcome.ok) throw outcome.error;
    return outcome.data;
  };
  return { folder, ok, inbox: async () => (await ok(inbox)) as unknown as Inbox };
}

const { folder, ok, inbox: look } = await project(FILES);
await ok(spawnSubagentTask, {
  agent: 'dev',
  task: 'Drop the table',
  output_key: 'drop',
  needs_approval: 'It deletes data',
});
await ok(createDeliveryContract, { from_team: 'vision', to_team: 'build', artefacts: ['docs/prd.md'] });

const kinds = ({ items }: Inbox): string[] => items.map(({ kind }) => kind);

describe('the inbox', () => {
  it('has everything that waits for a person, the oldest first, with evidence and the exact text', async () => {
    const found = await look();
    expect(found.project).toBe(folder);
    expect(new Set(kinds(found))).toEqual(new Set(['run', 'contract', 'task', 'ledger', 'trust', 'handoff']));
    const times = found.items.flatMap(({ since }) => since ?? []);
    expect(times).toEqual([...times].sort());
    expect(found.items[0]).toMatchObject({
      kind: 'run',
      title: 'prd-20260101-000000 is still open and cannot be resumed',
      evidence: [{ says: expect.stringContaining('last touched on 2026-02-27') as unknown }],
      text: expect.stringContaining('Which currency?') as unknown,
      actions: [{ operation: 'run_finish', args: { run_id: 'prd-20260101-000000', status: 'abandoned' } }],
    });
    const byKind = (kind: string) => found.items.find((item) => item.kind === kind);
    expect(byKind('task')).toMatchObject({
      role: 'dev',
      evidence: [{ file: expect.stringMatching(/task-.*\.brief\.md$/) as unknown, says: 'It deletes data' }],
      text: expect.stringContaining('Drop the table') as unknown,
      actions: [
        { operation: 'task_approve', person: true },
        { operation: 'task_refuse', needs: ['reason'], danger: true },
      ],
    });
    expect(byKind('contract')).toMatchObject({
      role: 'build',
      text: expect.stringContaining('docs/prd.md') as unknown,
    });
    expect(byKind('trust')?.text).toContain('Completion Contract Verifier');
    expect(byKind('handoff')).toMatchObject({ role: 'qa' });
    expect(found.unread).toEqual([]);
  });

  it('names operations that there are, with arguments they take', async () => {
    const { items } = await look();
    for (const { operation, args, needs = [], person } of items.flatMap(({ actions }) => actions)) {
      const declared = operations.find(({ name }) => name === operation);
      expect(declared, operation).toBeDefined();
      const whole = { ...args, ...Object.fromEntries(needs.map((name) => [name, 'because'])) };
      expect(declared?.input.safeParse(whole).error, operation).toBeUndefined();
      expect(person === true).toBe(FOR_PEOPLE.includes(operation));
    }
  });

  it('lets go of what was done, and takes in what then failed', async () => {
    const [{ args }] = (await look()).items.flatMap(({ actions }) =>
      actions.filter(({ operation }) => operation === 'reconcile_ledgers'),
    ) as [InboxItem['actions'][number]];
    await ok(reconcileLedgers, args);
    const agreed = (await look()).items.find(({ kind }) => kind === 'trust');
    await ok(trust, agreed?.actions[0]?.args);
    await ok(runCompletionContract);
    const found = await look();
    expect(kinds(found)).not.toContain('trust');
    expect(found.items.flatMap(({ actions }) => actions.map(({ operation }) => operation))).not.toContain(
      'reconcile_ledgers',
    );
    expect(found.items.find(({ kind }) => kind === 'verdict')).toMatchObject({
      title: expect.stringContaining('The completion contract failed') as unknown,
      exact: [{ name: 'failures', text: expect.stringContaining('FAILED') as unknown }],
      actions: [{ operation: 'run_completion_contract' }],
    });
  });

  it('lists what could not be read, and has the rest', async () => {
    const broken = join(folder, impl, 'sprint-status.yaml');
    await writeFile(broken, 'development_status:\n  1-1-setup: [\n');
    const task = join(folder, '_bmad-output/.tasks/task-20260101-000000-odd.json');
    await writeFile(task, 'null');
    onTestFinished(() => rm(task));
    const { items, unread } = await look();
    expect(items.length).toBeGreaterThan(2);
    expect(unread.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['tasks', expect.stringContaining('sprint-status.yaml')]),
    );
  });

  it('is empty, and says so, where nothing waits', async () => {
    const empty = await project({ 'README.md': '# Shop\n' });
    expect(await empty.inbox()).toMatchObject({ items: [], unread: [] });
  });

  it('has a git source that has changed, with the commit to approve', async () => {
    const machine = await GitMachine.make((cleanUp) => onTestFinished(cleanUp));
    const team = await machine.repository('team', { 'agents/ada.md': agentFile('ada', 'First', 'One.') });
    await machine.write(machine.config, `git = ["${team.source}#main"]\n`);
    await machine.ok(sourcesUpdate);
    const commit = await team.commit({ 'agents/ada.md': agentFile('ada', 'Next', 'Two.') });
    await machine.ok(sourcesUpdate);
    const { items } = (await machine.ok(inbox)).data as unknown as Inbox;
    expect(items.find(({ kind }) => kind === 'source')?.actions).toMatchObject([
      { operation: 'sources_diff' },
      { operation: 'sources_approve', args: { commit } },
    ]);
  });
});
