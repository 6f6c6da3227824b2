import { lineEndOf } from './kit-text.ts';
import { sectionsOf, withoutExamples, type LineSection } from '../base/text/markdown.ts';

/**
 * A text with lines added at the end of a section: before the rule or the blank lines that close it, and in place of a
 * line that says there is nothing yet. Undefined if there is no such section. The rest is preserved byte for byte.
 */
export function addToSection(
  text: string,
  isWanted: (section: LineSection) => boolean,
  added: readonly string[],
  {
    isPlaceholder = () => false,
    gap = true,
  }: { isPlaceholder?: (line: string) => boolean; gap?: boolean } = {},
): string | undefined {
  const plain = withoutExamples(text);
  const sections = sectionsOf(plain);
  const at = sections.findIndex((section) => section.line > 0 && isWanted(section));
  const wanted = sections[at];
  if (wanted === undefined) return undefined;
  const next = sections.slice(at + 1).find(({ level }) => level <= wanted.level);
  const end = lineEndOf(text);
  const lines = text.split(/\r?\n/);
  const ends = text.match(/\r?\n/g) ?? [];
  const from = wanted.line;
  let to = next === undefined ? lines.length : next.line - 1;
  // An empty last line is the line end of the line before it.
  while (to > from && /^\s*(?:-{3,}\s*)?$/.test(lines[to - 1] ?? '')) to -= 1;
  const kept: string[] = [];
  for (let index = 0; index < to; index += 1) {
    const isOpen = index >= from && plain[index] === lines[index] && isPlaceholder(lines[index] ?? '');
    if (isOpen) continue;
    kept.push(`${lines[index] ?? ''}${ends[index] ?? end}`);
  }
  while (kept.length > from && kept.at(-1)?.trim() === '') kept.pop();
  const last = kept.at(-1)?.trim() ?? '';
  // A blank line would end a table.
  const goesOn = /^[-*]\s/.test(last) || (last.startsWith('|') && added[0]?.startsWith('|') === true);
  const blank = gap || !goesOn ? [end] : [];
  const rest = lines.slice(to).map((line, index) => `${line}${ends[to + index] ?? ''}`);
  const closing = rest.length === 0 || rest[0]?.trim() === '' ? [] : [end];
  return [...kept, ...blank, ...added.map((line) => `${line}${end}`), ...closing, ...rest].join('');
}
