import { field, parseYaml, type Table, tableOf } from '../../base/parse/parse.ts';
import type { Problem } from '../../model/record.ts';
import { parsedTable } from '../reader.ts';

/** The text without its mark and with plain line ends, so that patterns need to know neither; lines keep their numbers. */
export function plainText(text: string): string {
  return text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
}

/** A value as a text: versions and the like are numbers unless they are quoted. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value !== 'string') return undefined;
  const line = value.replace(/\s+/g, ' ').trim();
  return line === '' ? undefined : line;
}

export function scalarField(table: Table, name: string): string | undefined {
  return scalarText(field(table, name));
}

export interface ParsedYaml {
  table: Table;
  problem?: Problem;
}

/** The table a YAML text holds; an empty one with a problem when it cannot be parsed. */
export function parseTable(file: string, text: string): ParsedYaml {
  const problems: Problem[] = [];
  const table = parsedTable(file, problems, () => tableOf(parseYaml(file, text)));
  return { table, ...(problems[0] === undefined ? {} : { problem: problems[0] }) };
}

/**
 * The lines of a top-level key and of what belongs to it, all others emptied. Lines stay where they are, so that
 * errors name the line of the file.
 */
export function sectionOf(text: string, key: string): string | undefined {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => line.startsWith(`${key}:`));
  if (start === -1) return undefined;
  const after = lines.findIndex((line, index) => index > start && /^[^\s#-]/.test(line));
  const end = after === -1 ? lines.length : after;
  return '\n'.repeat(start) + lines.slice(start, end).join('\n');
}

/**
 * Only the lines of these keys, either of the table under the top-level key `wrapper` or, without one, of the file.
 * Templates are long and their names are at the top: parsing all of each would take a second for one install.
 */
export function onlyKeys(text: string, wrapper: string, keys: readonly string[]): string {
  const section = sectionOf(text, wrapper);
  const lines = (section ?? text).split('\n');
  const first = section === undefined ? 0 : lines.findIndex((line) => line !== '') + 1;
  // What follows the key on its line is not a table of lines; the caller has to parse the whole.
  if (first > 0 && !/:\s*(?:#|$)/.test(lines[first - 1] ?? '')) return '';
  const indent = first === 0 ? 0 : indentOf(lines.slice(first).find(hasContent) ?? '');
  let kept = false;
  const chosen = lines.map((line, index) => {
    if (index < first) return '';
    if (hasContent(line) && indentOf(line) <= indent) {
      kept = keys.some((key) => line.startsWith(`${key}:`, indent));
    }
    return kept ? line : '';
  });
  return chosen.join('\n').trimEnd();
}

/** The value of a key as a person would pick it from a text that no parser takes. */
export function pickValue(text: string, key: string): string | undefined {
  const value = new RegExp(`^[ \\t]*(?:- )?${key}:[ \\t]*(\\S.*)$`, 'm').exec(text)?.[1];
  if (value === undefined || /^[|>][-+]?$/.test(value.trim())) return undefined;
  return scalarText(unquoted(value));
}

/** Without the quotes around it, even if one of the two is missing. */
export function unquoted(text: string): string {
  return text
    .trim()
    .replace(/^["'`]/, '')
    .replace(/["'`]$/, '')
    .trim();
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}

function hasContent(line: string): boolean {
  return /^\s*[^\s#]/.test(line);
}
