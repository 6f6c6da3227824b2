export interface TomlHeader {
  /** Where its line begins. */
  start: number;
  path: string[];
}

/**
 * The table headers of a TOML text that has been parsed before. No parser tells where they are; all that can hide one, or
 * look like one, is a string over several lines or a list over several lines.
 */
export function tomlHeaders(text: string): TomlHeader[] {
  const headers: TomlHeader[] = [];
  let depth = 0;
  let lineStart = text.startsWith('\uFEFF') ? 1 : 0;
  let begins = true;
  for (let at = lineStart; at < text.length;) {
    const sign = text[at] ?? '';
    if (sign === '\n') {
      at += 1;
      lineStart = at;
      begins = true;
    } else if (sign === '#') at = lineEndAt(text, at);
    else if (sign === '"' || sign === "'") {
      at = stringEnd(text, at);
      begins = false;
    } else if (sign === '[' && begins && depth === 0) {
      const { path, end } = headerAt(text, at);
      headers.push({ start: lineStart, path });
      at = end;
      begins = false;
    } else {
      if (sign === '[' || sign === '{') depth += 1;
      if (sign === ']' || sign === '}') depth -= 1;
      if (!/\s/.test(sign)) begins = false;
      at += 1;
    }
  }
  return headers;
}

function lineEndAt(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}

/** Where a string ends that begins here. */
function stringEnd(text: string, at: number): number {
  const quote = text[at] ?? '';
  const escapes = quote === '"';
  const long = text.startsWith(quote.repeat(3), at);
  const close = long ? quote.repeat(3) : quote;
  let end = at + close.length;
  // Two quotation marks may stand right before the three that close it.
  while (end < text.length && !text.startsWith(close, end)) end += escapes && text[end] === '\\' ? 2 : 1;
  end += close.length;
  if (long) while (text[end] === quote) end += 1;
  return Math.min(end, text.length);
}

function headerAt(text: string, at: number): { path: string[]; end: number } {
  const path: string[] = [];
  let place = at;
  while (text[place] === '[') place += 1;
  let part = '';
  for (; place < text.length && text[place] !== ']' && text[place] !== '\n'; place += 1) {
    const sign = text[place] ?? '';
    if (sign === '"' || sign === "'") {
      const end = stringEnd(text, place);
      const source = text.slice(place, end);
      part = sign === '"' ? (JSON.parse(source) as string) : source.slice(1, -1);
      place = end - 1;
    } else if (sign === '.') {
      path.push(part);
      part = '';
    } else if (!/\s/.test(sign)) part += sign;
  }
  path.push(part);
  return { path, end: lineEndAt(text, place) };
}
