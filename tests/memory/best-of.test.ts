import { expect, it } from 'vitest';
import { bestOf } from '../../src/services/memory/sqlite/matrix.ts';

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
