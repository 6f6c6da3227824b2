import { lineEndOf } from './kit-text.ts';
import { headingIn, withoutExamples } from '../base/text/markdown.ts';

interface Heading {
  level: number;
  title: string;
}

/** A line that says there is nothing yet. */
interface Placeholder {
  is(line: string): boolean;
  /** Whether a text may have one at all, by a quick look. */
  mayBeIn(text: string): boolean;
}

/**
 * A text with lines added at the end of a section: before the rule or the blank lines that close it, and in place of a
 * line that says there is nothing yet. Undefined if there is no such section. The rest is preserved byte for byte. A section
 * may have thousands of lines, of which only the last ones are looked at.
 */
export function addToSection(
  text: string,
  isWanted: (heading: Heading) => boolean,
  added: readonly string[],
  { placeholder, gap = true }: { placeholder?: Placeholder; gap?: boolean } = {},
): string | undefined {
  const found = sectionIn(text, isWanted);
  if (found === undefined) return undefined;
  const end = lineEndOf(text);
  const head = text.slice(0, found.from);
  const body = text.slice(found.from, found.to);
  const cut = lengthOfEntries(body);
  const own = body.slice(0, cut);
  const isOpen = (line: string, index: number): boolean =>
    placeholder?.is(line) === true && !found.isExample(index, line);
  const kept = placeholder?.mayBeIn(own) === true ? withoutOpen(own, isOpen) : own;
  const last = kept.slice(kept.lastIndexOf('\n', kept.length - 2) + 1).trim();
  // A blank line would end a table.
  const goesOn = /^[-*]\s/.test(last) || (last.startsWith('|') && added[0]?.startsWith('|') === true);
  const rest = body.slice(cut) + text.slice(found.to);
  return [
    ...[head, kept].map((part) => (part === '' || part.endsWith('\n') ? part : `${part}${end}`)),
    gap || !goesOn ? end : '',
    ...added.map((line) => `${line}${end}`),
    rest === '' || /^[^\S\n]*(?:\n|$)/.test(rest) ? '' : end,
    rest,
  ].join('');
}

/** Up to the rule or the blank lines at the end. */
function lengthOfEntries(body: string): number {
  for (let cut = body.length; cut > 0;) {
    const from = cut < 2 ? 0 : body.lastIndexOf('\n', cut - 2) + 1;
    if (!/^\s*(?:-{3,}\s*)?$/.test(body.slice(from, cut))) return cut;
    cut = from;
  }
  return 0;
}

function withoutOpen(body: string, isOpen: (line: string, index: number) => boolean): string {
  const lines = body.split(/(?<=\n)/).filter((line, index) => !isOpen(line, index));
  while (lines.at(-1)?.trim() === '') lines.pop();
  return lines.join('');
}

/** Where the lines of a section begin, and where the next one does that is not below it. Examples have no headings. */
function sectionIn(text: string, isWanted: (heading: Heading) => boolean) {
  const plain = ['<!--', '```', '~~~'].some((mark) => text.includes(mark))
    ? withoutExamples(text)
    : undefined;
  let wanted: { level: number; from: number; line: number } | undefined;
  let to = text.length;
  for (let [start, line] = [0, 0]; start < text.length; line += 1) {
    const feed = text.indexOf('\n', start);
    const next = feed < 0 ? text.length : feed + 1;
    const own = plain === undefined ? text.slice(start, next) : plain[line];
    const heading = own?.startsWith('#') === true ? headingIn(own.trimEnd()) : undefined;
    if (heading !== undefined && wanted !== undefined && heading.level <= wanted.level) {
      to = start;
      break;
    }
    if (heading !== undefined && wanted === undefined && isWanted(heading))
      wanted = { level: heading.level, from: next, line: line + 1 };
    // Without examples, all that matters begins with a mark.
    const mark = plain === undefined && text[next] !== '#' ? text.indexOf('\n#', next) + 1 : next;
    start = mark === 0 ? text.length : mark;
  }
  if (wanted === undefined) return undefined;
  const { from, line } = wanted;
  const isExample = (index: number, own: string): boolean =>
    plain !== undefined && plain[line + index] !== own.replace(/\r?\n$/, '');
  return { from, to, isExample };
}
