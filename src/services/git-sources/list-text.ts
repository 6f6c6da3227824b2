import { jsonIn } from '../../base/parse/json.ts';
import { withoutEnd } from '../../base/text/ends.ts';
/** A list of texts in a TOML file, as it is written: where it is, and where each of its entries is. */
export interface ListText {
  /** The opening bracket, or the beginning of a text in place of a list. */
  start: number;
  /** The closing bracket, or the end of that text. */
  close: number;
  entries: readonly Entry[];
  /** Whether it is one text with the entries separated by spaces. */
  single: boolean;
}

interface Entry {
  value: string;
  start: number;
  end: number;
  /** Behind the comma that follows, if one does. */
  next: number;
}

/** A text, a comment, a comma, the end, or space between them. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|,|\]|[ \t\r\n]+/y;

/** The list of a key on the top level; nothing when it is not there or not laid out in a way this understands. */
export function findList(text: string, key: string): ListText | undefined {
  const head = new RegExp(`^[ \\t]*(?:${key}|"${key}"|'${key}')[ \\t]*=[ \\t]*`, 'm').exec(text);
  // What follows the header of a table belongs to that table.
  const table = /^[ \t]*\[/m.exec(text)?.index ?? text.length;
  if (head === null || head.index > table) return undefined;
  const start = head.index + head[0].length;
  return text[start] === '[' ? bracketed(text, start) : singleText(text, start);
}

function bracketed(text: string, start: number): ListText | undefined {
  const entries: Entry[] = [];
  TOKEN.lastIndex = start + 1;
  for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
    const [written] = token;
    const end = token.index + written.length;
    if (written === ']') return { start, close: token.index, entries, single: false };
    const last = entries.at(-1);
    if (written === ',' && last !== undefined) last.next = end;
    if (written.startsWith('"') || written.startsWith("'")) {
      const value = unquoted(written);
      if (value === undefined) return undefined;
      entries.push({ value, start: token.index, end, next: end });
    }
  }
  return undefined;
}

function singleText(text: string, start: number): ListText | undefined {
  TOKEN.lastIndex = start;
  const written = TOKEN.exec(text)?.[0] ?? '';
  const close = start + written.length;
  const entries = (unquoted(written) ?? '')
    .split(/\s+/)
    .filter(Boolean)
    .map((value) => ({ value, start, end: close, next: close }));
  return entries.length === 0 ? undefined : { start, close, entries, single: true };
}

/** What a text in quotation marks says. The few escapes TOML has and JSON has not are left to a person. */
function unquoted(written: string): string | undefined {
  if (written.startsWith("'")) return written.slice(1, -1);
  return written.startsWith('"') ? (jsonIn(written) as string | undefined) : undefined;
}

export function writtenList(values: readonly string[]): string {
  return `[\n${values.map((value) => `  ${JSON.stringify(value)},\n`).join('')}]`;
}

/** The text with one more entry at the end of the list; comments stay where they are. */
export function withEntry(text: string, list: ListText, value: string): string {
  const { start, close, entries, single } = list;
  if (single) return replaced(text, list, writtenList([...entries.map((entry) => entry.value), value]));
  const last = entries.at(-1);
  if (last === undefined && text.slice(start + 1, close).trim() === '')
    return replaced(text, list, writtenList([value]));
  const comma = last !== undefined && last.next === last.end ? ',' : '';
  const place = last?.end ?? close;
  const before = text.slice(0, place) + comma + text.slice(place, close);
  const ownLine = /(?:^|\n)[ \t]*$/.test(before);
  const entry = JSON.stringify(value);
  return ownLine
    ? `${withoutEnd(before, ' \t')}  ${entry},\n${text.slice(close)}`
    : `${withoutEnd(before, ' \t')}${entries.length === 0 ? '' : ' '}${entry}${text.slice(close)}`;
}

/** The text without the entries that `is` selects; an entry on a separate line takes that line's comment with it. */
export function withoutEntries(text: string, list: ListText, is: (value: string) => boolean): string {
  if (list.single) {
    const left = list.entries.filter(({ value }) => !is(value)).map(({ value }) => value);
    return replaced(text, list, writtenList(left));
  }
  let result = text;
  // From the last to the first, so that the places of those before stay true.
  for (let index = list.entries.length - 1; index >= 0; index--) {
    const { value, start, next } = list.entries[index] as Entry;
    if (!is(value)) continue;
    const before = result.slice(0, start);
    const after = result.slice(next);
    const lineStart = before.lastIndexOf('\n') + 1;
    const rest = /^[ \t]*(?:#[^\n]*)?\r?\n/.exec(after);
    const alone = rest !== null && before.slice(lineStart).trim() === '';
    result = alone
      ? before.slice(0, lineStart) + after.slice(rest[0].length)
      : before + after.replace(/^[ \t]+/, '');
  }
  return result;
}

function replaced(text: string, { start, close, single }: ListText, list: string): string {
  return text.slice(0, start) + list + text.slice(single ? close : close + 1);
}
