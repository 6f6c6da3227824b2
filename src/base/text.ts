/** Bytes on the wire, which is what hosts limit. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** A rough count of model tokens; the same bytes/4 everywhere so that figures can be compared. */
export function estimateTokens(text: string): number {
  return Math.ceil(byteLength(text) / 4);
}

/** One line of at most `max` characters, for lists and tables. */
export function oneLine(text: string, max: number): string {
  const line = text
    .slice(0, max * 4)
    .replace(/\s+/g, ' ')
    .trim();
  if (line.length <= max) return line;
  const cut = line.slice(0, max - 1);
  const space = cut.lastIndexOf(' ');
  return `${space > max / 2 ? cut.slice(0, space) : cut}…`;
}

/** Wraps foreign text so that nothing inside it can end the fence early. */
export function fenced(text: string, language = ''): string {
  let longest = 2;
  for (const run of text.match(/`{3,}/g) ?? []) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith('\n') ? '' : '\n'}${fence}`;
}

export function kilobytes(bytes: number): string {
  return `${(bytes / 1000).toFixed(1)} kB`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A Markdown table cell: no line breaks, no bars. */
export function cell(text: string): string {
  return text.replace(/\s+/g, ' ').replaceAll('|', '\\|').trim();
}
