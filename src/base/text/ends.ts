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

/**
 * With how many of the parts, from the first on, the text ends. Each character is looked at a few times only, however many
 * parts there are: they may come from a file that is made to keep the server busy.
 */
export function countAtEnd(text: string, parts: readonly string[], between = ''): number {
  const whole = parts.join(between);
  if (whole === '') return 0;
  const counts = new Map<number, number>();
  let length = -between.length;
  for (const [at, part] of parts.entries()) counts.set((length += between.length + part.length), at + 1);
  // For each beginning of the whole, the longest shorter beginning with which it ends.
  const shorter = new Int32Array(whole.length + 1);
  const step = (matched: number, char: string): number => {
    let now = matched;
    while (now > 0 && whole[now] !== char) now = shorter[now] ?? 0;
    return whole[now] === char ? now + 1 : now;
  };
  for (let at = 1; at < whole.length; at += 1) shorter[at + 1] = step(shorter[at] ?? 0, whole[at] ?? '');
  let matched = 0;
  for (let at = Math.max(0, text.length - whole.length); at < text.length; at += 1)
    matched = step(matched, text.charAt(at));
  while (matched > 0 && !counts.has(matched)) matched = shorter[matched] ?? 0;
  return counts.get(matched) ?? 0;
}
