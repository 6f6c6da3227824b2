import { BmadError } from '../../base/errors.ts';
import { readState, writeAtomic } from '../../base/file-state.ts';
import { ParseError, parseToml } from '../../base/parse.ts';

/** The key of configuration files that lists git sources. */
const KEY = 'git';

/** Adds a source to the list in a configuration file, which is made when it is missing. */
export async function addToConfig(file: string, source: string): Promise<void> {
  await changeList(file, (list) => (list.includes(source) ? list : [...list, source]));
}

/** Takes the entries out for which `is` holds. */
export async function removeFromConfig(file: string, is: (entry: string) => boolean): Promise<void> {
  await changeList(file, (list) => list.filter((entry) => !is(entry)));
}

/**
 * Rewrites the one list and nothing else, so that comments and the order of everything stay. The result is read again
 * before it is written: a file that is laid out in a way this does not understand is left alone.
 */
async function changeList(file: string, change: (list: string[]) => string[]): Promise<void> {
  const text = (await readState(file)) ?? '';
  const table = parsed(file, text);
  const list = Array.isArray(table[KEY]) ? table[KEY].map(String) : [];
  const wanted = change(list);
  if (wanted.length === list.length) return;
  const changed = withList(text, wanted);
  const expected = { ...table, [KEY]: wanted };
  if (sorted(parsed(file, changed)) !== sorted(expected))
    throw new BmadError('unavailable', `${file} cannot be changed safely.`, {
      subject: file,
      hint: `Edit it by hand so that it has: ${lineOf(wanted).replaceAll('\n', ' ').trim()}`,
    });
  await writeAtomic(file, changed);
}

const sorted = (table: Record<string, unknown>): string =>
  JSON.stringify(Object.entries(table).sort(([a], [b]) => (a < b ? -1 : 1)));

function parsed(file: string, text: string): Record<string, unknown> {
  try {
    return parseToml(file, text);
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    throw new BmadError('unavailable', error.message, {
      subject: file,
      hint: 'Repair the file, then try again.',
    });
  }
}

function withList(text: string, list: readonly string[]): string {
  const line = lineOf(list);
  const old =
    /^[ \t]*(?:git|"git"|'git')[ \t]*=[ \t]*\[(?:[^\]"'#]|"(?:[^"\\]|\\.)*"|'[^']*'|#[^\n]*)*\][^\n]*\n?/m.exec(
      text,
    );
  if (old !== null) return text.slice(0, old.index) + line + text.slice(old.index + old[0].length);
  // Before the first table: what follows a table's header belongs to that table.
  const table = /^[ \t]*\[/m.exec(text)?.index ?? text.length;
  const head = text.slice(0, table);
  return `${head}${head === '' || head.endsWith('\n') ? '' : '\n'}${line}${text.slice(table)}`;
}

function lineOf(list: readonly string[]): string {
  return `${KEY} = [\n${list.map((entry) => `  ${JSON.stringify(entry)},\n`).join('')}]\n`;
}
