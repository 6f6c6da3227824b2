import { textField, type Table } from '../base/parse/parse.ts';

/** Values that the installer writes when nobody gives one. */
const TEMPLATE_VALUES = new Set(['', 'Description courte', 'À compléter', '—']);

/** A text that somebody has really given; what the installer left to be filled in is none. */
export function givenValue(from: Table, name: string): string | undefined {
  const value = textField(from, name)?.trim();
  return value === undefined || TEMPLATE_VALUES.has(value) || /\{\{[^{}]*\}\}/.test(value)
    ? undefined
    : value;
}
