import { structuredPatch, type StructuredPatchHunk } from 'diff';

/** A place where two texts differ, its lines as `diff -u` writes them. */
type Hunk = Pick<StructuredPatchHunk, 'oldStart' | 'newStart' | 'lines'>;

/** A difference takes this many edits and this long at most; beyond that, two texts have nothing in common. */
const MAX_EDITS = 4_000;
const MAX_MS = 500;

/** Where two texts differ, with so many lines around each place. */
export function hunksOf(before: string, after: string, context: number): Hunk[] {
  const limits = { context, maxEditLength: MAX_EDITS, timeout: MAX_MS };
  return (
    structuredPatch('', '', before, after, '', '', limits)?.hunks ?? [
      // All of the one goes, all of the other comes.
      { oldStart: 1, newStart: 1, lines: [...signed(before, '-'), ...signed(after, '+')] },
    ]
  );
}

function signed(text: string, sign: string): string[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => sign + line);
}
