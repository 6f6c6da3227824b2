import { EMPTY, line, span, type Line } from './lines.ts';
import { cutLine, lineWidth, padded, widthOf } from './width.ts';
import { wrapped } from './wrap.ts';

export interface Column {
  title: string;
  /** Takes what room is left, and is broken into lines. */
  flexible?: true;
  /** Left out where there is too little room; the highest first. */
  drop?: number;
  /** Numbers stand at the right. */
  end?: true;
}

export interface Row {
  cells: readonly Line[];
  /** What stands under the row, such as an id to copy. */
  below?: Line | undefined;
  /** Instead of cells: a title for the rows that follow. */
  heading?: Line;
}

const GAP = 2;
/** A column of text that is narrower than this is no longer read. */
const READABLE = 24;
/** No other column may take more of the width. */
const MOST = 0.4;

/** A table that fits the width: columns are left out, then broken into lines, and at last each row is a list of its own. */
export function table(columns: readonly Column[], rows: readonly Row[], width: number): Line[] {
  if (rows.length === 0) return [];
  const filled = columns.map((_column, at) => rows.some(({ cells }) => lineWidth(cells[at] ?? EMPTY) > 0));
  let shown = columns.map((_column, at) => at).filter((at) => filled[at] === true);
  const natural = columns.map((column, at) => naturalWidth(column, at, rows));
  for (;;) {
    const widths = fitted(shown, columns, natural, width);
    if (widths !== undefined) return drawn(shown, columns, widths, rows, width);
    const [first] = shown
      .filter((at) => columns[at]?.drop !== undefined)
      .sort((a, b) => (columns[b]?.drop ?? 0) - (columns[a]?.drop ?? 0));
    if (first === undefined) return cards(shown, columns, rows, width);
    shown = shown.filter((at) => at !== first);
  }
}

function naturalWidth({ title }: Column, at: number, rows: readonly Row[]): number {
  let most = widthOf(title);
  for (const { cells } of rows) most = Math.max(most, lineWidth(cells[at] ?? EMPTY));
  return most;
}

/** The widths of the columns, if they fit. */
function fitted(
  shown: readonly number[],
  columns: readonly Column[],
  natural: readonly number[],
  width: number,
): Map<number, number> | undefined {
  const own = (at: number): number => natural[at] ?? 0;
  const gaps = GAP * (shown.length - 1);
  const fixed = shown.filter((at) => columns[at]?.flexible === undefined);
  const flexible = shown.filter((at) => columns[at]?.flexible === true);
  const taken = gaps + fixed.reduce((sum, at) => sum + Math.min(own(at), Math.floor(width * MOST)), 0);
  const left = width - taken;
  const wanted = flexible.reduce((sum, at) => sum + own(at), 0);
  const needed = flexible.reduce((sum, at) => sum + Math.min(own(at), READABLE), 0);
  if (left < needed) return undefined;
  const widths = new Map(fixed.map((at) => [at, Math.min(own(at), Math.floor(width * MOST))]));
  let room = left;
  let rest = wanted;
  for (const at of flexible) {
    const share = wanted <= left ? own(at) : Math.floor((room * own(at)) / Math.max(1, rest));
    widths.set(at, Math.max(Math.min(own(at), READABLE), share));
    room -= share;
    rest -= own(at);
  }
  return widths;
}

function drawn(
  shown: readonly number[],
  columns: readonly Column[],
  widths: ReadonlyMap<number, number>,
  rows: readonly Row[],
  width: number,
): Line[] {
  const head = shown.map((at) => {
    const { title = '', end } = columns[at] ?? {};
    return padded(cutLine([span(title, 'muted')], widths.get(at) ?? 0), widths.get(at) ?? 0, end);
  });
  const titled = shown.some((at) => columns[at]?.title !== '');
  return [
    ...(titled ? [joined(head)] : []),
    ...rows.flatMap(({ cells, below, heading }, row) => {
      if (heading !== undefined) return [...(row === 0 ? [] : [EMPTY]), heading];
      const parts = shown.map((at) => {
        const own = widths.get(at) ?? 0;
        const cell = cells[at] ?? EMPTY;
        return columns[at]?.flexible === true ? wrapped(cell, own) : [cutLine(cell, own)];
      });
      const height = Math.max(...parts.map(({ length }) => length));
      const lines = Array.from({ length: height }, (_line, index) =>
        joined(
          shown.map((at, place) =>
            padded(parts[place]?.[index] ?? EMPTY, widths.get(at) ?? 0, columns[at]?.end),
          ),
        ),
      );
      return below === undefined ? lines : [...lines, ...wrapped(below, width, INDENTED)];
    }),
  ];
}

const INDENTED = { first: line('  '), rest: line('  ') };

function joined(cells: readonly Line[]): Line {
  const spans = cells.flatMap((cell, at) => (at === 0 ? cell : [span(' '.repeat(GAP)), ...cell]));
  while (spans.length > 0 && spans.at(-1)?.text.trim() === '') spans.pop();
  return spans;
}

/** Where not even two columns fit beside each other. */
function cards(
  shown: readonly number[],
  columns: readonly Column[],
  rows: readonly Row[],
  width: number,
): Line[] {
  return rows.flatMap(({ cells, below, heading = [] }, index) => [
    ...(index === 0 ? [] : [EMPTY]),
    ...(heading.length === 0 ? [] : [heading]),
    ...shown.flatMap((at, place) => {
      const cell = cells[at] ?? EMPTY;
      if (lineWidth(cell) === 0) return [];
      const { title = '' } = columns[at] ?? {};
      const label = place === 0 || title === '' ? EMPTY : line(span(`${title} `, 'muted'));
      return wrapped([...label, ...cell], width, place === 0 ? {} : INDENTED);
    }),
    ...(below === undefined ? [] : wrapped(below, width, INDENTED)),
  ]);
}
