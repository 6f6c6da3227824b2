import { field, isTable, type Table } from '../../base/parse/parse.ts';
import { indentOf, scalarField, scalarText, unquoted } from './yaml-text.ts';
import { insideQuotes, withoutEnd } from '../../base/text/ends.ts';

/** One line of an agent's menu. The name may hold arguments: `create-doc {template}`. */
export interface V4Command {
  name: string;
  description: string;
}

/** The commands of an agent: a list of one-key tables, a list of texts, a table, or a mixture of these. */
export function commandsOf(value: unknown): V4Command[] {
  if (isTable(value)) return fromTable(value);
  if (!Array.isArray(value)) return [];
  return value.flatMap((item: unknown) => {
    if (isTable(item)) return fromTable(item);
    const text = scalarText(item);
    return text === undefined ? [] : [fromText(text)];
  });
}

/** The commands in a section that is not YAML, such as `- "*help" - Show commands`, which early versions shipped. */
export function commandsInLines(section: string): V4Command[] {
  const lines = section
    .split('\n')
    .filter((line) => /^\s*[^\s#]/.test(line))
    .slice(1);
  const indent = lines.reduce((least, line) => Math.min(least, indentOf(line)), Infinity);
  return lines
    .filter((line) => indentOf(line) === indent)
    .map((line) => fromText(line.trim().replace(/^-\s+/, '')))
    .filter(({ name }) => name !== '');
}

function fromTable(table: Table): V4Command[] {
  const name = scalarField(table, 'name') ?? scalarField(table, 'command');
  const description = scalarField(table, 'description');
  if (name !== undefined && description !== undefined) return [{ name: bareName(name), description }];
  return Object.entries(table).map(([key, value]) => ({ name: bareName(key), description: inWords(value) }));
}

/** `*help - Show commands`, with a stray quote in many shipped files: `*help" - Show commands`. */
function fromText(text: string): V4Command {
  // A name has a character at least.
  const [parts] = text.slice(1).matchAll(/\s[-–—]\s|:(?:\s|$)/g);
  const end = parts === undefined ? text.length : parts.index + 1;
  const description = text.slice(end + (parts?.[0].length ?? 0)).trim();
  return { name: bareName(text.slice(0, end)), description: insideQuotes(description, `"'`) };
}

/** Commands are written with an asterisk when they are given, which is not part of their name. */
function bareName(name: string): string {
  return withoutEnd(name.replace(/^["'`*\s]+/, ''), `"'\` \t\r\n`);
}

/** Some commands have a list of steps where others have a sentence; the steps' names are enough for a menu. */
function inWords(value: unknown): string {
  if (Array.isArray(value)) {
    const names = value.map((step) => (isTable(step) ? Object.keys(step).join(', ') : scalarText(step)));
    return names.filter(Boolean).join(', ');
  }
  if (isTable(value)) return scalarField(value, 'description') ?? Object.keys(value).join(', ');
  return scalarText(value) ?? '';
}

/** What an agent depends on, by folder. There may be one name instead of a list, and a list instead of a table. */
export function dependenciesOf(value: unknown): Record<string, string[]> {
  const tables = Array.isArray(value) ? value.filter(isTable) : isTable(value) ? [value] : [];
  const found = new Map<string, string[]>();
  for (const table of tables) {
    for (const type of Object.keys(table)) {
      found.set(type, [...(found.get(type) ?? []), ...namesIn(field(table, type))]);
    }
  }
  return Object.fromEntries(found);
}

/** The dependencies in a section that is not YAML. */
export function dependenciesInLines(section: string): Record<string, string[]> {
  const found = new Map<string, string[]>();
  let names: string[] | undefined;
  for (const line of section.split('\n').slice(1)) {
    const type = /^\s+([\w-]+):\s*(?:#.*)?$/.exec(line)?.[1];
    const name = /^\s+-\s+(\S.*)$/.exec(line)?.[1];
    if (type !== undefined) found.set(type, (names = []));
    else if (name !== undefined) names?.push(unquoted(name));
  }
  return Object.fromEntries(found);
}

function namesIn(value: unknown): string[] {
  if (isTable(value)) return Object.keys(value);
  if (Array.isArray(value)) return value.flatMap(namesIn);
  const name = scalarText(value);
  return name === undefined ? [] : [name];
}
