import { expect, it } from 'vitest';
import { nearScan } from './near-scan.ts';

const vector = (width: number, seed: number): Float32Array => {
  const numbers = Float32Array.from({ length: width }, (_, at) => Math.sin(seed * 37 + at * (seed % 11)));
  const length = Math.hypot(...numbers);
  return numbers.map((number) => number / length);
};

it.each([16, 32, 256, 1_024])(
  'vectors of %i numbers are between what it says, and that is not much',
  (width) => {
    const scan = nearScan(width);
    const vectors = Array.from({ length: 700 }, (_, at) => vector(width, at + 1));
    // In another order than they are asked for in, and some a second time.
    for (const at of [...vectors.keys()].toReversed()) scan?.put(at, vectors[at] as Float32Array);
    for (const at of [3, 4, 699]) scan?.put(at, vectors[at] as Float32Array);
    for (const seed of [1, 5, 12, 400]) {
      const wanted = vector(width, seed);
      const { most = [], least = [] } = scan?.within(wanted, vectors.length) ?? {};
      expect([most.length, least.length]).toEqual([vectors.length, vectors.length]);
      for (const [at, other] of vectors.entries()) {
        const exact = other.reduce((sum, value, index) => sum + value * (wanted[index] ?? 0), 0);
        expect(most[at]).toBeGreaterThanOrEqual(exact);
        expect(most[at]).toBeLessThan(exact + 0.04);
        expect(least[at]).toBeLessThanOrEqual(exact);
        expect(least[at]).toBeGreaterThan(exact - 0.04);
      }
    }
  },
);

it('leaves vectors alone that it has no instructions for', () => {
  expect([nearScan(24), nearScan(1), nearScan(2_048)]).toEqual([undefined, undefined, undefined]);
});

it('knows vectors without a direction', () => {
  const scan = nearScan(16);
  scan?.put(0, new Float32Array(16));
  expect(scan?.within(new Float32Array(16), 1).most[0]).toBeCloseTo(0, 5);
});
