import { attempt, noted } from '../base/expected.ts';
import { field, tableOf, type Table } from '../base/parse/parse.ts';
import type { Problem } from '../model/record.ts';
import { optionalText, type Tree } from '../sources/tree.ts';

/** The text of a file that may be absent. A file that cannot be read is a problem, and counts as absent. */
export async function readable(tree: Tree, file: string, problems: Problem[]): Promise<string | undefined> {
  return optionalText(tree, file).catch(noted(problems, file, undefined));
}

/** What is parsed, if it is a table; a text that cannot be parsed is a problem and gives an empty one. */
export function parsedTable(file: string, problems: Problem[], parse: () => unknown): Table {
  return attempt(() => tableOf(parse()), noted(problems, file, {}));
}

/** An unquoted `1.0` is a number in YAML. */
export function versionField(table: Table, name: string): string | undefined {
  const version = field(table, name);
  return typeof version === 'string' || typeof version === 'number'
    ? String(version).slice(0, 64)
    : undefined;
}
