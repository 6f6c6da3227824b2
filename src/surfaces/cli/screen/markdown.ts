import { EMPTY, line, type Line, span, type Span, type Style } from './paint.ts';
import { lineWidth, type Row, table, wrapped } from './text.ts';

/** Lines of more columns than this are hard to follow, however wide the terminal is. */
export const PROSE_WIDTH = 110;
const RULE = 40;

const FENCE = /^ {0,12}(`{3,}|~{3,})/;
const HEADING = /^(#{1,6}) (.*)$/;
const BULLET = /^( *)([-*+]|\d{1,4}[.)]) (.*)$/;
const RULER = /^(?:-{3,}|\*{3,}|_{3,})$/;
const DIVIDER = /^\|[-:| ]+\|$/;
/** How our own answers mark where a file begins and ends. */
const BORDER = /^-{5} (?:BEGIN|END) .*-{5}$/;

/**
 * Markdown as lines of a terminal. It goes by lines: answers and the files of BMAD say one thing in a line, where
 * Markdown would run the lines of a paragraph together.
 */
export function markdown(text: string, width: number): Line[] {
  const source = text.replaceAll('\r\n', '\n').replaceAll('\t', '    ').split('\n');
  const prose = Math.min(width, PROSE_WIDTH);
  const lines: Line[] = [];
  let fence: string | undefined;
  let isDiff = false;
  for (let at = 0; at < source.length; at++) {
    const own = source[at] ?? '';
    const mark = FENCE.exec(own)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined;
      // Code is copied: only the terminal breaks its lines.
      else lines.push(line('  ', span(own, isDiff ? diffStyle(own) : 'code')));
    } else if (mark !== undefined) {
      fence = mark;
      isDiff = own.trim().slice(mark.length) === 'diff';
    } else if (own.startsWith('|') && DIVIDER.test((source[at + 1] ?? '').trim())) {
      const end = endOfTable(source, at + 2);
      lines.push(...tableOf(source.slice(at, end), width));
      at = end - 1;
    } else if (own.trim() !== '') lines.push(...block(own, prose));
    else if (lines.length > 0 && lines.at(-1) !== EMPTY) lines.push(EMPTY);
  }
  while (lines.at(-1) === EMPTY) lines.pop();
  return lines;
}

/**
 * A text as it is, every line of it. What we have fenced in it is set off by its place, so that nothing there passes for what is said of it; what
 * begins at the edge is ours, and broken between words.
 */
export function exactLines(text: string, width: number): Line[] {
  let fence: string | undefined;
  return text.split('\n').flatMap((own) => {
    const isMark = fence === undefined ? /^`{3,}$/.test(own) : own === fence;
    if (!isMark && fence !== undefined) return [line('    ', span(own, 'code'))];
    if (!isMark) return own.startsWith(' ') ? [line(own)] : wrapped(line(own), width);
    fence = fence === undefined ? own : undefined;
    return [];
  });
}

/** What comes and what goes; a mark at the beginning says it too. */
function diffStyle(own: string): Style | undefined {
  if (own.startsWith('+')) return 'good';
  return own.startsWith('-') ? 'bad' : 'code';
}

function block(own: string, width: number): Line[] {
  const [, , heading] = HEADING.exec(own) ?? [];
  if (heading !== undefined) return wrapped(inline(heading, 'title'), width);
  if (RULER.test(own)) return [line(span('─'.repeat(Math.min(RULE, width)), 'muted'))];
  if (BORDER.test(own)) return wrapped([span(own, 'muted')], width);
  const [, before = '', bullet, item = ''] = BULLET.exec(own) ?? [];
  if (bullet !== undefined) {
    const shown = /\d/.test(bullet) ? bullet : '•';
    return wrapped(inline(item), width, {
      first: line(before, span(shown, 'muted'), ' '),
      rest: line(' '.repeat(before.length + shown.length + 1)),
    });
  }
  if (own.startsWith('> ')) {
    const bar = line(span('│ ', 'muted'));
    return wrapped(inline(own.slice(2)), width, { first: bar, rest: bar });
  }
  const text = own.trimStart();
  const indent = line(' '.repeat(Math.min(own.length - text.length, Math.floor(width / 2))));
  return wrapped(inline(text), width, { first: indent, rest: indent });
}

function endOfTable(source: readonly string[], from: number): number {
  let end = from;
  while (source[end]?.startsWith('|') === true) end++;
  return end;
}

function tableOf(source: readonly string[], width: number): Line[] {
  const [head = '', , ...rest] = source;
  const titles = cellsOf(head);
  const rows: Row[] = rest.map((own) => ({ cells: cellsOf(own).map((cell) => inline(cell)) }));
  const longest = (at: number): number =>
    rows.reduce((most, { cells }) => Math.max(most, lineWidth(cells[at] ?? EMPTY)), 0);
  return table(
    titles.map((title, at) => ({ title, ...(longest(at) > 20 ? { flexible: true } : {}) })),
    rows,
    width,
  );
}

