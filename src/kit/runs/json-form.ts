import type { Table } from '../../base/parse/parse.ts';

/** As our own files are. */
const USUAL = 2;

/** A table as JSON in the form that a file has: its indentation, line ends, last line, and whether it escapes letters. */
export function jsonLike(before: string, table: Table): string {
  const isOneLine = before.trim() !== '' && !before.trim().includes('\n');
  const indent = /^\s*\{\s*?\n([ \t]+)"/.exec(before)?.[1] ?? (isOneLine ? undefined : USUAL);
  const made = JSON.stringify(table, null, indent);
  const isAscii = /\\u[0-9a-f]{4}/i.test(before) && !/[^\0-\x7f]/.test(before);
  const spelled = isAscii
    ? made.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    : made;
  const last = before === '' || before.endsWith('\n') ? '\n' : '';
  return `${spelled}${last}`.replaceAll('\n', before.includes('\r\n') ? '\r\n' : '\n');
}
