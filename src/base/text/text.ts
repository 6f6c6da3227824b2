/** Bytes on the wire, which is what hosts limit. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text, 'utf8');
}

/** The beginning of a text, without half a character at its end: strict JSON readers refuse those. */
export function cut(text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(/[\uD800-\uDBFF]$/, '');
}

/** One line of at most `max` characters, for lists and tables. */
export function oneLine(text: string, max: number): string {
  const line = text.replace(/\s+/g, ' ').trim();
  if (line.length <= max) return line;
  const head = cut(line, max - 1);
  const space = head.lastIndexOf(' ');
  return `${space > max / 2 ? head.slice(0, space) : head}…`;
}

/** The same for what people and agents wrote. */
export function written(text: string, max: number): string {
  return asWritten(oneLine(text, max));
}

/**
 * Stand around what somebody wrote while an answer is made for a terminal that speaks another language. Unicode keeps both for
 * the inside of programs: no text has them.
 */
const [OPEN, CLOSE] = ['\uFDD0', '\uFDD1'];
const MARKS = /[\uFDD0\uFDD1]/g;
/** The first of the characters that stand for such texts meanwhile: they are no letters, so nothing is said of them. */
const HELD = 0xf0000;
const HELD_ONES = /[\u{F0000}-\u{FFFFD}]/gu;
/** People write these as well, as icons of their fonts: each stands for itself then. */
const WRITTEN = /\uFDD0([^\uFDD0\uFDD1]*)\uFDD1|[\u{F0000}-\u{FFFFD}]/gu;
const MOST_HELD = 0xfffe;

/** The programs consist of several files, each with its own copy of this one. */
const MARKING = Symbol.for('bmad-mcp-server: what is written is marked');
const state = globalThis as { [MARKING]?: boolean };

/** What somebody wrote, in a text of ours: it is never said in another language. */
export function asWritten(text: string): string {
  return state[MARKING] === true ? OPEN + text.replace(MARKS, '') + CLOSE : text;
}

/** Makes a text in which what somebody wrote is marked. Nobody but `saidAround` sees the marks. */
export function withMarks<T>(make: () => T): T {
  state[MARKING] = true;
  try {
    return make();
  } finally {
    state[MARKING] = false;
  }
}

/** Says a text otherwise, except for what is marked in it, and takes the marks away. */
export function saidAround(text: string, say: (text: string) => string): string {
  const held: string[] = [];
  const open = text.replace(WRITTEN, (whole, own: string = whole) =>
    String.fromCodePoint(HELD + (held.push(own) % MOST_HELD)),
  );
  if (held.length >= MOST_HELD) return text.replace(MARKS, '');
  return say(open.replace(MARKS, '')).replace(
    HELD_ONES,
    (one) => held[(one.codePointAt(0) ?? 0) - HELD - 1] ?? one,
  );
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

/** For sorting, the same on every machine. */
export function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export function bullets(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n');
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A Markdown table cell: no line breaks, no bars. Backslashes before a bar would undo its escape. */
export function cell(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .replace(/\\+\|?|\|/g, (part) => (part.endsWith('|') ? `${part.slice(0, -1).repeat(2)}\\|` : part))
    .trim();
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How long ago something was, in the largest unit that fits: "5 days ago". */
export function ago(then: number, now: number): string {
  const seconds = Math.max(0, Math.round((now - then) / 1000));
  if (seconds < MINUTE) return 'just now';
  if (seconds >= DAY) return plural(Math.floor(seconds / DAY), 'day ago', 'days ago');
  if (seconds >= HOUR) return plural(Math.floor(seconds / HOUR), 'hour ago', 'hours ago');
  return plural(Math.floor(seconds / MINUTE), 'minute ago', 'minutes ago');
}
