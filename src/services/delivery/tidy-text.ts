import { fenceFollower } from '../../base/text/markdown.ts';

/**
 * A text without the indentation common to all its lines, trailing blanks and runs of blank lines. Deeper indentation
 * is kept, and code fences are not changed. The first line of a hanging text does not count: it begins after something
 * else.
 */
export function tidyText(text: string, isHanging = false): string {
  const lines = text.replaceAll('\r\n', '\n').replaceAll('\r', '\n').split('\n');
  const common = commonIndent(isHanging && lines[0]?.trim() !== '' ? lines.slice(1) : lines);
  const kept: string[] = [];
  const isFenced = fenceFollower();
  for (const whole of lines) {
    const line = whole.slice(Math.min(common, indentOf(whole)));
    if (isFenced(line.trimStart())) kept.push(line);
    else if (line.trim() !== '' || kept.at(-1) !== '') kept.push(line.trimEnd());
  }
  return kept.join('\n').replace(/^\n+/, '').trimEnd();
}

function commonIndent(lines: readonly string[]): number {
  const indents = lines.filter((line) => line.trim() !== '').map(indentOf);
  return indents.length === 0 ? 0 : indents.reduce((least, each) => Math.min(least, each));
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
