/** The smallest value that at least `percent` of the values do not exceed. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  const value = sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)];
  if (value === undefined) throw new Error('There is no percentile of nothing.');
  return value;
}

/** Nothing was measured if there are no values, as on systems without /proc. */
export function median(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : percentile(values, 50);
}

export function mean(values: readonly number[]): number | undefined {
  return values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** A new order each time, so that no contender always runs right after the same other one. */
export function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, place: Math.random() }))
    .toSorted((one, other) => one.place - other.place)
    .map(({ item }) => item);
}

/** The rule of thumb of four bytes a token: the same for every contender, and needs no tokenizer. */
export function tokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}
