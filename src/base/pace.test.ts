import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { refusal } from '../../tests/support/thrown.ts';
import { heavily, pace, pacing, patiently } from './pace.ts';
import { underWay } from './under-way.ts';

const newSignal = (): AbortSignal => new AbortController().signal;

/** Work in slices that notes when each begins. */
const slices = async (name: string, count: number, order: string[]): Promise<void> => {
  for (let slice = 0; slice < count; slice += 1) {
    order.push(name);
    await pace();
  }
};

describe('heavy work', () => {
  it('of one caller runs one after the other; callers alternate', async () => {
    const order: string[] = [];
    const start = (caller: string, name: string): Promise<void> =>
      heavily({ caller, signal: newSignal() }, () => slices(name, 3, order));
    await Promise.all([start('a', 'a1'), start('a', 'a2'), start('a', 'a3'), start('b', 'b1')]);
    expect(order.filter((name) => name.startsWith('a'))).toEqual(
      ['a1', 'a2', 'a3'].flatMap((name) => [name, name, name]),
    );
    expect(order.indexOf('b1')).toBeLessThan(order.indexOf('a2'));
    expect(order.lastIndexOf('b1')).toBeLessThan(order.lastIndexOf('a2'));
  });

  it('stands back before a short call, and goes on when that is done', async () => {
    const order: string[] = [];
    const heavy = heavily({ signal: newSignal() }, () => slices('heavy', 4, order));
    await setImmediate();
    await underWay(newSignal(), async () => {
      for (let step = 0; step < 5; step += 1) await setImmediate();
      order.push('short');
    });
    await heavy;
    expect(order.indexOf('short')).toBeLessThan(2);
    expect(order.filter((name) => name === 'heavy')).toHaveLength(4);
  });

  it('of small steps gives way after some milliseconds, whatever a step takes', async () => {
    let [steps, turns] = [0, 0];
    const over = new AbortController();
    const other = (async () => {
      for (; !over.signal.aborted; turns += 1) await setImmediate();
    })();
    await heavily({ signal: newSignal() }, async () => {
      const turn = pacing();
      for (; steps < 40; steps += 1) {
        for (const until = performance.now() + 1; performance.now() < until;);
        await turn();
      }
    });
    over.abort();
    await other;
    expect([turns >= 3, turns < steps]).toEqual([true, true]);
  });

  it('comes to its end although a call never does, and although it is that call itself', async () => {
    const order: string[] = [];
    let release = (): void => undefined;
    const endless = underWay(newSignal(), () => new Promise<void>((resolve) => (release = resolve)));
    await heavily({ signal: newSignal() }, () => slices('heavy', 2, order));
    const own = newSignal();
    await underWay(own, () => patiently(own, () => slices('own', 2, order)));
    expect(order).toEqual(['heavy', 'heavy', 'own', 'own']);
    release();
    await endless;
  });

  it('that was given up while it waited never begins', async () => {
    const order: string[] = [];
    const [first, second] = [new AbortController(), new AbortController()];
    const running = heavily({ caller: 'a', signal: first.signal }, () => slices('one', 2, order));
    const waiting = heavily({ caller: 'a', signal: second.signal }, () => slices('two', 2, order));
    second.abort(new Error('left'));
    await expect(waiting).rejects.toThrow('left');
    await running;
    await heavily({ caller: 'a', signal: newSignal() }, () => slices('three', 1, order));
    expect(order).toEqual(['one', 'one', 'three']);
  });

  it('is refused to a caller who has too much of it waiting, and to nobody else (R-03)', async () => {
    let release = (): void => undefined;
    const blocked = heavily(
      { caller: 'greedy', signal: newSignal() },
      () => new Promise<void>((resolve) => (release = resolve)),
    );
    const waiting = Array.from({ length: 100 }, () =>
      heavily({ caller: 'greedy', signal: newSignal() }, () => Promise.resolve()),
    );
    const error = await refusal(() =>
      heavily({ caller: 'greedy', signal: newSignal() }, () => Promise.resolve()),
    );
    expect(error).toMatchObject({ code: 'busy', hint: expect.stringContaining('Wait for their answers') });
    expect(await heavily({ caller: 'polite', signal: newSignal() }, async () => 'done')).toBe('done');
    release();
    await Promise.all([blocked, ...waiting]);
  });
});
