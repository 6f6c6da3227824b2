import { maskCodeSecrets } from '../../base/secrets/code-secrets.ts';
import { cut } from '../../base/text/text.ts';
import type { Chunk } from './chunks.ts';

export interface SnippetLine {
  /** Counted from 1. */
  line: number;
  text: string;
}

const LINES = 7;
const WIDTH = 160;

/**
 * The lines of a file without its secrets. Masked as a whole, not piece by piece: a private key is longer than a piece,
 * and its middle looks like nothing in particular.
 */
export function shownLines(lines: readonly string[], path: string): string[] {
  const masked = maskCodeSecrets(lines.join('\n'), path).split('\n');
  // Masking keeps the lines; should it ever not, their numbers would be wrong, and text that is not masked shown.
  return masked.length === lines.length ? masked : lines.map((line) => maskCodeSecrets(line, path));
}

/**
 * A few lines that show why a chunk was found: where it begins, and around the lines that say most of what was asked.
 * The lines are those of `shownLines`.
 */
export function snippetOf(
  lines: readonly string[],
  { start, end }: Chunk,
  worth: (line: string, index: number) => number,
): SnippetLine[] {
  const last = Math.min(end, lines.length - 1);
  const shown = lines.slice(start, last + 1).map((line) => line.replace(/\r$/, ''));
  const first = Math.max(
    0,
    shown.findIndex((line) => /[\p{L}\p{N}]/u.test(line)),
  );
  const scores = shown.map((line, index) => (index < first ? 0 : worth(line.slice(0, 1_000), start + index)));
  const chosen = new Set([first]);
  const byWorth = scores.map((score, index) => ({ score, index })).filter(({ score }) => score > 0);
  byWorth.sort((a, b) => b.score - a.score || a.index - b.index);
  for (const { index } of byWorth) if (chosen.size < LINES - 2) chosen.add(index);
  for (let index = first + 1; chosen.size < LINES && index < shown.length; index++)
    if ((shown[index] ?? '').trim() !== '') chosen.add(index);
  return [...chosen]
    .sort((a, b) => a - b)
    .map((index) => ({ line: start + index + 1, text: narrow(shown[index] ?? '') }));
}

function narrow(line: string): string {
  const text = line.replaceAll('\t', '  ').trimEnd();
  return text.length <= WIDTH ? text : `${cut(text, WIDTH - 1)}…`;
}
