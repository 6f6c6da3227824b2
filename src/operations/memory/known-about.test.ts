import { afterAll, describe, expect, it } from 'vitest';
import { memorySession } from '../../../tests/support/memory-session.ts';
import { activate } from '../activation/activate.ts';
import { compileContext } from '../activation/compile-context.ts';
import { delegateToAgent } from '../delegation/delegate-to-agent.ts';
import { logFailure } from '../project/failures.ts';
import { spawnSubagentTask, taskShow } from '../tasks/tasks.ts';

const session = await memorySession(afterAll, {
  files: {
    '_bmad/_memory/decisions-log.md':
      '# Decisions Log\n\n- [2026-01-05] Les remboursements sont versés sous 14 jours\n',
  },
});
const task = 'How long may refunds and sessions take, and where are orders kept?';
const older = await session.remember('decisions', 'pm', 'Sessions of customers end after 30 minutes');
const newer = await session.remember('decisions', 'architect', 'Sessions of customers end after 60 minutes');
await session.remember('decisions', 'pm', 'Orders are kept in PostgreSQL, in one schema');
await session.remember('decisions', 'dev', 'Orders are kept in PostgreSQL in one schema!');
await session.remember('decisions', 'sm', 'ORDERS are kept in PostgreSQL: in one schema');

/** What each of the answers that brief an agent says about what was decided. */
async function askedFor(): Promise<string[]> {
  const order = { agent: 'architect', task, output_key: 'times' };
  const queued = await session.ok(spawnSubagentTask, order);
  const { task_id } = queued.data['task'] as { task_id: string };
  return [
    (await session.ok(delegateToAgent, { agent_id: 'architect', task })).answer.body,
    String((await session.ok(taskShow, { task_id })).data['brief']),
    (await session.ok(compileContext, { name: 'architect', message: task, budget: 20_000 })).answer.body,
  ];
}

const briefs = await askedFor();

describe('what a brief says about decisions', () => {
  it('tells the same text once, and how often', () => {
    for (const brief of briefs) {
      expect(brief.match(/orders are kept in postgresql/gi)).toHaveLength(1);
      expect(brief).toMatch(/orders are kept in PostgreSQL.* \(also recorded ×2\)/i);
    }
  });

  it('marks those that are about the same, the newer first (Q-E2)', () => {
    for (const brief of briefs) {
      const [first = '', second = ''] = brief.match(/Sessions of customers end.*/g) ?? [];
      expect(first).toMatch(/^Sessions of customers end after 60 minutes \(id /);
      expect(first).toContain(`(id ${newer}, `);
      expect(first).toMatch(new RegExp(`About the same as id ${older}, which is older\\.$`));
      expect(second).toMatch(/^Sessions of customers end after 30 minutes /);
      expect(second).toMatch(new RegExp(`About the same as id ${newer}, which is newer\\.$`));
    }
  });

  it('leaves what stands alone as it is', () => {
    const [brief = ''] = briefs;
    expect(brief).toMatch(/^- Les remboursements sont versés sous 14 jours$/m);
  });
});

describe('what went wrong before', async () => {
  const own = await memorySession(afterAll, {
    files: {
      '_bmad-output/implementation-artifacts/sprint-status.yaml':
        'development_status:\n  epic-1: in-progress\n  1-1-setup: ready-for-dev\n',
      '_bmad-output/implementation-artifacts/spec-1-1-setup.md':
        '---\ntitle: Setup\nstatus: ready-for-dev\n---\n\n## Intent\n\nOrders can be placed.\n',
    },
  });
  await own.ok(logFailure, {
    title: 'Migration locked production',
    category: 'CC-FAIL',
    severity: 'critical',
    what_happened: 'The table of orders was locked for an hour',
    rule: 'Run migrations in batches',
  });
  const rule = 'Rule: Run migrations in batches';

  it('reaches whoever builds a story, and no plan', async () => {
    const { answer } = await own.ok(activate, { name: 'build', message: 'story 1-1-setup' });
    expect(answer.body).toContain('## Past failures to avoid');
    expect(answer.body).toContain(rule);
    expect((await own.ok(activate, { name: 'prd' })).answer.body).not.toContain(rule);
  });

  it('reaches every brief, whether or not the task resembles it', async () => {
    const order = { agent: 'dev', task: 'Write the colours of the logo down', output_key: 'colours' };
    const { task_id } = (await own.ok(spawnSubagentTask, order)).data['task'] as { task_id: string };
    expect(String((await own.ok(taskShow, { task_id })).data['brief'])).toContain(rule);
  });
});
