import stringWidth from 'string-width';
import { spansOf, type Span } from './ansi.ts';

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
export interface Screen {
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
