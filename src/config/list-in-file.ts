import { BmadError } from '../base/errors.ts';
import { parseToml, type Table } from '../base/parse/parse.ts';

/** Lists of settings are a few lines long. */
const MOST_LINES = 300;

/**
 * The text of a configuration file with this list in it, and all else as it was, comments included. Where it is certain is
 * found out by reading what came of it.
 */
export function withList(file: string, text: string, key: string, values: readonly string[]): string {
  const before = parseToml(file, text);
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const line = `${key} = [${values.map((value) => JSON.stringify(value)).join(', ')}]`;
  // A key of the file itself has to stand before all tables.
  const made = key in before ? replaced(text, key, line) : [`${line}${end}${text}`];
  for (const candidate of made) if (isMeant(file, candidate, before, key, values)) return candidate;
  throw new BmadError('unavailable', `${file} cannot be changed safely. It was left unchanged.`, {
    subject: file,
    hint: `Write this line into it yourself: ${line}`,
  });
}

/** Every way in which one value of this key could be replaced: it may go on over several lines. */
function* replaced(text: string, key: string, line: string): Generator<string> {
  for (const { index } of text.matchAll(new RegExp(`^[ \\t]*${key}[ \\t]*=`, 'gm'))) {
    let to = index;
    for (let lines = 0; lines < MOST_LINES && to < text.length; lines++) {
      const next = text.indexOf('\n', to);
      const stop = next === -1 ? text.length : next;
      const value = text.slice(index, stop);
      yield text.slice(0, index) + line + (value.endsWith('\r') ? '\r' : '') + text.slice(stop);
      to = stop + 1;
    }
  }
}

function isMeant(file: string, text: string, before: Table, key: string, values: readonly string[]): boolean {
  const others = (table: Table): string =>
    JSON.stringify(Object.entries(table).filter(([name]) => name !== key));
  try {
    const after = parseToml(file, text);
    return JSON.stringify(after[key]) === JSON.stringify(values) && others(after) === others(before);
  } catch {
    return false;
  }
}
