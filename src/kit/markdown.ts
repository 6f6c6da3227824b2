/**
 * The text with comments and fenced blocks blanked out, line by line, so that examples are not taken for entries and
 * line numbers stay true.
 */
export function withoutExamples(text: string): string[] {
  let fence: string | undefined;
  return withoutComments(text)
    .split(/\r?\n/)
    .map((line) => {
      const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
      if (fence === undefined) {
        if (mark === undefined) return line;
        fence = mark;
        return '';
      }
      if (mark !== undefined && mark.startsWith(fence)) fence = undefined;
      return '';
    });
}

/**
 * One that is not closed, or not before the next begins, ends with its line: a remembered text may contain the mark,
 * and everything after it would be lost. Each mark is searched for once, so that many of them take no longer.
 */
export function withoutComments(text: string): string {
  let kept = '';
  let from = 0;
  let start = text.indexOf(OPEN);
  let close = -1;
  while (start >= 0) {
    const next = text.indexOf(OPEN, start + OPEN.length);
    if (close !== Infinity && close < start + OPEN.length) close = placeOf(text, CLOSE, start + OPEN.length);
    const isClosed = close !== Infinity && (next < 0 || close < next);
    const end = isClosed
      ? close + CLOSE.length
      : Math.min(placeOf(text, '\n', start), next < 0 ? text.length : next);
    kept += text.slice(from, start) + text.slice(start, end).replace(/[^\n]/g, '');
    from = end;
    start = next;
  }
  return kept + text.slice(from);
}

const OPEN = '<!--';
const CLOSE = '-->';

function placeOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? Infinity : at;
}

export interface Section {
  level: number;
  title: string;
  /** Line number of the heading, from 1; 0 for the text before the first heading. */
  line: number;
  body: { text: string; line: number }[];
}

/** A text cut at its headings. */
export function sectionsOf(lines: readonly string[]): Section[] {
  const sections: Section[] = [{ level: 0, title: '', line: 0, body: [] }];
  for (const [index, text] of lines.entries()) {
    const heading = /^(#{1,6})\s+(.*?)\s*#*\s*$/.exec(text);
    if (heading === null) sections.at(-1)?.body.push({ text, line: index + 1 });
    else
      sections.push({ level: heading[1]?.length ?? 1, title: heading[2] ?? '', line: index + 1, body: [] });
  }
  return sections;
}

const BULLET = /^\s{0,3}[-*]\s+(?:\[(\d{4}-\d{2}-\d{2})[^\]]{0,20}\]\s*)?(\S.*?)\s*$/;

/** `- [2026-02-10] text`, with `-` or `*`, with or without a date. */
export function bulletIn(line: string): { date?: string; text: string } | undefined {
  const found = BULLET.exec(line);
  if (found?.[2] === undefined || /^[-*_]{2,}$/.test(found[2])) return undefined;
  return found[1] === undefined ? { text: found[2] } : { date: found[1], text: found[2] };
}

/** The cells of a table row; undefined for the line between head and body, and for anything that is not a row. */
export function rowIn(line: string): string[] | undefined {
  const trimmed = line.trim();
  if (!trimmed.startsWith('|') || /^\|[\s|:-]*$/.test(trimmed)) return undefined;
  return trimmed
    .replace(/^\||\|$/g, '')
    .split(/(?<!\\)\|/)
    .map((part) => part.replaceAll(String.raw`\|`, '|').trim());
}

/** What a template leaves to be filled in. */
export function isUnset(text: string): boolean {
  const bare = text.replace(/\*\*[^*]*\*\*\s*:?/g, '').replace(/[-*|>[\]()\s]/g, '');
  return (
    bare === '' ||
    /^(?:—|–|…|àcompléter\.?|tobecompleted\.?|tbd|todo)+$/i.test(bare) ||
    /\{\{[^}]*\}\}/.test(bare)
  );
}
