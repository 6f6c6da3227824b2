import { structuredPatch, type StructuredPatchHunk } from 'diff';
import { t } from './message.ts';

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

/**
 * The markers that a merge leaves in a file whose two sides do not fit together. A line of equals signs may also underline a
 * heading: a conflict begins with `<<<<<<< `, and only what follows that belongs to it.
 */

interface Conflicts {
  /** The lines at which they begin. */
  lines: number[];
  /** The text of both sides, one after the other. Blanks stand for the markers, so that lines and places stay the same. */
  both: string;
  /** The text as the one side and the other would have it, in the same way. */
  sides: readonly [string, string];
}

const BEGINS = '<<<<<<< ';
const MARKER = /^(<{7} |\|{7}(?: |\r?$)|={7}\r?$|>{7}(?: |\r?$))/;
/** Before any conflict, in the first side, in what both came from, in the second side. */
type Part = 'common' | 'first' | 'origin' | 'second';
const AFTER: Readonly<Record<string, Part>> = { '<': 'first', '|': 'origin', '=': 'second', '>': 'common' };

/** Nothing for a text without conflicts. */
export function conflictsIn(text: string): Conflicts | undefined {
  if (!text.startsWith(BEGINS) && !text.includes(`\n${BEGINS}`)) return undefined;
  const lines: number[] = [];
  const [both, first, second]: [string[], string[], string[]] = [[], [], []];
  let part: Part = 'common';
  for (const [index, line] of text.split('\n').entries()) {
    const sign = MARKER.exec(line)?.[0].charAt(0);
    const marks = sign !== undefined && (sign === '<' || part !== 'common');
    const blank = line.replace(/[^\r]/g, ' ');
    if (marks) {
      if (sign === '<') lines.push(index + 1);
      part = AFTER[sign] ?? 'common';
    }
    const isKept = !marks && part !== 'origin';
    both.push(isKept ? line : blank);
    first.push(isKept && part !== 'second' ? line : blank);
    second.push(isKept && part !== 'first' ? line : blank);
  }
  return { lines, both: both.join('\n'), sides: [first.join('\n'), second.join('\n')] };
}

const NAMED = 5;

function placesOf({ lines }: Pick<Conflicts, 'lines'>): string {
  if (lines.length === 1) return t`line ${lines[0] ?? 0}`;
  return t`lines ${lines.slice(0, NAMED).join(', ')}${lines.length > NAMED ? ', …' : ''}`;
}

/** What is told about a file with conflicts; a sentence without its end. */
export function conflictText(file: string, conflicts: Pick<Conflicts, 'lines'>): string {
  return `${file} ${t`has unresolved conflict markers of git`} (${placesOf(conflicts)})`;
}

/** The same as a reason, where the file was named before. */
export function conflictReason(conflicts: Pick<Conflicts, 'lines'>): string {
  return t`it ${t`has unresolved conflict markers of git`} (${placesOf(conflicts)})`;
}

/** Whether a text tells of conflicts. */
export const tellsConflict = (text: string): boolean =>
  text.includes(t`has unresolved conflict markers of git`);
