/** `## Title ##`: its level, and its title without the marks that may close it. */
export function headingIn(line: string): { level: number; title: string } | undefined {
  if (!line.startsWith('#')) return undefined;
  const [, marks] = /^(#{1,6})(?:\s|$)/.exec(line) ?? [];
  if (marks === undefined) return undefined;
  const title = line.slice(marks.length).trim();
  // Hardly any are closed, and there may be thousands.
  return {
    level: marks.length,
    title: title.endsWith('#') ? title.replace(/(?:^|\s)#+$/, '').trimEnd() : title,
  };
}

/** Tells of one line after the other whether it belongs to a fenced block; the fences do. */
export function fenceFollower(): (line: string) => boolean {
  let fence: string | undefined;
  return (line) => {
    const wasOpen = fence !== undefined;
    // Most lines are none, and there may be very many.
    if (!line.includes('```') && !line.includes('~~~')) return wasOpen;
    const [whole = '', run] = /^ {0,3}(`{3,}|~{3,})/.exec(line) ?? [];
    const info = line.slice(whole.length).trimEnd();
    // What has more of its marks behind it is code in a line of text.
    const mark = run?.startsWith('`') === true && info.includes('`') ? undefined : run;
    if (fence === undefined) fence = mark;
    else if (mark?.startsWith(fence) === true && info === '') fence = undefined;
    return wasOpen || fence !== undefined;
  };
}

/**
 * The text with comments and fenced blocks blanked out, line by line, so that examples are not taken for entries and
 * line numbers stay true.
 */
export function withoutExamples(text: string): string[] {
  const isFenced = fenceFollower();
  return linesOf(withoutComments(text)).map((line) => (isFenced(line) ? '' : line));
}

/**
 * One that is not closed, or not before the next begins, ends with its line: a remembered text may contain the mark,
 * and everything after it would be lost. Each mark is searched for once, so that many of them take no longer.
 */
export function withoutComments(text: string): string {
  let kept = '';
  let from = 0;
  let start = text.indexOf(OPEN);
  let close = -1;
  while (start >= 0) {
    const next = text.indexOf(OPEN, start + OPEN.length);
    if (close !== Infinity && close < start + OPEN.length) close = placeOf(text, CLOSE, start + OPEN.length);
    const isClosed = close !== Infinity && (next < 0 || close < next);
    const end = isClosed
      ? close + CLOSE.length
      : Math.min(placeOf(text, '\n', start), next < 0 ? text.length : next);
    kept += text.slice(from, start) + text.slice(start, end).replace(/[^\n]/g, '');
    from = end;
    start = next;
  }
  return kept + text.slice(from);
}

const OPEN = '<!--';
const CLOSE = '-->';

function placeOf(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from);
  return at < 0 ? Infinity : at;
}

/** Line by line. An expression takes several times as long, and most texts have one kind of line ends. */
const linesOf = (text: string): string[] => text.split(text.includes('\r') ? /\r?\n/ : '\n');

/** A section of {@link sectionsOf}, by its lines. */
export interface LineSection {
  level: number;
  title: string;
  /** Line number of the heading, from 1; 0 for the text before the first heading. */
  line: number;
  /** The lines below it: the number of the first is one more than that of the heading. */
  body: readonly string[];
}

/** A text may have thousands, and what is below most of their headings is not looked at. */
class CutSection implements LineSection {
  readonly level: number;
  readonly title: string;
  readonly line: number;
  /** The line number of the next heading. */
  next = Infinity;
  readonly #lines: readonly string[];

  constructor(lines: readonly string[], line: number, level = 0, title = '') {
    this.level = level;
    this.title = title;
    this.line = line;
    this.#lines = lines;
  }

  get body(): readonly string[] {
    return this.#lines.slice(this.line, this.next - 1);
  }
}

/** A text cut at its headings. */
export function sectionsOf(lines: readonly string[]): LineSection[] {
  let last = new CutSection(lines, 0);
  const sections = [last];
  for (const [index, text] of lines.entries()) {
    const heading = headingIn(text);
    if (heading === undefined) continue;
    last.next = index + 1;
    last = new CutSection(lines, index + 1, heading.level, heading.title);
    sections.push(last);
  }
  return sections;
}

/** A section of {@link outline}, by its place in the text. */
export interface Section {
  title: string;
  level: number;
  /** Offsets of the section in the text, heading included, up to the next heading of the same or a higher level. */
  start: number;
  end: number;
}

const LONGEST_TITLE = 200;

/** The headings of a Markdown text, code fences left out. */
export function outline(text: string): Section[] {
  const sections: Section[] = [];
  const open: Section[] = [];
  const isFenced = fenceFollower();
  let offset = 0;
  for (const line of text.split('\n')) {
    const heading = isFenced(line) ? undefined : headingIn(line);
    // Templates of version 4 begin with `# <!-- Powered by … -->`, which names nothing.
    const isNamed = heading !== undefined && heading.title !== '' && !heading.title.startsWith('<!--');
    if (isNamed && heading.title.length <= LONGEST_TITLE) {
      const { level } = heading;
      const section = { title: cleanTitle(heading.title), level, start: offset, end: text.length };
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
  return title.replace(/\s#+$/, '').replaceAll(/[*`]/g, '').trim();
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
  const places = BOUNDARIES.map(() => 0);
  noteBoundaries(head, places);
  const beginnings = places.slice(0, BEGINNINGS);
  // A step is not torn apart to make a part longer.
  const earlier = Math.max(...beginnings);
  const best =
    beginnings.find((place) => place - 1 > floor) ??
    (earlier > head.length * LEAST_SHARE ? earlier : places.find((place) => place - 1 > floor));
  if (best !== undefined) return head.slice(0, best);
  // All that is near the end is one long example.
  for (const boundary of ['\n    <prompt ', '\n\n', '\n']) {
    const at = head.lastIndexOf(boundary);
    if (at > floor) return head.slice(0, at + 1);
  }
  return head;
}

/** Before which lines a text is cut, the best first; the last of them are an empty line, and any. */
const BOUNDARIES = [
  /^## /,
  /^ {0,8}<(?:step|section)\b/,
  /^### /,
  /^ {4}<prompt /,
  /^ {2}- id: /,
  /^#{4,6} /,
  /^$/,
  /^/,
];
/** How many of them begin something, which is to stay whole unless the part would be less than this share of its room. */
const BEGINNINGS = 6;
const LEAST_SHARE = 0.35;

/** `Then ask:` and `**Options:**` announce what follows, and say nothing without it. */
const ANNOUNCES = /:[*_]{0,3}$/;

/**
 * The last place of each kind of boundary that is in no fenced example, and not behind a line that announces something:
 * what is in one belongs together.
 */
function noteBoundaries(text: string, places: number[]): void {
  let fence: string | undefined;
  let before = 0;
  let announces = false;
  for (let start = text.indexOf('\n') + 1; start > 0; start = text.indexOf('\n', start) + 1) {
    const ahead = text.slice(start, start + 24).split('\n', 1)[0] ?? '';
    const mark = /^ {0,3}(`{3,20}|~{3,20})/.exec(ahead)?.[1];
    const opens = fence === undefined && mark !== undefined;
    const line = text.slice(before, start).trimEnd();
    if (line !== '') announces = ANNOUNCES.test(line.slice(-4));
    before = start;
    if (fence === undefined && !announces)
      for (const [kind, boundary] of BOUNDARIES.entries()) if (boundary.test(ahead)) places[kind] = start;
    if (opens) fence = mark;
    else if (fence !== undefined && mark?.startsWith(fence) === true) fence = undefined;
  }
}

/**
 * The elements that a text points to by their ids: `action="#fix-bug"` means `<prompt id="fix-bug">`. Agents compiled by
 * BMAD 6.0 keep their longer prompts in this way; what a menu leads to must be found.
 */
export function pointedSections(text: string): Section[] {
  if (!text.includes('id="')) return [];
  const pointed = new Set([...text.matchAll(/["'`(=\s]#([a-z][\w-]*)/gi)].map(([, id]) => id));
  const sections: Section[] = [];
  for (const { 0: whole, 1: tag = '', 2: id = '', index } of text.matchAll(
    /^[ \t]*<([a-z]+) id="([\w-]+)"/gim,
  )) {
    if (!pointed.has(id)) continue;
    const close = `</${tag}>`;
    const at = text.indexOf(close, index + whole.length);
    sections.push({ title: `#${id}`, level: 6, start: index, end: at < 0 ? text.length : at + close.length });
  }
  return sections;
}

/** The sections of a template in YAML, as version 4 has them: entries with an id and a title, one inside of another. */
export function templateSections(text: string): Section[] {
  if (!/^template:/m.test(text) || !/^sections:/m.test(text)) return [];
  const sections: Section[] = [];
  const open: { indent: number; section: Section }[] = [];
  let offset = 0;
  for (const line of text.split('\n')) {
    const said = line.trimStart();
    // Empty lines and comments end nothing, wherever they stand.
    const indent = said === '' || said.startsWith('#') ? Infinity : line.length - said.length;
    for (let last = open.at(-1); last !== undefined && indent <= last.indent; last = open.at(-1)) {
      last.section.end = offset;
      open.pop();
    }
    const entry = open.at(-1);
    if (/^ *- id:/.test(line)) {
      const section = { title: '', level: open.length + 1, start: offset, end: text.length };
      open.push({ indent, section });
    } else if (entry?.section.title === '' && indent === entry.indent + 2) {
      const title = /^ *title: *(.{1,200})$/.exec(line)?.[1] ?? '';
      entry.section.title = title.trim().replace(/^["']|["']$/g, '');
      if (title !== '') sections.push(entry.section);
    }
    offset += line.length + 1;
  }
  return sections;
}
