import type { Line, Span } from './lines.ts';
import { lineWidth, parts, widthOf } from './width.ts';

/** What the first line and all others begin with. */
export interface Indents {
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
      for (const [at, text] of parts(piece.text, left, room(rest)).entries()) {
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
