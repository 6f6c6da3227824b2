/**
 * The beginnings and ends of texts. `/x+$/` tries again from every `x` of a text, which takes minutes where a file has
 * a megabyte of them; these look at each character once.
 */

/** The text without any of these characters at its end. */
export function withoutEnd(text: string, chars: string): string {
  let end = text.length;
  while (end > 0 && chars.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

export function withoutStart(text: string, chars: string): string {
  let start = 0;
  while (start < text.length && chars.includes(text.charAt(start))) start += 1;
  return text.slice(start);
}

export function withoutEnds(text: string, chars: string): string {
  return withoutStart(withoutEnd(text, chars), chars);
}

/** What is inside of one pair of quotation marks; a text that has none stays as it is. */
export function insideQuotes(text: string, marks: string): string {
  const mark = text.charAt(0);
  const quoted = text.length > 1 && marks.includes(mark) && text.endsWith(mark);
  return quoted ? text.slice(1, -1) : text;
}
