export type Format = 'json' | 'yaml' | 'toml';

/** A text that is put in at a position of the text before. */
interface Insertion {
  at: number;
  text: string;
}

/** A part of a text that goes, and what comes in its place. */
export interface Removal {
  from: number;
  to: number;
  text?: string;
}

/** What the file was like where the entry was put in, so that it can be like that again. */
export interface Made {
  /** Whether the key that holds the servers was made as well. */
  key: boolean;
  /** What stood between the brackets of the servers when there were none. */
  hollow?: string | undefined;
  /** What was put before an entry at the end of the file, to set it off. */
  gap?: string | undefined;
}

export interface Spliced {
  insertions: Insertion[];
  made: Made;
}

/** What a splice works on: the text, the key that holds the servers, and the name of ours among them. */
export interface Target {
  file: string;
  text: string;
  key: string;
  name: string;
}

/** The line ending of a text: that of its first line. */
export function lineEnd(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
}

/** Where an entry begins, with what was put before it; only at the end of the file nobody else can need that. */
export function withGap(text: string, { from, to }: Removal, { gap = '' }: Made): Removal {
  const isLast = to === text.length && text.slice(0, from).endsWith(gap);
  return { from: isLast ? from - gap.length : from, to };
}
