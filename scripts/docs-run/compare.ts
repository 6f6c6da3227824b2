/** Stands on a line for any number of lines, and within a line for any text. */
const GAP = '…';

/** Sizes of texts with paths in them differ a little from machine to machine. */
const SIZES = /\d[\d,]*(?:\.\d+)?(?= (?:of [\d,]+ )?(?:tokens|kB|bytes)\b)/g;

const isGap = (line: string): boolean => line.trim() === GAP;
const numberOf = (text: string): number => Number(text.replaceAll(',', ''));

function sizesAreClose(one: string, other: string): boolean {
  if (one.replace(SIZES, '#') !== other.replace(SIZES, '#')) return false;
  const sizes = (other.match(SIZES) ?? []).map(numberOf);
  return (one.match(SIZES) ?? []).map(numberOf).every((size, index) => {
    const wanted = sizes[index] ?? Number.NaN;
    return Math.abs(size - wanted) <= Math.max(8, wanted * 0.03);
  });
}

function fits(shown: string, real: string): boolean {
  if (shown === real || sizesAreClose(shown, real)) return true;
  if (!shown.includes(GAP)) return false;
  const parts = shown.split(GAP).map((part) => part.trim().replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`, 'su').test(real.trim());
}

/** Does a text with gaps agree with what a program wrote? */
export function agrees(shown: readonly string[], real: readonly string[]): boolean {
  const first = shown[0];
  if (first === undefined) return real.length === 0;
  if (isGap(first))
    return real.some((_, index) => agrees(shown.slice(1), real.slice(index))) || agrees(shown.slice(1), []);
  return real[0] !== undefined && fits(first, real[0]) && agrees(shown.slice(1), real.slice(1));
}

/** Words without what changes most: numbers, and the plural that comes with them. */
const wordsOf = (line: string): string[] =>
  line
    .replace(/\d+/g, '0')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.replace(/s$/, ''));

/** 0 for lines that have nothing to do with each other, 1 for the same one. */
function likeness(shown: string, real: string): number {
  if (fits(shown, real)) return 1;
  const [one, other] = [wordsOf(shown), wordsOf(real)];
  const common = one.filter((word) => other.includes(word)).length;
  const share = (2 * common) / (one.length + Math.min(other.length, one.length * 2) || 1);
  return share >= 0.5 ? share : 0;
}

/** For each line of the program the line of the text that it continues: the best order-keeping choice. */
function pairs(shown: readonly string[], real: readonly string[]): Map<number, number> {
  const best = Array.from({ length: shown.length + 1 }, () =>
    Array.from({ length: real.length + 1 }, () => 0),
  );
  const at = (row: number, column: number): number => best[row]?.[column] ?? 0;
  const alike = shown.map((line) => real.map((text) => (isGap(line) ? 0 : likeness(line, text))));
  for (let row = shown.length - 1; row >= 0; row -= 1)
    for (let column = real.length - 1; column >= 0; column -= 1) {
      const like = alike[row]?.[column] ?? 0;
      const rows = best[row];
      if (rows)
        rows[column] = Math.max(
          at(row + 1, column),
          at(row, column + 1),
          like > 0 ? like + at(row + 1, column + 1) : 0,
        );
    }
  const found = new Map<number, number>();
  for (let row = 0, column = 0; row < shown.length && column < real.length;) {
    const like = alike[row]?.[column] ?? 0;
    if (like > 0 && at(row, column) === like + at(row + 1, column + 1)) {
      found.set(column, row);
      row += 1;
      column += 1;
    } else if (at(row, column) === at(row + 1, column)) row += 1;
    else column += 1;
  }
  return found;
}

/** A line that was cut short stays as short as it was. */
function cutLike(shown: string, real: string): string {
  if (fits(shown, real)) return shown;
  if (!shown.endsWith(` ${GAP}`) || real.length <= shown.length) return real;
  const start = real.slice(0, shown.length - 2);
  return `${real[start.length] === ' ' ? start : start.replace(/\s+\S*$/, '')} ${GAP}`;
}

/** What the page has to show: as it is while it agrees, else the program's lines with the gaps where they were. */
export function brought(shown: readonly string[], real: readonly string[]): string[] {
  if (agrees(shown, real)) return [...shown];
  const paired = pairs(shown, real);
  const lines: string[] = [];
  let next = 0;
  const gapBefore = (row: number): string | undefined => shown.slice(next, row).find(isGap);
  for (const [index, text] of real.entries()) {
    const row = paired.get(index);
    if (row === undefined) {
      const upcoming = real.findIndex((_, later) => later > index && paired.has(later));
      const gap = gapBefore(upcoming < 0 ? shown.length : (paired.get(upcoming) ?? shown.length));
      if (gap === undefined) lines.push(text);
      else if (lines.at(-1) !== gap) lines.push(gap);
    } else {
      lines.push(cutLike(shown[row] ?? '', text));
      next = row + 1;
    }
  }
  return lines;
}
