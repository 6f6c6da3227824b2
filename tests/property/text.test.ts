import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { quoted } from '../../src/base/errors.ts';
import { findSection, outline } from '../../src/base/text/markdown.ts';
import { formatCsv, parseCsv } from '../../src/base/parse/parse.ts';
import { cell, cut, fenced, oneLine } from '../../src/base/text/text.ts';
import { cases } from '../support/how-much.ts';

const awkward = fc.oneof(
  fc
    .array(
      fc.constantFrom('`', '```', '````', '~~~', '\n', '\r', '\r\n', ' ', '|', '\\', 'a', '😀', '"', ','),
      {
        maxLength: 30,
      },
    )
    .map((parts) => parts.join('')),
  fc.string({ unit: 'binary', maxLength: 40 }),
);

describe('fenced', () => {
  it('is closed by its last line and by nothing before it', () => {
    fc.assert(
      fc.property(awkward, (text) => {
        const lines = fenced(text, 'md').split(/\r\n|\n|\r/);
        const fence = /^(`{3,})md$/.exec(lines[0] ?? '')?.[1] ?? '';
        expect(fence.length).toBeGreaterThanOrEqual(3);
        const closing = lines.map((line) => /^ {0,3}(`{3,})[ \t]*$/.exec(line)?.[1] ?? '');
        expect(closing.findIndex((mark) => mark.length >= fence.length)).toBe(lines.length - 1);
        expect(fenced(text, 'md').slice(fence.length + 3)).toContain(text);
      }),
      { numRuns: cases(1_000) },
    );
  });
});

describe('cell', () => {
  it('stays one cell of one row', () => {
    fc.assert(
      fc.property(awkward, (text) => {
        // Bars count when an even number of backslashes is before them, as GitHub reads tables.
        const row = `| ${cell(text)} |`;
        const bars = [...row.matchAll(/(\\*)\|/g)].filter(([, slashes = '']) => slashes.length % 2 === 0);
        expect(bars).toHaveLength(2);
        expect(cell(text)).not.toMatch(/[\n\r]/);
      }),
      { numRuns: cases(1_000) },
    );
  });
});

describe('oneLine', () => {
  it('is short, one line, and a beginning of the text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 80 }),
        fc.integer({ min: 2, max: 60 }),
        (text, max) => {
          const line = oneLine(text, max);
          expect(line.length).toBeLessThanOrEqual(max);
          expect(line).not.toMatch(/[\n\r\t]|\p{Surrogate}/u);
          const words = text.replace(/\s+/g, ' ').trim();
          expect(line === words || (line.endsWith('…') && words.startsWith(line.slice(0, -1)))).toBe(true);
        },
      ),
    );
  });
});

describe('quoted and cut', () => {
  it('show any value in one short line without half a character', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(quoted(text)).toMatch(/^"[^\p{Cc}\u2028\u2029\u202E]*"$/u);
        expect(quoted(text).length).toBeLessThan(125 * 6);
        expect(JSON.parse(quoted(text.slice(0, 100)))).toBe(text.slice(0, 100));
      }),
    );
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(40), (text, max) => {
        expect(text.startsWith(cut(text, max))).toBe(true);
        expect(cut(text, max)).not.toMatch(/\p{Surrogate}/u);
        expect(cut(text, max).length).toBeGreaterThanOrEqual(Math.min(text.length, max) - 1);
      }),
    );
  });
});

describe('formatCsv', () => {
  it('is read back as it was', () => {
    const row = fc.array(awkward, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(row, { maxLength: 6 }), (rows) => {
        expect(parseCsv('x.csv', formatCsv(rows))).toEqual(rows);
      }),
      { numRuns: cases(1_000) },
    );
  });
});

describe('outline', () => {
  const line = fc.constantFrom(
    '# A',
    '## B',
    '### C',
    '## B 2',
    'text',
    '',
    '```',
    '~~~~',
    '  ```js',
    '#no',
    '# A #',
  );
  it('has sections that nest, begin at their heading and can be found by their title', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 25 }), fc.constantFrom('\n', '\r\n'), (lines, end) => {
        const text = lines.join(end);
        const sections = outline(text);
        for (const [index, section] of sections.entries()) {
          expect(text.slice(section.start)).toMatch(new RegExp(`^#{${section.level}} `));
          expect(section.end).toBeGreaterThan(section.start);
          const following = sections.slice(index + 1).find(({ level }) => level <= section.level);
          expect(section.end).toBe(following?.start ?? text.length);
          expect(findSection(sections, section.title)?.title).toBe(section.title);
        }
      }),
      { numRuns: cases(1_000) },
    );
  });
});
