export type Format = 'yaml' | 'toml' | 'json' | 'lines';

/** Where a text in quotation marks ends: behind the closing one, or with the text when there is none. */
export function quoteEnd(text: string, start: number, format: Format, onThisLine: boolean): number {
  const quote = text.charAt(start);
  const triple = format === 'toml' && text.startsWith(quote.repeat(3), start);
  const closing = triple ? quote.repeat(3) : quote;
  for (let at = start + closing.length; at < text.length; at++) {
    const char = text[at];
    if (char === '\n' && onThisLine) return at;
    if (char === '\\' && quote === '"' && text[at + 1] !== '\n') at += 1;
    else if (char === "'" && format === 'yaml' && quote === "'" && text[at + 1] === "'") at += 1;
    else if (char === quote && text.startsWith(closing, at)) {
      // A text in three quotation marks may end with two more of them.
      const rest = text.slice(at + closing.length, at + closing.length + 2);
      return at + closing.length + (triple ? rest.length - rest.replace(/^["']+/, '').length : 0);
    }
  }
  return text.length;
}

/** Where a list or table in brackets ends: behind the closing one, or with the text when there is none. */
export function bracketEnd(text: string, start: number, format: Format): number {
  // Quotation marks count where a value begins, because plain words may hold an apostrophe.
  const beforeValues = format === 'toml' ? '[{,=' : '[{,:';
  let open = 0;
  let before = '';
  for (let at = start; at < text.length; at++) {
    const char = text.charAt(at);
    if ((char === '"' || char === "'") && beforeValues.includes(before))
      at = quoteEnd(text, at, format, false) - 1;
    else if (char === '#' && /\s/.test(text.charAt(at - 1))) at = lineEnd(text, at);
    else if (char === '[' || char === '{') open += 1;
    else if (char === ']' || char === '}') open -= 1;
    if (open === 0) return at + 1;
    // In YAML `a:b` is one word, and so is `a:'b`.
    const inWord = char === ':' && format === 'yaml' && /[^"']:\S/.test(text.slice(at - 1, at + 2));
    if (!/\s/.test(char)) before = inWord ? 'a' : char;
  }
  return text.length;
}

/** Where a line ends that a backslash joins with the next. */
export function continuedLineEnd(text: string, from: number): number {
  let end = lineEnd(text, from);
  while (end < text.length && /\\\r?$/.test(text.slice(end - 2, end))) end = lineEnd(text, end + 1);
  return end;
}

export function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}
