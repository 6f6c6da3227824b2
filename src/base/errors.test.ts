import { describe, expect, it } from 'vitest';
import { BmadError, ERROR_CODES, quoted, systemCode } from './errors.ts';

describe('BmadError', () => {
  it('is known by what it is, also where another file has a copy of the class', () => {
    const copy = Object.assign(new Error('x'), { name: 'BmadError', code: 'not_found' });
    expect(copy instanceof BmadError).toBe(true);
    const others = [new Error('x'), { name: 'BmadError', code: 'not_found' }, 'BmadError', null];
    expect(others.some((value) => value instanceof BmadError)).toBe(false);
  });

  it('puts message, suggestions and hint together', () => {
    const error = new BmadError('not_found', 'There is no agent "archtect".', {
      hint: 'List them.',
      suggestions: ['architect', 'analyst'],
    });
    expect(error.text).toBe(
      'There is no agent "archtect".\n\nDid you mean: architect, analyst?\n\nList them.',
    );
  });

  it('says no more than the message when there is no more', () => {
    const error = new BmadError('internal', 'Broken.');
    expect([error.text, error.hint, error.subject, error.suggestions]).toEqual([
      'Broken.',
      undefined,
      undefined,
      [],
    ]);
  });

  it('has an exit code and an HTTP status that mean failure for every code', () => {
    for (const { exit, http } of Object.values(ERROR_CODES)) {
      expect(exit).toBeGreaterThan(0);
      expect(exit).toBeLessThan(256);
      expect(http).toBeGreaterThanOrEqual(400);
    }
  });
});

describe('BmadError.from', () => {
  const reports: { id: string; thrown: unknown }[] = [];
  const report = (id: string, thrown: unknown): void => void reports.push({ id, thrown });

  it('hands an error of ours on and reports nothing', () => {
    const known = new BmadError('forbidden', 'No.');
    expect(BmadError.from(known, report)).toBe(known);
    expect(reports.splice(0)).toEqual([]);
  });

  it.each([
    ['an error', new TypeError('password hunter2 in /home/me')],
    ['a text', 'password hunter2 in /home/me'],
    ['nothing', undefined],
    ['null', null],
    ['an object', { message: 'hunter2', code: 'forbidden' }],
  ])('hides %s of a stranger and reports it with the id', (_, thrown) => {
    const error = BmadError.from(thrown, report);
    const [entry, ...more] = reports.splice(0);
    expect(more).toEqual([]);
    expect(entry?.thrown).toBe(thrown);
    expect(entry?.id).toMatch(/^[0-9a-f]{8}$/);
    expect(error.code).toBe('internal');
    expect(error.message).toBe(`Something went wrong inside the server (incident ${entry?.id}).`);
    expect(error.text).not.toMatch(/hunter2|home/);
  });

  it('gives every incident its own id', () => {
    const ids = Array.from({ length: 50 }, () => BmadError.from('x', report).message);
    expect(new Set(ids).size).toBe(50);
    reports.splice(0);
  });

  it.each([
    ['a cancelled call', AbortSignal.abort().reason as unknown],
    ['an error called AbortError', Object.assign(new Error('x'), { name: 'AbortError' })],
    ['a time-out', new DOMException('too late', 'TimeoutError')],
  ])('takes %s for a cancelled call', (_, thrown) => {
    const error = BmadError.from(thrown, report);
    expect([error.code, error.message]).toEqual(['cancelled', 'The call was cancelled.']);
    expect(reports.splice(0)).toEqual([]);
  });
});

describe('quoted', () => {
  it.each([
    ['plain', '"plain"'],
    ['with "quotes" and \\', '"with \\"quotes\\" and \\\\"'],
    ['two\nlines\r\n\0', '"two\\nlines\\r\\n\\u0000"'],
    ['\u001B[31mred\u007F', '"\\u001b[31mred\\u007f"'],
    ['\u0085 \u2028 \u2029 \u009B31m', '"\\u0085 \\u2028 \\u2029 \\u009b31m"'],
    ['turned \u202E round \u2066', '"turned \\u202e round \\u2066"'],
    ['é 名 👩‍💻', '"é 名 👩‍💻"'],
    ['', '""'],
  ])('shows %j as %s', (value, shown) => {
    expect(quoted(value)).toBe(shown);
  });

  it('cuts a long value, but not a character in two', () => {
    expect(quoted('a'.repeat(120))).toBe(`"${'a'.repeat(120)}"`);
    expect(quoted('a'.repeat(121))).toBe(`"${'a'.repeat(120)}…"`);
    expect(quoted(`${'a'.repeat(119)}😀`)).toBe(`"${'a'.repeat(119)}…"`);
  });
});

describe('systemCode', () => {
  it('knows the code of a system error and nothing of other things', () => {
    expect(systemCode(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBe('ENOENT');
    for (const other of [
      Object.assign(new Error('x'), { code: 5 }),
      new Error('x'),
      { code: 'ENOENT' },
      null,
    ])
      expect(systemCode(other)).toBeUndefined();
  });
});
