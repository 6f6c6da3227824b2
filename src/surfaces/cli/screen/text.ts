import stringWidth from 'string-width';
import { EMPTY, type Line, line, span, type Span } from './paint.ts';

const PLAIN = /^[\x20-\x7E]*$/;
/** Whatever begins a character of its own; between two pieces of a text nothing is taken apart. */
const BEGINS = /^[\p{Lu}\p{Ll}\p{Lo}\p{Nd}\p{P}\p{Z}\p{Cc}]/u;
/** The segmenter takes more than twice as long for a text of twice the length. */
const PIECE = 256;
const KNOWN = 5_000;

let segmenter: Intl.Segmenter | undefined;
const known = new Map<string, number>();

/** The columns that a text takes: wide characters take two, marks none. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  return graphemes(text).reduce((sum, each) => sum + graphemeWidth(each), 0);
}

export const lineWidth = (spans: Line): number => spans.reduce((sum, { text }) => sum + widthOf(text), 0);

/** Of one character, as a reader takes it; most texts are made of few. */
function graphemeWidth(grapheme: string): number {
  if (grapheme.length === 1 && PLAIN.test(grapheme)) return 1;
  const before = known.get(grapheme);
  if (before !== undefined) return before;
  const width = stringWidth(grapheme, { countAnsiEscapeCodes: true });
  if (known.size < KNOWN) known.set(grapheme, width);
  return width;
}

/** What a reader takes for one character. */
function graphemes(text: string): string[] {
  if (PLAIN.test(text)) return text.split('');
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  const found: string[] = [];
  for (let from = 0; from < text.length;) {
    let end = Math.min(text.length, from + PIECE);
    // Pictures alone would never end: then one of them may be taken apart.
    const most = Math.min(text.length, end + PIECE);
    while (end < most && !BEGINS.test(text.charAt(end))) end++;
    for (const { segment } of segmenter.segment(text.slice(from, end))) found.push(segment);
    from = end;
  }
  return found;
}

/** A text in parts that fit: the first may have less room than the others. Each part has at least one character. */
function partsOf(text: string, first: number, others: number): string[] {
  const found: string[] = [];
  let part = '';
  let left = first;
  for (const each of graphemes(text)) {
    const width = graphemeWidth(each);
    if (width > left && part !== '') {
      found.push(part);
      part = '';
      left = others;
    }
    part += each;
    left -= width;
  }
  return part === '' ? found : [...found, part];
}

/** A line that is cut where it does not fit, and shows that it is. */
export function cutLine(spans: Line, width: number): Line {
  if (lineWidth(spans) <= width) return spans;
  if (width <= 1) return [span('…')];
  const kept: Span[] = [];
  let left = width - 1;
  for (const each of spans) {
    const own = widthOf(each.text);
    if (own <= left) {
      kept.push(each);
      left -= own;
      continue;
    }
    const [fits = ''] = left > 0 ? partsOf(each.text, left, left) : [];
    kept.push({ ...each, text: `${(widthOf(fits) <= left ? fits : '').trimEnd()}…` });
    break;
  }
  return kept;
}

/** A line that is filled up with blanks. */
export function padded(spans: Line, width: number, end = false): Line {
  const missing = width - lineWidth(spans);
  if (missing <= 0) return spans;
  const blanks = span(' '.repeat(missing));
  return end ? [blanks, ...spans] : [...spans, blanks];
}

/** What the first line and all others begin with. */
interface Indents {
  first?: Line;
  rest?: Line;
}

interface Word {
  pieces: Span[];
  width: number;
  /** The blank before it, with the style it has: a styled phrase stays one. */
  gap?: Span | undefined;
}

/** Fewer columns than this are no room for text: it then runs beyond the edge, and the terminal breaks it. */
const NARROWEST = 8;

/** Breaks a line between words; a word is broken only where it is wider than a whole line. */
export function wrapped(spans: Line, width: number, { first = [], rest = [] }: Indents = {}): Line[] {
  const room = (indent: Line): number => Math.max(NARROWEST, width - lineWidth(indent));
  if (lineWidth(first) + lineWidth(spans) <= width) return [trimmed([...first, ...spans])];
  const lines: Line[] = [];
  let current: Span[] = [];
  let left = room(first);
  const end = (): void => {
    lines.push(trimmed([...(lines.length === 0 ? first : rest), ...current]));
    current = [];
    left = room(rest);
  };
  for (const word of wordsOf(spans)) {
    const gap = current.length === 0 ? 0 : widthOf(word.gap?.text ?? '');
    if (current.length > 0 && gap + word.width > left) end();
    if (current.length > 0 && word.gap !== undefined) current.push(word.gap);
    left -= current.length > 0 ? gap : 0;
    for (const piece of word.pieces) {
      const whole = widthOf(piece.text);
      if (whole <= left) {
        current.push(piece);
        left -= whole;
        continue;
      }
      // What is left of a line may be too little for a wide character.
      if (left <= 1 && current.length > 0) end();
      for (const [at, text] of partsOf(piece.text, left, room(rest)).entries()) {
        if (at > 0) end();
        current.push({ ...piece, text });
        left -= widthOf(text);
      }
    }
  }
  if (current.length > 0 || lines.length === 0) end();
  return lines;
}

/** Words may consist of several spans, such as a bold word with a comma behind it. */
function wordsOf(spans: Line): Word[] {
  const words: Word[] = [];
  let open: Word | undefined;
  let gap: Span | undefined;
  for (const each of spans) {
    for (const part of each.text.split(/( +)/)) {
      if (part === '') continue;
      if (part.startsWith(' ')) {
        gap = { ...each, text: part };
        open = undefined;
        continue;
      }
      if (open === undefined) words.push((open = { pieces: [], width: 0, gap }));
      gap = undefined;
      open.pieces.push({ ...each, text: part });
      open.width += widthOf(part);
    }
  }
  return words;
}

/** Without blanks at its end, which a terminal would show as a line of their own where they do not fit. */
function trimmed(spans: Line): Line {
  const kept = [...spans];
  for (let last = kept.at(-1); last !== undefined; last = kept.at(-1)) {
    const text = last.text.trimEnd();
    if (text === last.text) break;
    kept.pop();
    if (text !== '') kept.push({ ...last, text });
  }
  return kept;
}

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
