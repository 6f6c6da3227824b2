import { describe, expect, it } from 'vitest';
import { normalized } from '../../meaning/vectors.ts';
import { nearest } from './vectors.ts';

const WIDTH = 256;

/** Numbers that look like chance, and are the same each time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32 - 0.5;
  };
}

const small = (vector: Float32Array): Int8Array => Int8Array.from(vector, (value) => Math.round(value * 127));

/** Lists of vectors that have nothing to do with the wanted one, and some with it as part of them, nearest last. */
function made(lists: number, each: number): { all: Int8Array[]; wanted: Float32Array; near: string[] } {
  const next = numbers(lists);
  const any = (): Float32Array => normalized(Float32Array.from({ length: WIDTH }, next));
  const wanted = any();
  const all = Array.from({ length: lists }, () => {
    const list = new Int8Array(each * WIDTH);
    for (let at = 0; at < each; at++) list.set(small(any()), at * WIDTH);
    return list;
  });
  const near = [0.4, 0.5, 0.6, 0.8, 0.95].map((share, index) => {
    const other = any();
    const mixed = normalized(wanted.map((value, at) => share * value + (1 - share) * (other[at] ?? 0)));
    const [of, at] = [(index * 7) % lists, (index * 3) % each];
    all[of]?.set(small(mixed), at * WIDTH);
    return `${of} ${at}`;
  });
  return { all, wanted, near };
}

describe('the nearest vectors', () => {
  it.each([
    { lists: 20, each: 10, what: 'a few, all of which are compared' },
    { lists: 500, each: 20, what: 'many, of which those of like signs are compared' },
  ])('are found among $what', ({ lists, each }) => {
    const { all, wanted, near } = made(lists, each);
    const whole = all.map((vectors) => ({ pack: { vectors }, vectorsFrom: 0, count: each }));
    const found = nearest(whole, wanted, 0.3).sort((a, b) => a.score - b.score);
    expect(found.map(({ of, at }) => `${of} ${at}`)).toEqual(near);
    for (const { of, at, score } of found) {
      const vector = all[of]?.subarray(at * WIDTH, (at + 1) * WIDTH) ?? new Int8Array();
      const exact = vector.reduce((sum, value, index) => sum + value * (wanted[index] ?? 0), 0) / 127;
      expect(score).toBeCloseTo(exact, 5);
    }
  });
});
