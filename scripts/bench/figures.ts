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

export function ratio(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? undefined : one / other;
}

export const NOTHING = '–';

/** As many digits as mean something: none for large numbers, two for small ones. */
export function shown(value: number | undefined): string {
  if (value === undefined) return NOTHING;
  if (Number.isInteger(value)) return String(value);
  return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}

export function times(one: number | undefined, other: number | undefined): string {
  const value = ratio(one, other);
  return value === undefined ? NOTHING : `${value.toFixed(2)} ×`;
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((cells) => (cells[column] ?? '').length)),
  );
  // The first column holds words, the others numbers.
  const padded = (cell: string, column: number): string =>
    column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0);
  const line = (cells: readonly string[]): string => `| ${cells.map(padded).join(' | ')} |`;
  const rule = widths.map((width, column) =>
    column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  );
  return [line(head), `| ${rule.join(' | ')} |`, ...rows.map(line)].join('\n');
}
