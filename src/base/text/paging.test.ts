import { describe, expect, it } from 'vitest';
import { refusal } from '../../../tests/support/thrown.ts';
import { fitItems, listPage, textPart } from './paging.ts';

const TEXT = '# One\n\nfirst\n\n# Two\n\nsecond\n';

describe('textPart', () => {
  it('gives a short text whole', () => {
    expect(textPart(TEXT, 100, undefined)).toEqual({ part: TEXT, from: 0, total: 28, next: undefined });
    expect(textPart('', 100, undefined)).toEqual({ part: '', from: 0, total: 0, next: undefined });
  });

  it('gives the parts in order and says where each begins', () => {
    const first = textPart(TEXT, 16, undefined);
    expect(first).toMatchObject({ part: '# One\n\nfirst\n', from: 0, total: 28 });
    expect(textPart(TEXT, 16, first.next)).toEqual({
      part: '\n# Two\n\nsecond\n',
      from: 13,
      total: 28,
      next: undefined,
    });
  });

  const next = textPart(TEXT, 16, undefined).next ?? '';
  const mark = next.slice(0, next.indexOf('-') + 1);
  it.each([
    ['of another text', textPart(`${TEXT} `, 16, undefined).next ?? ''],
    ['of a list', listPage([1, 2], 1, TEXT, undefined).next ?? ''],
    ['without a number', mark],
    ['at the very beginning', `${mark}0`],
    ['that is negative', `${mark}-1`],
    ['at the end', `${mark}28`],
    ['beyond the end', `${mark}29`],
    ['far beyond the end', `${mark}99999999999999999999`],
    ['with a fraction', `${mark}1.5`],
    ['in hexadecimal', `${mark}0x5`],
    ['with an exponent', `${mark}1e1`],
    ['with a space', `${mark} 5`],
    ['with a sign', `${mark}+5`],
    ['with leading zeros', `${mark}005`],
    ['in other digits', `${mark}٣`],
    ['that is garbage', 'garbage'],
    ['that is empty', ''],
    ['called __proto__', '__proto__'],
  ])('refuses a cursor %s', async (_, cursor) => {
    const error = await refusal(() => textPart(TEXT, 16, cursor));
    expect(error.code).toBe('invalid_input');
    expect(error.message).toBe(
      'The cursor does not belong to this answer, or the content has changed since.',
    );
  });
});

describe('listPage', () => {
  const items = ['a', 'b', 'c', 'd', 'e'];

  it('gives page after page', () => {
    const first = listPage(items, 2, 'letters', undefined);
    const second = listPage(items, 2, 'letters', first.next);
    const third = listPage(items, 2, 'letters', second.next);
    expect([first, second, third].map(({ part, from, total }) => [part, from, total])).toEqual([
      [['a', 'b'], 0, 5],
      [['c', 'd'], 2, 5],
      [['e'], 4, 5],
    ]);
    expect(third.next).toBeUndefined();
  });

  it('lets the size change from page to page', () => {
    const first = listPage(items, 1, 'letters', undefined);
    expect(listPage(items, 9, 'letters', first.next)).toEqual({
      part: ['b', 'c', 'd', 'e'],
      from: 1,
      total: 5,
      next: undefined,
    });
  });

  it('has one empty page for an empty list', () => {
    expect(listPage([], 2, 'none', undefined)).toEqual({ part: [], from: 0, total: 0, next: undefined });
  });

  it('refuses the cursor of another list, and one that the list has become too short for', async () => {
    const { next } = listPage(items, 3, 'letters', undefined);
    expect((await refusal(() => listPage(items, 3, 'others', next))).code).toBe('invalid_input');
    expect((await refusal(() => listPage(['a', 'b', 'c'], 3, 'letters', next))).code).toBe('invalid_input');
  });
});

describe('fitItems', () => {
  it.each([
    [100, ['aa', 'é', 'cc']],
    [9, ['aa', 'é', 'cc']],
    [8, ['aa', 'é']],
    [6, ['aa', 'é']],
    [5, ['aa']],
    [0, ['aa']],
  ])('gives what fits into %i bytes, line breaks counted', (budget, fitting) => {
    expect(fitItems(['aa', 'é', 'cc'], budget, String)).toEqual(fitting);
  });

  it('gives nothing of nothing', () => {
    expect(fitItems([], 5, String)).toEqual([]);
  });
});
