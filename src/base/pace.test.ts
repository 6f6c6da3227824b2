import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { breath, isCallUnderWay, underWay } from './async.ts';

/** A step that needs the processor for about a millisecond. */
function step(): void {
  for (const until = performance.now() + 1; performance.now() < until;);
}

/** Work of many steps that notes each of them. */
async function steps(name: string, count: number, order: string[]): Promise<void> {
  for (let done = 0; done < count; done += 1) {
    await breath();
    step();
    order.push(name);
  }
}

describe('work of many steps', () => {
  it('lets others in every few milliseconds, and not after each step', async () => {
    const order: string[] = [];
    const over = new AbortController();
    let turns = 0;
    const other = (async () => {
      for (; !over.signal.aborted; turns += 1) await setImmediate();
    })();
    await steps('a', 40, order);
    over.abort();
    await other;
    expect([turns >= 5, turns < 40]).toEqual([true, true]);
  });

  it('goes on by turns with other such work, however many parts one of them has under way', async () => {
    const order: string[] = [];
    const many = Array.from({ length: 8 }, () => steps('many', 20, order));
    await Promise.all([...many, steps('one', 10, order)]);
    expect(order).toHaveLength(170);
    // Nine share the time: what has half as much to do is done when the others have done about as much.
    expect(order.lastIndexOf('one')).toBeLessThan(140);
  });

  it('takes one stretch in a round of the event loop, so that no call waits for all of it', async () => {
    const order: string[] = [];
    let [longest, seen] = [0, 0];
    const over = new AbortController();
    const rounds = (async () => {
      for (; !over.signal.aborted; seen = order.length) {
        await setImmediate();
        longest = Math.max(longest, order.length - seen);
      }
    })();
    await Promise.all(Array.from({ length: 10 }, () => steps('a', 10, order)));
    over.abort();
    await rounds;
    expect(order).toHaveLength(100);
    expect(longest).toBeLessThan(100);
  });

  it('is not held up where it is short', async () => {
    await setImmediate();
    await setImmediate();
    let rounds = 0;
    void setImmediate().then(() => (rounds += 1));
    await breath();
    await breath();
    expect(rounds).toBe(0);
  });
});

describe('calls under way', () => {
  it('are counted until each has been answered, also with an error', async () => {
    let answer = (): void => undefined;
    const call = underWay(() => new Promise<void>((resolve) => (answer = resolve)));
    const failing = underWay(() => Promise.reject(new Error('it fails')));
    await expect(failing).rejects.toThrow('it fails');
    expect(isCallUnderWay()).toBe(true);
    answer();
    await call;
    expect(isCallUnderWay()).toBe(false);
  });
});
