import { A2AClient } from 'a2a-sdk-older/client';
import { afterAll, describe, expect, it } from 'vitest';
import { a2aPlace } from '../support/a2a.ts';
import { some } from '../support/how-much.ts';

const place = await a2aPlace(afterAll);
const { origin } = await place.start('--a2a-without-approval');

function asking(text: string) {
  return {
    message: {
      kind: 'message' as const,
      messageId: text,
      role: 'user' as const,
      parts: [{ kind: 'text' as const, text }],
      metadata: { skill: 'architect' },
    },
  };
}

/** A program from before version 1.0, which knows nothing of it. */
describe.each(some(1, ['agent.json', 'agent-card.json']))('the client of SDK 0.3, by way of %s', (file) => {
  it('has a task done, and hears of every step', async () => {
    const client = await A2AClient.fromCardUrl(`${origin}/.well-known/${file}`);
    const heard: string[] = [];
    let claim = '';
    for await (const event of client.sendMessageStream(asking('Review it'))) {
      if (event.kind === 'task' || event.kind === 'status-update')
        heard.push(`${event.kind} ${event.status.state}`);
      else heard.push(`${event.kind} ${JSON.stringify('artifact' in event ? event.artifact.parts : '')}`);
      if (event.kind === 'task') claim = (await place.program('task', 'claim', event.id))['claim'] as string;
      if (event.kind === 'status-update' && event.status.state === 'working')
        await place.cli('task', 'complete', event.taskId, claim, 'All good.');
    }
    expect(heard).toEqual([
      'task submitted',
      'status-update working',
      'artifact-update [{"kind":"text","text":"All good."}]',
      'status-update completed',
    ]);
  });

  it('cancels, and understands a refusal', async () => {
    const client = await A2AClient.fromCardUrl(`${origin}/.well-known/${file}`);
    const sent = await client.sendMessage({ ...asking('Stop it'), configuration: { blocking: false } });
    const task = 'result' in sent && sent.result.kind === 'task' ? sent.result : undefined;
    expect(task?.status.state).toBe('submitted');
    expect(await client.cancelTask({ id: task?.id ?? '' })).toMatchObject({
      result: { status: { state: 'canceled' } },
    });
    expect(await client.getTask({ id: 'task-of-nobody' })).toMatchObject({ error: { code: -32_001 } });
  });
});
