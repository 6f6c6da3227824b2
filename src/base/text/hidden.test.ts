import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hiddenIn, visible, visibleJson, visibleLines, withoutHidden } from './hidden.ts';

/** What nobody writes by hand, and what an approver must not miss: C0, C1, direction, tags, no width, fillers. */
const HIDDEN: [what: string, char: string, escape: string][] = [
  ['escape', '\u001B', '\\u001b'],
  ['a bell', '\u0007', '\\u0007'],
  ['a backspace', '\b', '\\u0008'],
  ['a carriage return', '\r', '\\u000d'],
  ['delete', '\u007F', '\\u007f'],
  ['a C1 introducer', '\u009B', '\\u009b'],
  ['an override of direction', '\u202E', '\\u202e'],
  ['an isolate', '\u2066', '\\u2066'],
  ['a mark of direction', '\u200F', '\\u200f'],
  ['an Arabic mark', '\u061C', '\\u061c'],
  ['a space without width', '\u200B', '\\u200b'],
  ['a word joiner', '\u2060', '\\u2060'],
  ['an invisible times', '\u2062', '\\u2062'],
  ['a byte order mark', '\uFEFF', '\\ufeff'],
  ['a soft hyphen', '\u00AD', '\\u00ad'],
  ['a Hangul filler', '\u3164', '\\u3164'],
  ['a line separator', '\u2028', '\\u2028'],
  ['an annotation', '\uFFF9', '\\ufff9'],
  ['a tag', '\u{E0041}', '\\u{e0041}'],
  ['a joiner between letters', '\u200D', '\\u200d'],
  ['a non-joiner between letters', '\u200C', '\\u200c'],
  ['a variation of a letter', '\uFE0F', '\\ufe0f'],
  ['one of the other variations', '\u{E0100}', '\\u{e0100}'],
];

/** What belongs to how people write. */
const WRITTEN: [what: string, text: string][] = [
  ['accents, quotes and backslashes', 'é "x" \\ \\u202e'],
  ['a family', '👨‍👩‍👧‍👦'],
  ['a colour of skin', '👩🏽‍💻'],
  ['a flag', '🏳️‍🌈'],
  ['a keycap', '1️⃣'],
  ['a sign as text', '✔︎'],
  ['Persian', 'می‌خواهم'],
  ['Hindi', 'क्‍ष'],
  ['Sinhala', 'ශ්‍රී'],
  ['a variant of a Han character', '葛\u{E0100}'],
];

describe('what is hidden in a text', () => {
  it.each(HIDDEN)('is made visible: %s (S-03)', (_what, char, escape) => {
    expect(visible(`a${char}b`)).toBe(`a${escape}b`);
    expect(visibleLines(`a${char}b\n`)).toBe(`a${escape}b\n`);
    expect(withoutHidden(`a${char}b`)).toBe('ab');
    expect(hiddenIn(`a${char}b`)).toEqual([{ char: escape, at: 1 }]);
  });

  it.each(WRITTEN)('is not what people write: %s', (_what, text) => {
    for (const shown of [visible, visibleLines, withoutHidden]) expect(shown(text)).toBe(text);
    expect(hiddenIn(text)).toEqual([]);
  });

  it('is every second variation, every second joiner: data can be put into such runs', () => {
    expect(visible('👩\uFE0F\uFE0F\uFE01')).toBe('👩\uFE0F\\ufe0f\\ufe01');
    expect(visible('👩\u200D\u200D💻')).toBe('👩\\u200d\\u200d💻');
    expect(visible('ک\u200C\u200Cا')).toBe('ک\u200C\\u200cا');
  });

  it('includes line breaks in one line only, and no line end of Windows', () => {
    expect(visible('a\n\tb\r\n')).toBe('a\\u000a\\u0009b\\u000d\\u000a');
    expect(visibleLines('a\n\tb\r\nc\rd')).toBe('a\n\tb\r\nc\\u000dd');
  });

  it('does not include the mark with which a file begins', () => {
    expect(hiddenIn('\uFEFFname: x\uFEFF')).toEqual([{ char: '\\ufeff', at: 8 }]);
  });

  it('leaves nothing that a terminal acts on, and loses nothing in JSON', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
        // eslint-disable-next-line no-control-regex -- control characters are what is looked for
        const acted =
          /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}]/u;
        expect(visibleLines(text)).not.toMatch(acted);
        expect(withoutHidden(text)).not.toMatch(acted);
        const json = visibleJson(JSON.stringify(text));
        expect(json).not.toMatch(acted);
        expect(JSON.parse(json)).toBe(text);
        expect(visibleLines(visibleLines(text))).toBe(visibleLines(text));
      }),
    );
  });
});
