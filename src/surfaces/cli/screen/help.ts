import { line, type Line, span } from './paint.ts';
import { lineWidth, wrapped } from './text.ts';

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
