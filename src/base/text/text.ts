import { plural } from './message.ts';

import { t } from './message.ts';
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
  if (seconds < MINUTE) return t`just now`;
  if (seconds >= DAY) return plural(Math.floor(seconds / DAY), 'day ago', 'days ago');
  if (seconds >= HOUR) return plural(Math.floor(seconds / HOUR), 'hour ago', 'hours ago');
  return plural(Math.floor(seconds / MINUTE), 'minute ago', 'minutes ago');
}
