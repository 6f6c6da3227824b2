import { afterAll, describe, expect, it } from 'vitest';
import { openSession } from '../../../tests/support/operations.ts';
import { rememberStructured } from '../memory/remember.ts';
import { runCheckpoint, runOpen } from '../runs/run-operations.ts';
import { spawnSubagentTask } from '../tasks/tasks.ts';
import { taskApprove, taskRefuse } from '../tasks/task-decide.ts';
import { taskClaim, taskComplete } from '../tasks/task-work.ts';
import { activity } from './activity.ts';

interface Activity {
  work: {
    kind: string;
    title: string;
    now: boolean;
    agent?: string;
    why?: string;
    person?: boolean;
    done?: number;
  }[];
  events: { at: string; kind: string; what: string; about: string; by?: string; yes?: boolean }[];
  unread: string[];
}

describe('what happens in a project', () => {
  it('says who is at work, what waits for what, and what was decided and done since', async () => {
    const session = await openSession(afterAll, { flags: { embedder: 'none' } });
    const look = async (since?: string): Promise<Activity> =>
      (await session.ok(activity, since === undefined ? {} : { since })).data as unknown as Activity;
    expect(await look()).toMatchObject({ work: [], events: [], unread: [] });
    const task = async (output_key: string, more = {}): Promise<string> =>
      (
        (await session.ok(spawnSubagentTask, { agent: 'dev', task: `Do ${output_key}`, output_key, ...more }))
          .data['task'] as { task_id: string }
      ).task_id;
    const first = await task('first', { needs_approval: 'It costs money' });
    const refused = await task('refused', { needs_approval: 'It costs money' });
    await task('second', { depends_on: ['first'] });
    const { digest } = (await session.ok(taskApprove, { task_id: first })).data['shown'] as {
      digest: string;
    };
    expect((await look()).work).toContainEqual(
      expect.objectContaining({ title: 'Do first', now: false, person: true, why: 'It costs money' }),
    );
    await session.ok(taskApprove, { task_id: first, digest, by: 'Ada' });
    await session.ok(taskRefuse, { task_id: refused, by: 'Ben', reason: 'no' });
    const { data } = await session.ok(taskClaim, { task_id: first });
    const { data: opened } = await session.ok(runOpen, { workflow: 'prd', total_steps: 5 });
    const { run_id } = opened['run'] as { run_id: string };
    await session.ok(runCheckpoint, { run_id, step: 1, notes: 'Read the brief.' });
    await session.ok(rememberStructured, { type: 'decisions', agent: 'pm', text: 'Prices have tax.' });

    const { work, events } = await look();
    const going = work.filter(({ now }) => now);
    expect(going).toContainEqual(expect.objectContaining({ kind: 'run', done: 1 }));
    expect(going).toContainEqual(expect.objectContaining({ kind: 'task', title: 'Do first', agent: 'dev' }));
    expect(work.find(({ title }) => title === 'Do second')).toMatchObject({
      now: false,
      why: 'waits for first',
    });
    const said = events.map(({ what, about }) => `${what}: ${about}`);
    for (const each of ['Approved: Do first', 'Refused: Do refused', 'Decision remembered: Prices have tax.'])
      expect(said).toContain(each);
    expect(events.find(({ what }) => what === 'Approved')).toMatchObject({
      kind: 'decision',
      by: 'Ada',
      yes: true,
    });
    expect(said.some((each) => each.startsWith('Step 1 done: ') && each.endsWith('Read the brief.'))).toBe(
      true,
    );
    expect(events.map(({ at }) => at)).toEqual(
      events
        .map(({ at }) => at)
        .sort()
        .toReversed(),
    );
    await session.ok(taskComplete, { task_id: first, claim: data['claim'], result: 'Done.' });
    expect((await look()).events[0]).toMatchObject({ what: 'Result handed in', about: 'Do first' });
    expect((await look(new Date(Date.now() + 60_000).toISOString())).events).toEqual([]);
  });
});
