import stringWidth from 'string-width';

const CELL = { width: 8.4, height: 19 };
const EDGE = 18;
const BAR = 30;

/** The colours of a terminal on a light and on a dark ground, with enough contrast on each for small text. */
const LIGHT = {
  ground: '#fbfaf7',
  frame: '#d9d5cb',
  text: '#24292e',
  faint: '#6b6f76',
  colours: ['#24292e', '#b3261e', '#23733b', '#8a5a00', '#1f5fbf', '#8b3fa0', '#0b7285', '#57606a'],
};
const DARK = {
  ground: '#1b1d21',
  frame: '#3a3e45',
  text: '#e6e4df',
  faint: '#9a9fa8',
  colours: ['#8b929b', '#ff8a80', '#7ecb8f', '#e3b765', '#85b4ff', '#d9a0e8', '#6fcbdc', '#b6bcc4'],
};

type Theme = typeof LIGHT;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

/** What is typed and what comes back, as lines of a terminal. */
interface Screen {
  title: string;
  columns: number;
  lines: readonly string[];
}

/** A screen as a picture that follows the reader's choice of light and dark, and says its text to who cannot see it. */
export function svgOf({ title, columns, lines }: Screen): string {
  const width = Math.ceil(columns * CELL.width + 2 * EDGE);
  const height = Math.ceil(BAR + lines.length * CELL.height + EDGE);
  const dots = [0, 1, 2]
    .map((index) => `<circle class="dot" cx="${EDGE + 4 + index * 16}" cy="17" r="5"/>`)
    .join('');
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(title)}">`,
    `<title>${escaped(title)}</title>`,
    `<style>${style()}</style>`,
    `<rect class="ground" x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    dots,
    ...lines.flatMap((line, index) => textOf(line, BAR + (index + 0.75) * CELL.height)),
    '</svg>',
    '',
  ].join('\n');
}

function style(): string {
  const of = ({ ground, frame, text, faint, colours }: Theme): string =>
    [
      `.ground{fill:${ground};stroke:${frame}}.dot{fill:${frame}}text{fill:${text}}.d{fill:${faint}}`,
      ...colours.map((colour, index) => `.c${index}{fill:${colour}}`),
    ].join('');
  return [
    "text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace;white-space:pre}",
    '.b{font-weight:700}.i{font-style:italic}.u{text-decoration:underline}',
    of(LIGHT),
    `@media (prefers-color-scheme:dark){${of(DARK)}}`,
  ].join('');
}

/** Each piece has its place and its length, so that columns stand below each other in every font. */
function textOf(line: string, y: number): string[] {
  const texts: string[] = [];
  let column = 0;
  for (const span of spansOf(line)) {
    const cells = stringWidth(span.text);
    const visible = span.text.trim();
    if (visible !== '') {
      const before = stringWidth(span.text.slice(0, span.text.indexOf(visible)));
      const x = EDGE + (column + before) * CELL.width;
      const length = stringWidth(visible) * CELL.width;
      texts.push(
        `<text x="${round(x)}" y="${round(y)}" textLength="${round(length)}" lengthAdjust="spacingAndGlyphs"${looks(span)}>${escaped(visible)}</text>`,
      );
    }
    column += cells;
  }
  return texts;
}

function looks({ colour, bold, dim, italic, underline }: Span): string {
  const names = [
    // Bright colours are the plain ones here: there is one ground, and each is made for it.
    colour === undefined ? undefined : `c${colour % 8}`,
    bold && 'b',
    dim && 'd',
    italic && 'i',
    underline && 'u',
  ].filter((name) => typeof name === 'string');
  return names.length === 0 ? '' : ` class="${names.join(' ')}"`;
}

const round = (value: number): string => String(Math.round(value * 10) / 10);

/** A piece of a line that looks the same all over. */
interface Span {
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
function spansOf(line: string): Span[] {
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
