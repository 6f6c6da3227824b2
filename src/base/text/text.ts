import { isUtf8 } from 'node:buffer';
import { plural, t } from './message.ts';

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

/** How the bytes of a text are to be read; Windows programs save UTF-16, with a mark at the beginning or without. */
export function encodingOf(bytes: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  // Most letters of our languages have an empty byte then, always on the same side.
  const head = bytes.subarray(0, 200);
  if (head.length < 8 || !head.includes(0)) return 'utf-8';
  const zeros = [0, 1].map((side) => head.filter((byte, at) => at % 2 === side && byte === 0).length);
  const [even = 0, odd = 0] = zeros;
  const most = head.length / 4;
  if (odd > most && even === 0) return 'utf-16le';
  return even > most && odd === 0 ? 'utf-16be' : 'utf-8';
}

/** The text of a file. The mark of UTF-8 stays where that is asked for, so that what is delivered is what is on disk. */
export function decodeText(bytes: Uint8Array, keepsMark = false): string {
  const encoding = encodingOf(bytes);
  return new TextDecoder(encoding, { ignoreBOM: keepsMark && encoding === 'utf-8' }).decode(bytes);
}

/** The text of a file, with its byte order mark; nothing when it is in another encoding, which a rewrite would destroy. */
export function utf8Text(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes) : undefined;
}

const NAMED = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
]);

/** Text for people: `Porter&apos;s` is "Porter's". Each entity is decoded once, what it gives is left alone. */
export function decodeEntities(text: string): string {
  if (!text.includes('&')) return text;
  return text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{2,4}));/gi, (whole, ...groups: unknown[]) => {
    const [decimal, hexadecimal, name] = groups as (string | undefined)[];
    if (name !== undefined) return NAMED.get(name.toLowerCase()) ?? whole;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
    // Control characters and halves of pairs have no business in a name.
    const printable = code >= 32 && code <= 0x10_ff_ff && !(code >= 0xd8_00 && code <= 0xdf_ff);
    return printable ? String.fromCodePoint(code) : whole;
  });
}

/** Text as the content of an element or an attribute. */
export function escapeXml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&apos;');
}

/** Whether what was typed at a question is a yes, in English or French; everything else is a no. */
export function isYes(typed: string): boolean {
  return /^\s*(?:y|yes|o|oui)\s*$/i.test(typed);
}

/** A place in a file as people write it: `docs/prd.md:12`. */
export function placed({ file, line }: { file: string; line?: number | undefined }): string {
  return line === undefined ? file : `${file}:${line}`;
}

const two = (value: number): string => String(value).padStart(2, '0');

/** The day where the user is: 2026-11-15. */
export function localDay(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

/** The hour and the minute there: 09:05. */
export function localHour(date: Date, sign = ':'): string {
  return two(date.getHours()) + sign + two(date.getMinutes());
}

/** A moment as the files of the project have it: local, without a zone, with microseconds. */
export function localTime(date: Date): string {
  return `${localDay(date)}T${localHour(date)}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, '0')}000`;
}

const DAY_SHAPE = /^\d{4}-\d{2}-\d{2}$/;

/** The first or the last moment of what was given: a day is meant whole, and where the user is. */
export function momentOf(text: string, end: 'first' | 'last'): string {
  const given = text.trim();
  if (!DAY_SHAPE.test(given)) return given;
  const date = new Date(`${given}T${end === 'first' ? '00:00:00.000' : '23:59:59.999'}`);
  return Number.isNaN(date.getTime()) ? given : date.toISOString();
}

/** A local time from a file, in UTC as memories use it; undefined if it is not a date. */
export function utcOf(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const date = new Date(DAY_SHAPE.test(text) ? `${text}T00:00:00` : text);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}
