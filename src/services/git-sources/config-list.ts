import { attempt, broken, orElse } from '../../base/expected.ts';
import { BmadError } from '../../base/errors.ts';
import { readState, writeAtomic } from '../../base/files/file-state.ts';
import { parseToml } from '../../base/parse/parse.ts';
import { findList, withEntry, withoutEntries, writtenList, type ListText } from './list-text.ts';

/** The key of configuration files that lists git sources. */
const KEY = 'git';

/** Adds a source to the list in a configuration file, which is made when it is missing. */
export async function addToConfig(file: string, source: string, inside?: string): Promise<void> {
  await changeList(file, inside, {
    list: (list) => (list.includes(source) ? list : [...list, source]),
    text: (text, list) => (list === undefined ? withNewList(text, source) : withEntry(text, list, source)),
  });
}

/** Takes the entries out for which `is` holds. */
export async function removeFromConfig(
  file: string,
  is: (entry: string) => boolean,
  inside?: string,
): Promise<void> {
  await changeList(file, inside, {
    list: (list) => list.filter((entry) => !is(entry)),
    text: (text, list) => (list === undefined ? text : withoutEntries(text, list, is)),
  });
}

/** One change, said twice: of what the file means, and of what is written in it. */
interface Change {
  list(list: readonly string[]): readonly string[];
  text(text: string, list: ListText | undefined): string;
}

/**
 * Changes the one list and nothing else, so that comments and the order of everything stay. The result is read again
 * before it is written: a file that is laid out in a way this does not understand is left alone.
 */
async function changeList(file: string, inside: string | undefined, change: Change): Promise<void> {
  const text = (await readState(file, { inside, follow: true })) ?? '';
  const table = parsed(file, text);
  const list = listOf(table[KEY]);
  const wanted = change.list(list);
  if (wanted.length === list.length) return;
  const changed = change.text(text, findList(text, KEY));
  if (!means(changed, { ...table, [KEY]: wanted }))
    throw new BmadError('unavailable', `${file} cannot be changed safely.`, {
      subject: file,
      hint: `Edit it by hand so that it has: ${KEY} = ${writtenList(wanted).replace(/\s+/g, ' ')}`,
    });
  await writeAtomic(file, changed, { inside });
}

/** As the settings are read: one text may name several sources. */
function listOf(value: unknown): string[] {
  if (typeof value === 'string') return value.split(/\s+/).filter(Boolean);
  return Array.isArray(value) ? value.map(String) : [];
}

function means(text: string, wanted: Record<string, unknown>): boolean {
  return attempt(() => sorted(parseToml('', text)) === sorted(wanted), orElse(false));
}

const sorted = (table: Record<string, unknown>): string =>
  JSON.stringify(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));

function parsed(file: string, text: string): Record<string, unknown> {
  const refuse = broken(({ message }): never => {
    throw new BmadError('unavailable', message, { subject: file, hint: 'Repair the file, then try again.' });
  });
  return attempt(() => parseToml(file, text), refuse);
}

/** Before the first table: what follows a table's header belongs to that table. */
function withNewList(text: string, source: string): string {
  const table = /^[ \t]*\[/m.exec(text)?.index ?? text.length;
  const head = text.slice(0, table);
  return `${head}${head === '' || head.endsWith('\n') ? '' : '\n'}${KEY} = ${writtenList([source])}\n${text.slice(table)}`;
}
