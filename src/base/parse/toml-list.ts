import { t } from '../text/message.ts';
import { attempt, BmadError, broken, orElse } from '../errors.ts';
import { withoutEnd } from '../text/text.ts';
import { jsonIn } from './json.ts';
import { parseToml, type Table } from './parse.ts';

/**
 * The text of a configuration file in which the list of a key has become another one. All else stays as it is, comments
 * included, also those in the list where it only gets longer or shorter. What came of it is read again: a file that is laid
 * out in a way this does not understand is left alone.
 */
export function withList(
  file: string,
  text: string,
  key: string,
  change: (list: readonly string[]) => readonly string[],
): string {
  const refuse = broken(({ message }): never => {
    throw new BmadError('unavailable', message, { subject: file, hint: t`Repair the file, then try again.` });
  });
  const before = attempt(() => parseToml(file, text), refuse);
  const list = textsIn(before[key]);
  const wanted = change(list ?? []);
  if (list !== undefined && isSame(list, wanted)) return text;
  const line = `${key} = ${writtenList(wanted)}`;
  const made = list === undefined ? [] : key in before ? changed(text, key, wanted) : [withNew(text, line)];
  for (const candidate of made) if (means(candidate, { ...before, [key]: wanted })) return candidate;
  throw new BmadError('unavailable', t`${file} cannot be changed safely. It was left unchanged.`, {
    subject: file,
    hint: t`Write this line into it yourself: ${line.replace(/\s+/g, ' ')}`,
  });
}

/** As the settings are read: one text may have several in it. Nothing where it is something else. */
function textsIn(value: unknown = []): string[] | undefined {
  if (typeof value === 'string') return value.split(/\s+/).filter(Boolean);
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

const means = (text: string, wanted: Table): boolean =>
  attempt(() => sorted(parseToml('', text)) === sorted(wanted), orElse(false));

const sorted = (table: Table): string =>
  JSON.stringify(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));

function writtenList(values: readonly string[]): string {
  return `[\n${values.map((value) => `  ${JSON.stringify(value)},\n`).join('')}]`;
}

/** Before the first table: what follows a table's header belongs to that table. */
function withNew(text: string, line: string): string {
  const table = /^[ \t]*\[/m.exec(text)?.index ?? text.length;
  const head = text.slice(0, table);
  return `${head}${head === '' || head.endsWith('\n') ? '' : '\n'}${line}\n${text.slice(table)}`;
}

/** Lists of settings are a few lines long. */
const MOST_LINES = 300;
/** What looks like the key and is inside a text may come before it. */
const MOST_HEADS = 20;

/** Every way in which the value of this key could be changed, the gentle ones first; it may go on over several lines. */
function* changed(text: string, key: string, wanted: readonly string[]): Generator<string> {
  const heads = [...text.matchAll(new RegExp(`^[ \\t]*(?:${key}|"${key}"|'${key}')[ \\t]*=[ \\t]*`, 'gm'))];
  const starts = heads.slice(0, MOST_HEADS).map(({ 0: head, index }) => index + head.length);
  for (const start of starts) {
    const list = entriesAt(text, start);
    if (list === undefined) continue;
    const added = wanted.slice(list.entries.length);
    const isLonger = isSame([...list.entries.map(({ value }) => value), ...added], wanted);
    yield isLonger
      ? added.reduce((whole, value) => withEntry(whole, start, value), text)
      : without(text, list, wanted);
  }
  for (const start of starts) {
    // One text in place of the list; what follows it on its line stays.
    TOKEN.lastIndex = start;
    const single = TOKEN.exec(text)?.[0].length ?? 0;
    if (single > 0) yield text.slice(0, start) + writtenList(wanted) + text.slice(start + single);
    for (let lines = 0, to = start; lines < MOST_LINES && to < text.length; lines += 1) {
      const next = text.indexOf('\n', to);
      const stop = next === -1 ? text.length : next;
      yield text.slice(0, start) + writtenList(wanted) + text.slice(stop - (text[stop - 1] === '\r' ? 1 : 0));
      to = stop + 1;
    }
  }
}

/** With one more entry at the end of the list that begins here. */
function withEntry(text: string, start: number, value: string): string {
  const { close, entries } = entriesAt(text, start) ?? { close: start, entries: [] };
  const last = entries.at(-1);
  if (last === undefined && text.slice(start + 1, close).trim() === '')
    return text.slice(0, start) + writtenList([value]) + text.slice(close + 1);
  const comma = last !== undefined && last.next === last.end ? ',' : '';
  const place = last?.end ?? close;
  const head = text.slice(0, place) + comma + text.slice(place, close);
  const isOwnLine = /(?:^|\n)[ \t]*$/.test(head);
  const put = `${isOwnLine ? '  ' : last === undefined ? '' : ' '}${JSON.stringify(value)}${isOwnLine ? ',\n' : ''}`;
  return `${withoutEnd(head, ' \t')}${put}${text.slice(close)}`;
}

interface ListText {
  close: number;
  /** `next` is behind the comma that follows, if one does. */
  entries: { value: string; start: number; end: number; next: number }[];
}

/** A text, a comment, a comma, the end, or space between them. */
const TOKEN = /"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|#[^\n]*|,|\]|[ \t\r\n]+/y;

/** The list of texts that begins at a bracket, as it is written; nothing where none does. */
function entriesAt(text: string, start: number): ListText | undefined {
  const entries: ListText['entries'] = [];
  TOKEN.lastIndex = start + 1;
  for (let token = text[start] === '[' ? TOKEN.exec(text) : null; token !== null; token = TOKEN.exec(text)) {
    const [written] = token;
    const end = token.index + written.length;
    if (written === ']') return { close: token.index, entries };
    const last = entries.at(-1);
    if (written === ',' && last !== undefined) last.next = end;
    // The few escapes that TOML has and JSON has not are left to the other way.
    const value = written.startsWith('"') ? jsonIn(written) : written.startsWith("'") && written.slice(1, -1);
    if (typeof value === 'string') entries.push({ value, start: token.index, end, next: end });
  }
  return undefined;
}

/** Without the entries that are not wanted; one on a line of its own takes the comment of that line with it. */
function without(text: string, { entries }: ListText, wanted: readonly string[]): string {
  let result = text;
  // From the last to the first, so that the places of those before stay true.
  for (const { value, start, next } of entries.toReversed()) {
    if (wanted.includes(value)) continue;
    const [before, after] = [result.slice(0, start), result.slice(next)];
    const lineStart = before.lastIndexOf('\n') + 1;
    const rest = /^[ \t]*(?:#[^\n]*)?\r?\n/.exec(after);
    result =
      rest !== null && before.slice(lineStart).trim() === ''
        ? before.slice(0, lineStart) + after.slice(rest[0].length)
        : before + after.replace(/^[ \t]+/, '');
  }
  return result;
}
