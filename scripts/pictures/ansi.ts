/** A piece of a line that looks the same all over. */
export interface Span {
  text: string;
  /** One of the sixteen colours of a terminal; the foreground where there is none. */
  colour?: number;
  bold?: true;
  dim?: true;
  italic?: true;
  underline?: true;
}

type Look = Omit<Span, 'text'>;

/** Looks, and the links around words, which a picture cannot follow. */
// oxlint-disable-next-line no-control-regex -- these are the sequences of terminals
const SEQUENCE = /\u001B\[([\d;]*)m|\u001B\]8;[^\u0007\u001B]*(?:\u0007|\u001B\\)/g;

/** What a terminal shows of a line, in pieces. */
export function spansOf(line: string): Span[] {
  const spans: Span[] = [];
  let look: Look = {};
  let from = 0;
  for (const match of line.matchAll(SEQUENCE)) {
    if (match.index > from) spans.push({ text: line.slice(from, match.index), ...look });
    from = match.index + match[0].length;
    if (match[1] !== undefined) look = changed(look, match[1]);
  }
  if (from < line.length) spans.push({ text: line.slice(from), ...look });
  return spans;
}

function changed(look: Look, codes: string): Look {
  let next = { ...look };
  for (const code of codes.split(';').map(Number)) {
    if (code === 0) next = {};
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) next = without(next, 'bold', 'dim');
    else if (code === 23) next = without(next, 'italic');
    else if (code === 24) next = without(next, 'underline');
    else if (code === 39) next = without(next, 'colour');
    else if (code >= 30 && code <= 37) next.colour = code - 30;
    else if (code >= 90 && code <= 97) next.colour = code - 90 + 8;
    // What a picture shows without is better noticed here than by a reader.
    else throw new Error(`The pictures do not know the code ${code} of terminals.`);
  }
  return next;
}

function without(look: Look, ...keys: (keyof Look)[]): Look {
  const rest = { ...look };
  for (const key of keys) delete rest[key];
  return rest;
}
