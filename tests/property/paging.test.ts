import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BmadError } from '../../src/base/errors.ts';
import { cutToFit } from '../../src/base/text/markdown.ts';
import { fitItems, listPage, textPart } from '../../src/base/text/paging.ts';
import { byteLength } from '../../src/base/text/text.ts';
import { cases } from '../support/how-much.ts';

const words = fc.constantFrom(
  'a',
  'word ',
  '\n',
  '\r\n',
  '\n\n',
  '\n## H\n',
  '\n### h\n',
  '😀',
  'é',
  '名',
  '`',
  '\uFEFF',
);
const text = fc.oneof(
  fc.array(words, { maxLength: 200 }).map((parts) => parts.join('')),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
  fc.nat(2_000).map((length) => 'x'.repeat(length)),
);
const budget = fc.oneof(fc.integer({ min: 4, max: 12 }), fc.integer({ min: 4, max: 500 }));

/** Follows the cursors to the end; gives up when there are more parts than could be needed. */
function follow<T>(
  read: (cursor: string | undefined) => { part: T; next: string | undefined },
  limit: number,
): T[] {
  const parts: T[] = [];
  let cursor: string | undefined;
  do {
    const { part, next } = read(cursor);
    parts.push(part);
    cursor = next;
    if (parts.length > limit) throw new Error('the parts have no end');
  } while (cursor !== undefined);
  return parts;
}

describe('textPart', () => {
  it('gives parts that fit and are the text when put together', () => {
    fc.assert(
      fc.property(text, budget, (whole, bytes) => {
        const parts = follow((cursor) => textPart(whole, bytes, cursor), whole.length + 1);
        expect(parts.join('')).toBe(whole);
        expect(Buffer.concat(parts.map((part) => Buffer.from(part)))).toEqual(Buffer.from(whole));
        expect(Math.max(...parts.map(byteLength))).toBeLessThanOrEqual(bytes);
        // A text that fits is never split, and no part but that of an empty text is empty.
        expect(parts.length === 1).toBe(byteLength(whole) <= bytes);
        expect(parts.includes('')).toBe(whole === '');
      }),
      { numRuns: cases(1_000) },
    );
  });

  it('refuses every cursor it has not given out', () => {
    fc.assert(
      fc.property(
        text,
        budget,
        fc.string({ maxLength: 20 }),
        fc.integer(),
        (whole, bytes, garbage, number) => {
          const { next } = textPart(whole, bytes, undefined);
          const mark = (next ?? 't00000000-').replace(/\d+$/, '');
          for (const cursor of [
            garbage,
            mark + garbage,
            `${mark}${-Math.abs(number)}`,
            `${mark}${whole.length}`,
          ]) {
            if (/^t[0-9a-f]{8}-[1-9]\d*$/.test(cursor) && Number(cursor.slice(10)) < whole.length) continue;
            expect(() => textPart(whole, bytes, cursor)).toThrow(BmadError);
          }
        },
      ),
    );
  });
});

describe('cutToFit', () => {
  it('gives a beginning that fits, and more than half of what would fit', () => {
    fc.assert(
      fc.property(text, budget, (whole, bytes) => {
        const head = cutToFit(whole, bytes);
        expect(whole.startsWith(head)).toBe(true);
        expect(byteLength(head)).toBeLessThanOrEqual(bytes);
        expect(head === '').toBe(whole === '');
        const least = byteLength(whole) > bytes + 3 ? Math.floor((bytes - 3) / 4) * 0.6 : 0;
        expect(head.length).toBeGreaterThanOrEqual(least);
      }),
      { numRuns: cases(1_000) },
    );
  });
});

describe('listPage', () => {
  const items = fc.array(fc.nat(), { maxLength: 60 });

  it('shows everything exactly once, in order', () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 70 }), (list, size) => {
        const pages = follow((cursor) => listPage(list, size, 'list', cursor), list.length + 1);
        expect(pages.flat()).toEqual(list);
        expect(pages.slice(0, -1).every((page) => page.length === size)).toBe(true);
      }),
    );
  });

  it('shows everything exactly once when pages are cut to a number of bytes', () => {
    fc.assert(
      fc.property(items, fc.integer({ min: 1, max: 70 }), fc.nat(40), (list, size, bytes) => {
        const pages = follow((cursor) => {
          const page = listPage(list, size, 'list', cursor);
          const part = fitItems(page.part, bytes, String);
          const next =
            part.length < page.part.length ? listPage(list, part.length, 'list', cursor).next : page.next;
          return { part, next };
        }, list.length + 1);
        expect(pages.flat()).toEqual(list);
      }),
    );
  });

  it('never takes a cursor of another list', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        fc.pre(one !== other);
        const { next } = listPage([1, 2], 1, one, undefined);
        expect(() => listPage([1, 2], 1, other, next)).toThrow(BmadError);
      }),
    );
  });
});
