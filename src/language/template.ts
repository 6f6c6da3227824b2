/** `There is no {0} called {1}.`: what is fixed, with a number for each place where something else comes. */
export const PLACE = /\{([n\d])\}/;

/** What a line begins and ends with beside its words: blanks, and the marks of headings, lists and quotations. */
const FRAME = /^\s*(?:(?:#{1,6}|[-*•→>]|\d{1,4}[.)]|✓|✗|!|·)\s+)*/;

export interface Framed {
  before: string;
  words: string;
  after: string;
}

export function framed(line: string): Framed {
  const before = FRAME.exec(line)?.[0] ?? '';
  const rest = line.slice(before.length);
  const words = rest.trimEnd();
  return { before, words, after: rest.slice(words.length) };
}

/** The cells of a row of a Markdown table, without the bars. */
export const isRow = (line: string): boolean => line.startsWith('|') && line.trimEnd().endsWith('|');

/** The parts of a list; what is in brackets stays together. */
export function listOf(text: string): string[] {
  const parts: string[] = [];
  for (const piece of text.split(', ')) {
    const last = parts.at(-1);
    if (last !== undefined && last.lastIndexOf('(') > last.lastIndexOf(')'))
      parts[parts.length - 1] = `${last}, ${piece}`;
    else parts.push(piece);
  }
  return parts;
}
