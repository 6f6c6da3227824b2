import { t } from '../base/text/message.ts';
import type { Line, LineEvent } from './line.ts';

/** An event before it is written. */
export type NewEvent = Pick<LineEvent, 'of' | 'after' | 'do' | 'data'>;

/** A line, and the name of the file that has it. */
export interface PlacedLine {
  line: Line;
  file: string;
}

/** How far a reader has read, as short texts by name. It means nothing to the one who keeps it. */
export type Mark = ReadonlyMap<string, string>;

export interface Page {
  lines: readonly PlacedLine[];
  /** Files whose lines no longer count: they are gone, or come again from the beginning. */
  gone: readonly string[];
  /** What changes in the mark of one who has taken this in; nothing for a name that goes. */
  marks: ReadonlyMap<string, string | undefined>;
  /** How many lines were left out. */
  without?: number;
}

/** Something in a file that is no line. */
export interface LogTrouble {
  file: string;
  what: 'conflict' | 'unreadable';
  count: number;
}

export const troubleText = ({ file, what, count }: LogTrouble): string =>
  what === 'conflict'
    ? t`${file} has conflict markers of git; both sides count.`
    : count === 1
      ? t`${file} has 1 line that cannot be read.`
      : t`${file} has ${count} lines that cannot be read.`;

/** What one has seen of entities that only one may change: the mark of that reading, and their heads. */
export interface Expectation {
  since: Mark;
  heads: ReadonlyMap<string, readonly string[]>;
}

export interface Appended {
  line: Line;
  file: string;
}

/** Somebody else was first, with these lines. */
export interface Lost {
  lost: readonly PlacedLine[];
}

/** What was said about entities, by the ids of the lines. */
export type Said = ReadonlyMap<string, ReadonlySet<string>>;

/** Everything that happened in a project, behind one small door. What is above it does not know where lines are kept. */
export interface Log {
  /** Writes one line and returns when it is safe. With `expect` it is refused if another line about one of these has come. */
  append(events: readonly NewEvent[], expect?: Expectation): Promise<Appended | Lost>;
  /** The lines after a mark, page by page; those that are about entities of one noun alone may be left out. */
  read(after: Mark, without?: string): AsyncIterable<Page>;
  /** The last lines of those who wrote last: at least so many, or all there are. Takes no longer where there are more. */
  last(least: number): Promise<PlacedLine[]>;
  /** Whether there may be more; looks at no file's content. */
  changed(since: Mark): Promise<boolean>;
  /** How much there is to read after a mark, in bytes; looks at no file's content. */
  ahead(since: Mark): Promise<number>;
  /** Removes for good what these lines say about entities; that something was said stays. Answers whether there was anything. */
  erase(said: Said): Promise<boolean>;
  /** What is in the files and is no line, as of the last reading. */
  troubles(): readonly LogTrouble[];
}
