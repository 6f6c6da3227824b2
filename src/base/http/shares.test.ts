import { describe, expect, it } from 'vitest';
import { createShares } from './turns.ts';

describe('shares', () => {
  it('leave room for others, whoever comes first', () => {
    const shares = createShares<number>(12);
    let next = 0;
    const takeAll = (caller: string | undefined): number => {
      let count = 0;
      while (shares.take((next += 1), caller)) count += 1;
      return count;
    };
    expect(takeAll('a')).toBe(6);
    expect(takeAll('b')).toBe(3);
    expect(takeAll('a')).toBe(0);
    expect(takeAll('c')).toBe(2);
    expect(takeAll('d')).toBe(1);
    expect(takeAll('e')).toBe(0);
    for (let one = 1; one <= 6; one += 1) shares.giveBack(one);
    shares.giveBack(1);
    expect(takeAll('e')).toBe(3);
  });

  it('are no matter where nobody knows who comes', () => {
    const shares = createShares<number>(2);
    expect([1, 2, 3].map((one) => shares.take(one, undefined))).toEqual([true, true, false]);
    shares.giveBack(1);
    expect(shares.take(3, undefined)).toBe(true);
  });
});
