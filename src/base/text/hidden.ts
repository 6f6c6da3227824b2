import { writingIn } from './writing.ts';

/**
 * Characters that no eye sees, yet terminals act on and models read: control characters, marks that turn the direction
 * of writing, spaces without width, tag characters, fillers, variation selectors. Unicode calls most of them "default
 * ignorable", which also covers those it has not assigned yet; the others look like a blank, or are no characters.
 */
const HIDDEN =
  '\\p{Default_Ignorable_Code_Point}\\p{Zl}\\p{Zp}\\p{Noncharacter_Code_Point}\\u2800\\uFFF9-\\uFFFC\\u{13430}-\\u{13442}\\u{16FE4}\\u{1D159}';

/** No writing puts so many marks on one letter; more of them cover what is around it. */
const STACKED = '\\p{M}(?<=\\p{M}{9})';

/** What most texts consist of, and none of the others are among: to ask for it first takes an eighth of the time. */
const SEEN =
  ' -~\\u00A0-\\u00AC\\u00AE-\\u02FF\\u2010-\\u2027\\u2030-\\u205E\\u2190-\\u27BF\\u3001-\\u3029\\u4E00-\\u9FFF\\uAC00-\\uD7A3\\u{1F000}-\\u{1FAFF}';

/** Line breaks and tabs are text to a reader of several lines. */
const IN_LINES = new RegExp(
  `(?![\\t\\n${SEEN}])(?:[${HIDDEN}\\0-\\x08\\x0B-\\x1F\\x7F-\\x9F]|${STACKED})`,
  'gu',
);
/** In a line of its own they are not. */
const IN_LINE = new RegExp(`(?![${SEEN}])(?:[${HIDDEN}\\p{Cc}]|${STACKED})`, 'gu');

/** Makes a character of one line, or of several, visible: `\u202e`. Everything else stays as it is. */
export function visible(text: string): string {
  const isWriting = writingIn(text);
  return text.replace(IN_LINE, (char: string, at: number) => (isWriting(char, at) ? char : escaped(char)));
}

/** The same for text of several lines: line breaks and tabs stay. */
export function visibleLines(text: string): string {
  const isWriting = writingIn(text);
  return text.replace(IN_LINES, (char: string, at: number) =>
    isWriting(char, at) || isLineEnd(char, at, text) ? char : escaped(char),
  );
}

/** JSON that says the same, with what is hidden in its strings as escapes of JSON itself. */
export function visibleJson(json: string): string {
  const isWriting = writingIn(json);
  return json.replace(IN_LINES, (char: string, at: number) =>
    isWriting(char, at) ? char : char.replaceAll(/[^]/g, escapedUnit),
  );
}

/** A name or a description without what is hidden in it. */
export function withoutHidden(text: string): string {
  const isWriting = writingIn(text);
  return text.replace(IN_LINES, (char: string, at: number) =>
    isWriting(char, at) || isLineEnd(char, at, text) ? char : '',
  );
}

/** What is hidden in a text, as its escapes, in order. A mark at the very beginning only says how a file is encoded. */
export function hiddenIn(text: string): { char: string; at: number }[] {
  const found: { char: string; at: number }[] = [];
  const isWriting = writingIn(text);
  for (const { 0: char, index: at } of text.matchAll(IN_LINES)) {
    const encoding = at === 0 && char === '\uFEFF';
    if (!encoding && !isWriting(char, at) && !isLineEnd(char, at, text))
      found.push({ char: escaped(char), at });
  }
  return found;
}

function escaped(char: string): string {
  return char.length === 1 ? escapedUnit(char) : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`;
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Half a line end of Windows does nothing that the other half does not do. */
function isLineEnd(char: string, at: number, text: string): boolean {
  return char === '\r' && text[at + 1] === '\n';
}
