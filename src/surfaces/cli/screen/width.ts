import stringWidth from 'string-width';
import { span, type Line, type Span } from './lines.ts';

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
export function parts(text: string, first: number, others: number): string[] {
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
    const [fits = ''] = left > 0 ? parts(each.text, left, left) : [];
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
