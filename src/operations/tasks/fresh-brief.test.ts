import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { approveTask } from '../../../tests/support/approve-task.ts';
import { memorySession, type MemorySession } from '../../../tests/support/memory-session.ts';
import { delegateToAgent } from '../delegation/delegate-to-agent.ts';
import { spawnSubagentTask, taskShow } from './tasks.ts';
import { taskClaim, taskComplete } from './task-work.ts';

type Data = Record<string, unknown>;

const FILES = {
  'project-context.yaml': 'project:\n  name: Boutique\nuser:\n  name: Hélène\n  language: Français\n',
  '_bmad/_memory/decisions-log.md': '# Decisions\n\n- [2026-02-27] [ARCH] Sessions sans état\n',
  'src/cart.ts': 'export const total = 1;\n',
  'src/old.ts': 'export const old = 1;\n',
};

async function queued(more: object = {}): Promise<MemorySession & { id: string }> {
  const session = await memorySession(onTestFinished, { files: FILES });
  const { data } = await session.ok(spawnSubagentTask, {
    agent: 'architecte',
    task: 'Relire le panier',
    output_key: 'revue',
    context_files: ['src/cart.ts', 'src/old.ts'],
    ...more,
  });
  return { ...session, id: (data['task'] as Data)['task_id'] as string };
}

describe('M-39: the brief of a claimed task', () => {
  it('has the files as they are now, and says what has changed since it was queued', async () => {
    const { ok, folder, id } = await queued();
    await writeFile(join(folder, 'src/cart.ts'), 'export const total = 2;\n');
    await rm(join(folder, 'src/old.ts'));
    const since =
      'Since it was queued: src/cart.ts has changed; src/old.ts can no longer be read. The brief quotes the current files.';
    const shown = await ok(taskShow, { task_id: id });
    expect(shown.answer.body).toContain(since);
    const { data, answer } = await ok(taskClaim, {});
    expect(data['since']).toBe(since);
    expect(answer.body).toContain('total = 2');
    expect(answer.body).not.toContain('total = 1');
  });

  it('says nothing of files that are as they were', async () => {
    const { ok } = await queued();
    const { data, answer } = await ok(taskClaim, {});
    expect(data['since']).toBeUndefined();
    expect(answer.body).toContain('total = 1');
  });

  it('stays as a person has agreed to it, and says that a file is no longer so', async () => {
    const { ok, folder, id } = await queued({ needs_approval: 'It costs money' });
    await approveTask({ ok }, id);
    await writeFile(join(folder, 'src/cart.ts'), 'export const total = 2;\n');
    const { data } = await ok(taskClaim, {});
    expect(data['brief']).toContain('total = 1');
    expect(data['since']).toBe(
      'Since it was queued: src/cart.ts has changed. The brief quotes it as it was when approved; read the file before you rely on it.',
    );
  });

  it('names the language of the project and its decisions, whatever the task is about', async () => {
    const { ok, remember } = await queued();
    await remember('decisions', 'architect', 'Les paiements passent par Stripe');
    const { data } = await ok(taskClaim, {});
    expect(data['brief']).toContain('Write it in Français, the language of this project.');
    expect(data['brief']).toContain('Sessions sans état');
    expect(data['brief']).toContain('Stripe');
    const asked = await ok(delegateToAgent, { agent_id: 'architecte', task: 'Relire le panier' });
    expect(asked.answer.body).toContain('Stripe');
    expect(asked.answer.body).toContain('Français');
  });
});

describe('a worker that goes astray is guided back in one answer', () => {
  it('when it claims a task twice', async () => {
    const { ok, fail, id } = await queued();
    const { data } = await ok(taskClaim, { task_id: id, worker: 'cursor' });
    const again = await fail(taskClaim, { task_id: id, worker: 'cursor' });
    expect(again.message).toContain('is claimed already, by "cursor" until');
    expect(again.hint).toContain('finish it with the claim that came with it');
    expect(again.steps.map(({ operation }) => operation)).toEqual([
      'task_complete',
      'task_show',
      'task_claim',
    ]);
    const other = await fail(taskClaim, { task_id: id, worker: 'codex' });
    expect(other.steps.map(({ operation }) => operation)).toEqual(['task_show', 'task_claim']);
    const none = await ok(taskClaim, { worker: 'cursor' });
    expect(none.answer.note).toContain(`${id} is claimed already, by cursor until`);
    expect(none.answer.steps).toMatchObject([{ operation: 'task_complete', args: { task_id: id } }]);
    expect(JSON.stringify(none)).not.toContain(data['claim']);
  });

  it('when it answers in another language than the project’s', async () => {
    const { ok, fail, id } = await queued();
    const { data } = await ok(taskClaim, { task_id: id });
    const result =
      'The review of the cart is complete: no change is incompatible with the clients that are in use, but the field "total" must be documented in the API. The tests are in the folder and they pass.';
    const answer = { task_id: id, claim: data['claim'], result };
    const wrong = await fail(taskComplete, answer);
    expect(wrong.message).toBe('The result is in English; the language of this project is Français.');
    expect(wrong.steps).toMatchObject([{ operation: 'task_complete', why: 'Hand it in again, in Français' }]);
    const done = await ok(taskComplete, {
      ...answer,
      result:
        'La revue du panier est terminée : aucun changement n’est incompatible avec les clients actuels, mais le champ « total » doit être documenté. Les tests sont dans le dossier prévu et ils passent.',
    });
    expect(done.data['task']).toMatchObject({ status: 'completed' });
    const second = await queued();
    const held = await second.ok(taskClaim, {});
    const kept = { task_id: second.id, claim: held.data['claim'], result, any_language: true };
    expect((await second.ok(taskComplete, kept)).data['task']).toMatchObject({ status: 'completed' });
  });
});
