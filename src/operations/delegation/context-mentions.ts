/** A path of a context as it is named there. */
export interface Mention {
  path: string;
  /** In quotes it can be nothing but a path. */
  isQuoted: boolean;
}

export interface NamedLine {
  mentions: Mention[];
  /** The line says nothing else. */
  isOnlyNames: boolean;
}

/** `@docs/prd.md` or `@"docs/my file.md"`. Each part is flat, so that no line takes longer than its length. */
const MENTION = /(?<![\w@])@(?:"([^"\n]{1,1000})"|([^\s,;:"'`]+))/g;
const MARKER = /^[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+/;
const BETWEEN = /^[\s,;.]*$/;
const CLOSING = new Map([
  [')', '('],
  [']', '['],
  ['>', '<'],
]);

/** What a line of a context names, and whether it does nothing else; it may be an item of a list. */
export function namedIn(line: string): NamedLine {
  const mentions: Mention[] = [];
  const between: string[] = [];
  let from = MARKER.exec(line)?.[0].length ?? 0;
  for (const { index, 0: whole, 1: quoted, 2: word } of line.matchAll(MENTION)) {
    if (index < from) continue;
    const path = quoted ?? withoutPunctuation(word ?? '');
    if (path === '') continue;
    mentions.push({ path, isQuoted: quoted !== undefined });
    between.push(line.slice(from, index));
    from = index + (quoted === undefined ? 1 + path.length : whole.length);
  }
  between.push(line.slice(from));
  return { mentions, isOnlyNames: mentions.length > 0 && between.every((text) => BETWEEN.test(text)) };
}

/** A path without the end of the sentence it stands in. A bracket belongs to it if it was opened in it. */
function withoutPunctuation(word: string): string {
  const open = new Map<string, number>();
  for (const char of word) open.set(char, (open.get(char) ?? 0) + 1);
  let end = word.length;
  for (; end > 0; end -= 1) {
    const last = word.charAt(end - 1);
    const opening = CLOSING.get(last);
    if (opening !== undefined) {
      if ((open.get(last) ?? 0) <= (open.get(opening) ?? 0)) break;
      open.set(last, (open.get(last) ?? 0) - 1);
    } else if (!'.!?'.includes(last)) break;
  }
  return word.slice(0, end);
}
