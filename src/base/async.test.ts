import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { thrownBy } from '../../tests/support/thrown.ts';
import { mapLimited, once, telling } from './async.ts';

describe('once', () => {
  it('makes the thing on first use, one time, for everyone', async () => {
    let made = 0;
    const get = once(async () => ({ number: ++made }));
    expect(made).toBe(0);
    const [first, second] = await Promise.all([get(), get()]);
    expect(second).toBe(first);
    expect(await get()).toBe(first);
    expect(made).toBe(1);
  });

  it('tries again after a failure, which everyone who waited is told', async () => {
    let attempts = 0;
    const get = once(async () => {
      attempts += 1;
      if (attempts === 1) throw new Error('not yet');
      return attempts;
    });
    const failures = await Promise.allSettled([get(), get()]);
    expect(failures.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(attempts).toBe(1);
    expect(await get()).toBe(2);
    expect(await get()).toBe(2);
  });

  it('turns an error thrown at once into a rejection, and tries again after it', async () => {
    let attempts = 0;
    const get = once((): Promise<number> => {
      attempts += 1;
      if (attempts === 1) throw new Error('at once');
      return Promise.resolve(attempts);
    });
    await expect(get()).rejects.toThrow('at once');
    expect(await get()).toBe(2);
  });
});

describe('mapLimited', () => {
  it('keeps the order, whatever finishes first', async () => {
    const gates = [5, 1, 3, 0].map((turns) => async (): Promise<number> => {
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      return turns;
    });
    expect(await mapLimited(gates, 3, (gate, index) => gate().then((turns) => `${index}:${turns}`))).toEqual([
      '0:5',
      '1:1',
      '2:3',
      '3:0',
    ]);
  });

  it.each([1, 2, 7])('has exactly %i in flight while there is enough to do', async (limit) => {
    let flying = 0;
    let most = 0;
    await mapLimited(Array.from({ length: 20 }), limit, async () => {
      most = Math.max(most, ++flying);
      await new Promise(setImmediate);
      flying -= 1;
    });
    expect(most).toBe(limit);
  });

  it('has an empty answer for an empty list', async () => {
    expect(await mapLimited([], 4, () => Promise.resolve(1))).toEqual([]);
  });

  it('fails with the first failure and begins nothing more after it', async () => {
    const begun: number[] = [];
    const error = await thrownBy(() =>
      mapLimited([0, 1, 2, 3, 4, 5], 2, async (item) => {
        begun.push(item);
        await new Promise(setImmediate);
        if (item === 1) throw new Error(`item ${item}`);
      }),
    );
    expect(error).toEqual(new Error('item 1'));
    for (let turn = 0; turn < 10; turn++) await new Promise(setImmediate);
    expect(begun.length).toBeLessThanOrEqual(3);
  });
});

describe('telling', () => {
  it('tells until the thing is there, and not after', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    let told = 0;
    let finish: (value: string) => void = () => undefined;
    const work = new Promise<string>((resolve) => (finish = resolve));
    const value = telling(work, () => void (told += 1), 1_000);
    vi.advanceTimersByTime(3_500);
    expect(told).toBe(3);
    finish('done');
    expect(await value).toBe('done');
    vi.advanceTimersByTime(10_000);
    expect(told).toBe(3);
  });

  it('ends with the thing when it fails', async () => {
    const error = await thrownBy(() => telling(Promise.reject(new Error('no')), () => undefined, 1));
    expect(error).toMatchObject({ message: 'no' });
  });
});
