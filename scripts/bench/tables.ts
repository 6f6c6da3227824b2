import { ratio } from './budgets.ts';

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
