import { expect, it } from 'vitest';
import { jsonLike } from './state-file.ts';

const TABLE = { status: 'terminé', steps: [1, 2] };

it.each([
  ['two spaces', `${JSON.stringify(TABLE, null, 2)}\n`],
  ['four spaces, no last line end', JSON.stringify(TABLE, null, 4)],
  ['tabs', `${JSON.stringify(TABLE, null, '\t')}\n`],
  ['one line', `${JSON.stringify(TABLE)}\n`],
  ['CRLF', `${JSON.stringify(TABLE, null, 2)}\n`.replaceAll('\n', '\r\n')],
  ['escaped letters', `${JSON.stringify(TABLE, null, 2)}\n`.replace('é', '\\u00e9')],
])('M-49: writes a table in the form of the file: %s', (_form, before) => {
  expect(jsonLike(before, TABLE)).toBe(before);
  expect(JSON.parse(jsonLike(before, { ...TABLE, more: '“ok”' }))).toEqual({ ...TABLE, more: '“ok”' });
});

it('writes a new file as ours are', () => {
  expect(jsonLike('', { a: 1 })).toBe('{\n  "a": 1\n}\n');
});
