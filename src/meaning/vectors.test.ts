import { expect, it } from 'vitest';
import {
  bestOf,
  dot,
  emptyBlock,
  likenessesInBlock,
  nearScan,
  normalized,
  putInBlock,
  smallVector,
  wholeVector,
} from './vectors.ts';

it.each([1, 2, 7, 256])('vectors of %i numbers compare in one piece as they do alone', (width) => {
  const vectors = Array.from({ length: 11 }, (_, at) =>
    Float32Array.from({ length: width }, (_number, i) => Math.sin(at * 31 + i)),
  );
  const asked = Float32Array.from({ length: width }, (_, i) => Math.cos(i));
  const block = emptyBlock(vectors.length, width);
  vectors.forEach((vector, index) => putInBlock(block, index, vector));
  const alike = likenessesInBlock(block, asked);
  for (const [index, vector] of vectors.entries())
    expect(alike[index]).toBeCloseTo(dot(asked, wholeVector(smallVector(vector))), 5);
});

const vector = (width: number, seed: number): Float32Array =>
  normalized(Float32Array.from({ length: width }, (_, at) => Math.sin(seed * 37 + at * (seed % 11))));
const bytesOf = (...vectors: Float32Array[]): Uint8Array =>
  Buffer.concat(
    vectors.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength)),
  );

it.each([16, 32, 192, 1_024])('vectors of %i numbers are as near as it says', (width) => {
  const scan = nearScan(width);
  const vectors = Array.from({ length: 1_100 }, (_, at) => vector(width, at + 1));
  // One by one in another order than they are asked for in, then many at once, and some a second time.
  for (const at of [699, 3, 5, 4]) scan?.put(at, bytesOf(vectors[at] as Float32Array));
  const squares = scan?.put(0, bytesOf(...vectors)) ?? [];
  for (const at of [3, 4, 699]) scan?.put(at, bytesOf(vectors[at] as Float32Array));
  expect(squares.length).toBe(vectors.length);
  expect(Math.max(...squares) - Math.min(...squares)).toBeLessThan(1e-5);
  for (const seed of [1, 5, 12, 400]) {
    const wanted = vector(width, seed);
    const near = scan?.near(wanted, vectors.length) ?? [];
    expect(near.length).toBe(vectors.length);
    const wrong = vectors.map((other, at) => Math.abs((near[at] ?? 9) - dot(other, wanted)));
    expect(Math.max(...wrong)).toBeLessThan(0.012);
    const most = scan?.wrong(wanted) ?? (() => 0);
    expect(wrong.filter((each, at) => each > most(at))).toEqual([]);
  }
});

it('finds blocks of small vectors as near as they are', () => {
  const vectors = Array.from({ length: 300 }, (_, at) => vector(192, at + 1));
  const block = emptyBlock(vectors.length, 192);
  for (const [at, each] of vectors.entries()) putInBlock(block, at, each);
  const scan = nearScan(192);
  scan?.putBlock(block);
  const exact = likenessesInBlock(block, vector(192, 7));
  const near = scan?.near(vector(192, 7), vectors.length) ?? [];
  expect(Math.max(...exact.map((each, at) => Math.abs(each - (near[at] ?? 9))))).toBeLessThan(0.0005);
});

it('leaves vectors alone that it has no instructions for', () => {
  expect([nearScan(24), nearScan(1), nearScan(2_048)]).toEqual([undefined, undefined, undefined]);
});

it('knows vectors without a direction, and what is none', () => {
  const scan = nearScan(16);
  expect(scan?.near(vector(16, 1), 0)).toHaveLength(0);
  const odd = [new Float32Array(16), new Float32Array(16).fill(NaN), new Float32Array(16).fill(3)];
  const squares = scan?.put(0, bytesOf(...odd));
  expect([...(squares ?? [])]).toEqual([0, NaN, 144]);
  expect(scan?.near(new Float32Array(16), 1)[0]).toBe(0);
  expect(scan?.near(vector(16, 1), 1)[0]).toBe(0);
});

/** Many are equal. */
const NUMBERS = Float64Array.from({ length: 5_000 }, (_, at) => Math.round(Math.sin(at * at) * 200) / 100);

const sorted = (places: number[]): number[] =>
  places.sort((a, b) => (NUMBERS[b] as number) - (NUMBERS[a] as number) || a - b);

it.each([1, 7, 130, 6_000])('finds the places of the %i greatest, the first of equal ones first', (count) => {
  const all = sorted([...NUMBERS.keys()]);
  expect(bestOf(NUMBERS, count, -Infinity)).toEqual(all.slice(0, count));
  const isOdd = (place: number): boolean => place % 2 === 1;
  expect(bestOf(NUMBERS, count, -Infinity, isOdd)).toEqual(all.filter(isOdd).slice(0, count));
  const above = all.filter((place) => (NUMBERS[place] as number) > 1.5);
  expect(bestOf(NUMBERS, count, 1.5)).toEqual(above.slice(0, count));
});
