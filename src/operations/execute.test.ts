import * as z from 'zod';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder, testCall } from '../../tests/support/app.ts';
import { execute } from './execute.ts';
import { mayBeOffered } from './toolsets.ts';
import { defineOperation, type AnyOperation } from './operation.ts';

const context = await contextIn(await temporaryFolder(afterAll));

const probe = defineOperation({
  name: 'probe',
  title: 'Probe',
  description: 'Does what its input says.',
  effect: 'read',
  input: z.strictObject({ act: z.enum(['answer', 'throw', 'lie', 'leak']) }),
  output: z.object({ value: z.string() }),
  async run({ act }) {
    if (act === 'throw') throw new TypeError('the password is hunter2hunter2');
    if (act === 'lie') return { value: 3 as unknown as string };
    return { value: act === 'leak' ? 'token-123456' : 'fine' };
  },
  render: ({ value }) => ({ body: `body ${value}`, note: `note ${value}` }),
});

describe('execute, the only door', () => {
  it('answers with data and text', async () => {
    expect(await execute(probe, { act: 'answer' }, context, testCall())).toEqual({
      ok: true,
      data: { value: 'fine' },
      answer: { body: 'body fine', note: 'note fine' },
      failed: false,
    });
  });

  it('lets callers take turns: known ones, and others by their sessions', async () => {
    const turns: string[] = [];
    const turn = async (caller: string): Promise<() => void> => {
      turns.push(caller);
      return () => void turns.push(`${caller} is over`);
    };
    const asked = { act: 'answer' };
    for (const who of [{ caller: 'token a', session: '1' }, { session: '2' }, {}])
      await execute(probe, asked, { ...context, turn }, { ...testCall(), ...who });
    expect(turns).toEqual(['token a', 'token a is over', '2', '2 is over']);
  });

  it('hides what a stranger threw, and logs it under an id', async () => {
    const outcome = await execute(probe, { act: 'throw' }, context, testCall());
    if (outcome.ok) throw new Error('it should have failed');
    expect(outcome.error.code).toBe('internal');
    expect(outcome.error.text).not.toContain('hunter2');
    const id = /incident ([0-9a-f]{8})/.exec(outcome.error.message)?.[1] ?? '?';
    expect(context.written.join('')).toContain(id);
  });

  it('does not let an operation answer something else than it declared', async () => {
    const outcome = await execute(probe, { act: 'lie' }, context, testCall());
    expect(outcome.ok).toBe(false);
  });

  it('removes secrets from answers', async () => {
    context.secrets.add('token-123456');
    const outcome = await execute(probe, { act: 'leak' }, context, testCall());
    expect(outcome).toMatchObject({ answer: { body: 'body ***', note: 'note ***' } });
  });

  it('keeps the project of a call in its steps, and secrets out of them', async () => {
    context.secrets.add('token-123456');
    const stepping = defineOperation({
      name: 'stepping',
      title: 'Stepping',
      description: 'Recommends steps.',
      effect: 'read',
      output: z.object({ value: z.string() }),
      input: z.strictObject({ project: z.string().optional() }),
      run: () => Promise.resolve({ value: 'fine' }),
      render: (_data, say) => ({
        body: say({ operation: 'next' }),
        steps: [{ operation: 'search', args: { query: 'token-123456' }, why: 'Find it' }],
      }),
    });
    expect(await execute(stepping, { project: 'shop' }, context, testCall())).toMatchObject({
      answer: {
        body: 'bmad {operation:"next", project:"shop"}',
        steps: [{ operation: 'search', args: { query: '***', project: 'shop' } }],
      },
    });
  });

  it('names the wrong argument and the right ones', async () => {
    const outcome = await execute(probe, { act: 'answer', more: 1 }, context, testCall());
    expect(outcome).toMatchObject({
      ok: false,
      error: {
        code: 'invalid_input',
        message: 'probe: there is no argument "more".',
        hint: 'Arguments: act.',
      },
    });
  });

  it('logs no incident when the caller leaves in the middle', async () => {
    const leaving = new AbortController();
    const before = context.written.length;
    const running = execute(probe, { act: 'throw' }, context, { ...testCall(), signal: leaving.signal });
    leaving.abort(new Error('Connection closed'));
    expect(await running).toMatchObject({ ok: false, error: { code: 'cancelled' } });
    expect(context.written.length).toBe(before);
  });

  it('says what was written, even if the caller leaves in the middle', async () => {
    const leaveDuring = (effect: 'read' | 'write') => {
      const leaving = new AbortController();
      const operation: AnyOperation = {
        ...probe,
        effect,
        run: (input, ...rest) => {
          leaving.abort();
          return probe.run(input, ...rest);
        },
      };
      return execute(operation, { act: 'answer' }, context, { ...testCall(), signal: leaving.signal });
    };
    expect(await leaveDuring('write')).toMatchObject({ ok: true });
    expect(await leaveDuring('read')).toMatchObject({ ok: false, error: { code: 'cancelled' } });
  });

  it('suggests the value that was meant', async () => {
    const outcome = await execute(probe, { act: 'answr' }, context, testCall());
    expect(outcome).toMatchObject({ ok: false, error: { suggestions: ['answer'] } });
  });

  it('does nothing for a caller who has left', async () => {
    const outcome = await execute(probe, { act: 'answer' }, context, {
      ...testCall(),
      signal: AbortSignal.abort(),
    });
    expect(outcome).toMatchObject({ ok: false, error: { code: 'cancelled' } });
  });

  it('lets a caller who may only read do nothing else', async () => {
    const reader = { ...testCall(), mayWrite: false };
    const write = { ...probe, effect: 'write' } as const;
    expect(await execute(write, { act: 'answer' }, context, reader)).toMatchObject({
      ok: false,
      error: { code: 'forbidden', message: 'probe writes, but your access is read-only.' },
    });
    expect(await execute(write, { act: 'answer' }, context, testCall())).toMatchObject({ ok: true });
    expect(await execute(probe, { act: 'answer' }, context, reader)).toMatchObject({ ok: true });
    // One that can also only show what it would do is refused when it would do it.
    const both = { ...write, writes: ({ act }: Record<string, unknown>) => act === 'leak' };
    expect(await execute(both, { act: 'answer' }, context, reader)).toMatchObject({ ok: true });
    expect(await execute(both, { act: 'leak' }, context, reader)).toMatchObject({ ok: false });
    expect([
      mayBeOffered(write, context, reader),
      mayBeOffered(both, context, reader),
      mayBeOffered(write, context, testCall()),
    ]).toEqual([false, true, true]);
  });
});
