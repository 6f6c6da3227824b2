import { say } from '../../../base/text/message.ts';
import { ago, oneLine } from '../../../base/text/text.ts';
import type { Answers } from '../../../operations/registry.ts';
import { line, type Line, span, type Span, type Style } from '../screen/paint.ts';
import { type Column, type Row, table, wrapped, lineWidth } from '../screen/text.ts';

/** What a screen knows about where it is shown. */
export interface Page {
  width: number;
  /** The time for which it is drawn. */
  now: number;
}

/** Draws the answer of an operation from its data; nothing where the text of the answer says it best. */
export type Draw<K extends keyof Answers> = (data: Answers[K], page: Page) => Line[] | undefined;

const BLOCKS = { full: '█', empty: '░' };

/** `█████░░░░░`. What has begun shows it, and only what is done is full. */
export function bar(done: number, total: number, length = 10): Line {
  const share = total <= 0 ? 0 : Math.min(1, Math.max(0, done / total));
  const full =
    share === 0 ? 0 : share === 1 ? length : Math.min(length - 1, Math.max(1, Math.round(share * length)));
  return [
    span(BLOCKS.full.repeat(full), share === 1 ? 'good' : 'name'),
    span(BLOCKS.empty.repeat(length - full), 'muted'),
  ];
}

/** How words for a state are meant, whatever it is the state of. */
const MEANINGS: readonly (readonly [RegExp, Style])[] = [
  [/^(?:complete|completed|done|pass|served|accepted|active|proven)$/i, 'good'],
  [/^(?:fail|failed|broken|rejected|refused|not served)$/i, 'bad'],
  [
    /^(?:in progress|running|claimed|paused|needs_approval|update waits|not fetched|not_verified|pending|draft)$/i,
    'warn',
  ],
];

export function state(word: string): Span {
  return span(say(word).replaceAll('_', ' '), MEANINGS.find(([words]) => words.test(word))?.[1] ?? 'muted');
}

export const MARKS = { good: span('✓', 'good'), bad: span('✗', 'bad'), warn: span('!', 'warn') };

/** Text of one line, from whoever wrote it. */
export const short = (text: string, most = 400): string => oneLine(text, most);

/** `5 minutes ago`, muted; nothing where the time is not known. */
export function when(time: string | undefined, { now }: Page): Line {
  const then = time === undefined ? Number.NaN : Date.parse(time);
  return Number.isNaN(then) ? [] : [span(ago(then, now), 'muted')];
}

export const muted = (text: string): Line => line(span(text, 'muted'));

export const titled = (title: string, lines: readonly Line[]): Line[] =>
  lines.length === 0 ? [] : [line(span(title, 'title')), ...lines];

/** A table with the titles of its columns in the language of the reader. */
export const listing = (columns: readonly Column[], rows: readonly Row[], { width }: Page): Line[] =>
  table(
    columns.map((column) => ({ ...column, title: column.title === '' ? '' : say(column.title) })),
    rows,
    width,
  );

/** Lines about what is wrong, each with its mark. */
export function problemLines(problems: readonly string[], { width }: Page, mark = MARKS.bad): Line[] {
  return problems.flatMap((text) =>
    text.split('\n').flatMap((each, at) =>
      wrapped(line(each.trim()), width, {
        first: at === 0 ? line(mark, ' ') : line('  '),
        rest: line('  '),
      }),
    ),
  );
}

/** The first sentence, which says what something is; what follows says when a model should use it. */
export function firstSentence(text: string): string {
  const end = /[.!?](?=\s)/.exec(text);
  return end === null ? text : text.slice(0, end.index + 1);
}

/** In English and in French, where a space that does not break stands before a colon. */
const TITLE = /^\p{Lu}[\p{L}\w ,'’]*\u00A0?:$/u;
const LABELLED = /^((?:Usage|Example|Also|Every day|Exemple|Aussi|Chaque jour)\u00A0?: )/;
const VARIABLE = / (BMAD_\w+)$/;
const COMPLAINT = /^(?:error|erreur\u00A0): /;

/** Help and complaints of the parser, with what can be typed marked, and broken between words. */
export function helpLines(text: string, width: number): Line[] {
  return text
    .trimEnd()
    .split('\n')
    .flatMap((own) => helpLine(own, width));
}

function helpLine(own: string, width: number): Line[] {
  if (TITLE.test(own)) return [line(span(own, 'title'))];
  const [, label] = LABELLED.exec(own) ?? [];
  if (label !== undefined)
    return wrapped(line(span(label, 'title'), own.slice(label.length)), width, {
      rest: line(' '.repeat(label.length)),
    });
  if (COMPLAINT.test(own))
    return wrapped(line(own.replace(COMPLAINT, '')), width, {
      first: line(span('✗', 'bad'), ' '),
      rest: line('  '),
    });
  // The variable of a setting stands in a third column; where there is no room for one, at the edge of the screen.
  const [, variable] = (own.length > width && own.trimStart().startsWith('-') && VARIABLE.exec(own)) || [];
  const found = termIn(variable === undefined ? own : own.slice(0, -variable.length).trimEnd());
  if (found !== undefined) {
    const { indent, term, gap, meaning } = found;
    const first = line(indent, span(term, 'name'), gap);
    const rest = line(' '.repeat(lineWidth(first)));
    const lines = wrapped(line(meaning), width, { first, rest });
    return variable === undefined ? lines : atEdge(lines, variable, width);
  }
  // An example, which is copied.
  if (/^ {2,}bmad /.test(own)) return [line(span(own, 'name'))];
  const text = own.trimStart();
  const indented = line(' '.repeat(own.length - text.length));
  return wrapped(line(text), width, { first: indented, rest: indented });
}

/** At the end of the last line, or of one of its own. */
function atEdge(lines: readonly Line[], text: string, width: number): Line[] {
  const last = lines.at(-1) ?? [];
  const room = width - text.length - lineWidth(last);
  const blanks = (count: number): string => ' '.repeat(Math.max(0, count));
  return room < 2
    ? [...lines, line(blanks(width - text.length), text)]
    : [...lines.slice(0, -1), line(...last, blanks(room), text)];
}

/** A term and what it means, in two columns. */
function termIn(own: string): Record<'indent' | 'term' | 'gap' | 'meaning', string> | undefined {
  const text = own.trimStart();
  const indent = own.slice(0, own.length - text.length);
  const end = text.indexOf('  ');
  if (indent.length < 2 || indent.length > 4 || end < 1) return undefined;
  const meaning = text.slice(end).trimStart();
  if (meaning === '') return undefined;
  return { indent, term: text.slice(0, end), gap: text.slice(end, text.length - meaning.length), meaning };
}
