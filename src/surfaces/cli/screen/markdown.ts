import { inline } from './inline.ts';
import { EMPTY, line, span, type Line, type Style } from './lines.ts';
import { table, type Row } from './table.ts';
import { lineWidth } from './width.ts';
import { wrapped } from './wrap.ts';

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
