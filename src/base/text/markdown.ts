export interface Section {
  title: string;
  level: number;
  /** Offsets of the section in the text, heading included, up to the next heading of the same or a higher level. */
  start: number;
  end: number;
}

/** The headings of a Markdown text, code fences left out. */
export function outline(text: string): Section[] {
  const sections: Section[] = [];
  const open: Section[] = [];
  let fence: string | undefined;
  let offset = 0;
  for (const line of text.split('\n')) {
    const [, mark, info = ''] = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})(.*)$/.exec(line.trimEnd()) ?? [];
    if (mark !== undefined) {
      if (fence === undefined) fence = mark;
      else if (mark.startsWith(fence) && info === '') fence = undefined;
    }
    const heading = fence === undefined ? /^(#{1,6})\s+(.{1,200})$/.exec(line.trimEnd()) : null;
    if (heading !== null) {
      const level = heading[1]?.length ?? 1;
      const section = { title: cleanTitle(heading[2] ?? ''), level, start: offset, end: text.length };
      closeSections(open, level, offset);
      open.push(section);
      sections.push(section);
    }
    offset += line.length + 1;
  }
  return sections;
}

/** Ends the open sections, which are nested in one another, that a heading of this level does not belong to. */
function closeSections(open: Section[], level: number, end: number): void {
  for (let last = open.at(-1); last !== undefined && last.level >= level; last = open.at(-1)) {
    last.end = end;
    open.pop();
  }
}

function cleanTitle(title: string): string {
  return title
    .replace(/\s+#+$/, '')
    .replaceAll(/[*`]/g, '')
    .trim();
}

/** The section of that title: equal first, then beginning with it; case does not count. */
export function findSection(sections: readonly Section[], title: string): Section | undefined {
  const wanted = cleanTitle(title.replace(/^#+\s*/, '')).toLowerCase();
  if (wanted === '') return undefined;
  return (
    sections.find((section) => section.title.toLowerCase() === wanted) ??
    sections.find((section) => section.title.toLowerCase().startsWith(wanted))
  );
}

/**
 * The longest beginning of `text` that fits into `maxBytes`, ending at the best boundary near the limit: a heading,
 * else a paragraph, else a line, else a character. Never cuts inside a character, never returns nothing.
 */
export function cutToFit(text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const whole = Buffer.from(text, 'utf8');
  let size = Math.max(4, maxBytes);
  while (size > 0 && ((whole[size] ?? 0) & 0xc0) === 0x80) size -= 1;
  const head = whole.subarray(0, size).toString('utf8');
  const floor = Math.floor(head.length * 0.6);
  for (const boundary of ['\n## ', '\n### ', '\n\n', '\n']) {
    const at = head.lastIndexOf(boundary);
    if (at > floor) return head.slice(0, at + 1);
  }
  return head;
}
