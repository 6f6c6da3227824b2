import { maskCodeSecrets } from '../../base/code-secrets.ts';
import { cut } from '../../base/text.ts';
import type { Chunk } from './chunks.ts';

export interface SnippetLine {
  /** Counted from 1. */
  line: number;
  text: string;
}

const LINES = 7;
const WIDTH = 160;

/**
 * A few lines that show why a chunk was found: where it begins, and around the lines that say most of what was asked.
 * Secrets are masked over the whole chunk first, so that one that goes over several lines is seen.
 */
export function snippetOf(
  lines: readonly string[],
  { start, end }: Chunk,
  worth: (line: string, index: number) => number,
): SnippetLine[] {
  const last = Math.min(end, lines.length - 1);
  const text = maskCodeSecrets(lines.slice(start, last + 1).join('\n')).split('\n');
  // A key over several lines is one line when it is masked; what follows would have wrong numbers.
  const intact = text.length === last - start + 1;
  const shown = (intact ? text : text.slice(0, 1)).map((line) => line.replace(/\r$/, ''));
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
