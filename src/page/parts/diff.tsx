import { diffLines, diffWords } from 'diff';
import { Fragment, type VNode } from 'preact';
import { isPlaceOfChange, visible } from './wording.ts';

/** More lines than anyone reads at once; the file itself has the rest. */
const MOST_LINES = 2_000;
const LONGEST_LINE = 2_000;

const linesOf = (text: string): string[] => (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n');

function classOf(line: string): string {
  if (isPlaceOfChange(line)) return 'place';
  return line.startsWith('+') ? 'add' : line.startsWith('-') ? 'del' : '';
}

/** A change as the server gives it, line by line. */
export function Diff({ text, title, note }: { text: string; title?: string; note?: string }): VNode {
  const all = linesOf(text);
  // Which file it is stands above them.
  const isTitled = title !== undefined && all[0]?.startsWith('--- ') && all[1]?.startsWith('+++ ');
  const lines = isTitled ? all.slice(2) : all;
  return (
    <div class="diff" role="group" aria-label={title ?? ''} tabIndex={0}>
      {title === undefined ? null : (
        <div class="head">
          <span>{visible(title)}</span>
          {note === undefined ? null : <span>{note}</span>}
        </div>
      )}
      {lines.slice(0, MOST_LINES).map((line, index) => (
        <div key={`${index} ${line.slice(0, 40)}`} class={classOf(line)}>
          {visible(line.slice(0, LONGEST_LINE)) || ' '}
        </div>
      ))}
      {lines.length > MOST_LINES ? <div class="place">+{lines.length - MOST_LINES}</div> : null}
    </div>
  );
}

interface Row {
  left: string | undefined;
  right: string | undefined;
}

/** The lines of two texts beside each other, changed ones in the same row. */
function rowsOf(before: string, after: string): Row[] {
  const rows: Row[] = [];
  let gone: string[] = [];
  const flush = (): void => {
    rows.push(...gone.map((left) => ({ left, right: undefined })));
    gone = [];
  };
  for (const { value, added, removed } of diffLines(before, after)) {
    const lines = linesOf(value);
    if (removed) gone.push(...lines);
    else if (added) {
      rows.push(...lines.map((right) => ({ left: gone.shift(), right })));
      flush();
    } else {
      flush();
      rows.push(...lines.map((line) => ({ left: line, right: line })));
    }
  }
  flush();
  return rows;
}

/** Two texts side by side; on a narrow screen one below the other, where what is the same is shown once. */
export function Compare(of: { before: string; after: string; left: string; right: string }): VNode {
  const rows = rowsOf(of.before, of.after).slice(0, MOST_LINES);
  const cell = (line: string | undefined, changed: string): VNode => (
    <div class={line === undefined ? 'gap' : changed}>
      {visible((line ?? '').slice(0, LONGEST_LINE)) || ' '}
    </div>
  );
  return (
    <div class="diff beside" role="group" aria-label={`${of.left} → ${of.right}`} tabIndex={0}>
      <div class="head">{visible(of.left)}</div>
      <div class="head">{visible(of.right)}</div>
      {rows.map(({ left, right }, index) => (
        <Fragment key={`${index} ${(left ?? right ?? '').slice(0, 40)}`}>
          {cell(left, left === right ? 'same' : 'del')}
          {cell(right, left === right ? '' : 'add')}
        </Fragment>
      ))}
    </div>
  );
}

/** Longer texts are not compared word by word: nobody sees the words in them. */
const MOST_COMPARED = 2_000;

/** A text in pieces, and which of them another text does not have. */
export function differing(before: string, after: string): { text: string; isOwn: boolean }[] {
  if (before.length + after.length > MOST_COMPARED) return [{ text: after, isOwn: false }];
  return diffWords(before, after)
    .filter(({ removed }) => !removed)
    .map(({ value, added }) => ({ text: value, isOwn: added }));
}