/** The cells of a row; a bar with a backslash before it is text. */
function cellsOf(row: string): string[] {
  const cells = row
    .trim()
    .replace(/^\|/, '')
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim());
  if (cells.at(-1) === '') cells.pop();
  return cells;
}

/** Nobody emphasises words in longer lines; they are data. */
const LONGEST = 20_000;
const ADDRESS_START = /https?:\/\//y;
const ADDRESS = /[^\s<>"'`)\]]+/y;
const MARKS: readonly (readonly [mark: string, style: Style])[] = [
  ['**', 'strong'],
  ['__', 'strong'],
  ['~~', 'struck'],
  ['*', 'emphasis'],
  ['_', 'emphasis'],
];

/**
 * The spans of one line of Markdown. Every search either finds what it takes or is not made again, so the time is in
 * proportion to the length.
 */
export function inline(text: string, style?: Style): Line {
  if (text.length > LONGEST) return [span(text, style)];
  const spans: Span[] = [];
  const unclosed = new Set<string>();
  let plain = '';
  const flush = (): void => {
    if (plain !== '') spans.push(span(plain, style));
    plain = '';
  };
  for (let at = 0; at < text.length;) {
    const found =
      codeAt(text, at, unclosed) ??
      markedAt(text, at, unclosed) ??
      linkAt(text, at, unclosed) ??
      addressAt(text, at);
    if (found === undefined) {
      const escaped = text[at] === '\\' && /[*_`|[\]#~]/.test(text[at + 1] ?? '');
      plain += text.charAt(escaped ? at + 1 : at);
      at += escaped ? 2 : 1;
      continue;
    }
    flush();
    spans.push(...found.spans);
    at = found.end;
  }
  flush();
  return spans;
}

interface StyledPart {
  spans: Line;
  end: number;
}

/** Where a mark ends what it began; asked for no second time once there is no end. */
function closing(text: string, mark: string, from: number, unclosed: Set<string>): number {
  if (unclosed.has(mark)) return -1;
  for (let at = text.indexOf(mark, from); at !== -1; at = text.indexOf(mark, at + mark.length)) {
    if (mark.startsWith('`') || mark === '](' || mark === ')') return at;
    const before = text.charAt(at - 1);
    const after = text.charAt(at + mark.length);
    // One mark is no half of two.
    const half = mark.length === 1 && (after === mark || before === mark);
    if (!/\s/.test(before) && !half && (mark !== '_' || !/\w/.test(after))) return at;
  }
  unclosed.add(mark);
  return -1;
}

function codeAt(text: string, at: number, unclosed: Set<string>): StyledPart | undefined {
  if (text[at] !== '`') return undefined;
  const mark = text.startsWith('``', at) ? '``' : '`';
  const end = closing(text, mark, at + mark.length, unclosed);
  if (end <= at + mark.length) return undefined;
  return { spans: [span(text.slice(at + mark.length, end), 'name')], end: end + mark.length };
}

function markedAt(text: string, at: number, unclosed: Set<string>): StyledPart | undefined {
  const [mark, style] = MARKS.find(([each]) => text.startsWith(each, at)) ?? [];
  if (mark === undefined) return undefined;
  const begins = /\S/.test(text.charAt(at + mark.length));
  // Names such as `run_id` and products such as `2*3` are no emphasis.
  const inWord = mark.length === 1 && /[\w*]/.test(text.charAt(at - 1));
  if (!begins || inWord) return undefined;
  const end = closing(text, mark, at + mark.length, unclosed);
  if (end <= at + mark.length) return undefined;
  return { spans: inline(text.slice(at + mark.length, end), style), end: end + mark.length };
}

/** `[words](address)`; the address is shown, so that nobody is led where they do not see. */
function linkAt(text: string, at: number, unclosed: Set<string>): StyledPart | undefined {
  if (text[at] !== '[') return undefined;
  const middle = closing(text, '](', at + 1, unclosed);
  const end = middle === -1 ? -1 : closing(text, ')', middle + 2, unclosed);
  const words = text.slice(at + 1, middle);
  const target = text.slice(middle + 2, end);
  if (end === -1 || words.includes('[') || target.includes(' ')) return undefined;
  const address = addressAt(target, 0)?.spans ?? [span(target, 'muted')];
  return {
    spans: words === target ? address : [span(words), span(' (', 'muted'), ...address, span(')', 'muted')],
    end: end + 1,
  };
}

function addressAt(text: string, at: number): StyledPart | undefined {
  ADDRESS_START.lastIndex = at;
  if (!ADDRESS_START.test(text)) return undefined;
  ADDRESS.lastIndex = at;
  const [found = ''] = ADDRESS.exec(text) ?? [];
  const address = found.replace(/[.,;:!?]$/, '');
  return { spans: [{ ...span(address, 'link'), link: address }], end: at + address.length };
}
