import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { growthOf } from '../../../tests/support/growth.ts';
import { hiddenIn, visible, visibleJson, visibleLines, withoutHidden } from './hidden.ts';
import { some } from '../../../tests/support/how-much.ts';

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
  ['a leading consonant that is none', '\u115F', '\\u115f'],
  ['a vowel that is none', '\u1160', '\\u1160'],
  ['a filler of half width', '\uFFA0', '\\uffa0'],
  ['a separator of vowels', '\u180E', '\\u180e'],
  ['a blank of braille', '\u2800', '\\u2800'],
  ['a joiner of graphemes', '\u034F', '\\u034f'],
  ['a note without a head', '\u{1D159}', '\\u{1d159}'],
  ['a blank hieroglyph', '\u{13441}', '\\u{13441}'],
  ['a place for an object', '\uFFFC', '\\ufffc'],
  ['what is no character', '\u{1FFFE}', '\\u{1fffe}'],
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
  ['the names of a few people', '葛\u{E0100}城 辻\u{E0101} 渡邉\u{E0111} 芦\u{E0101}屋 '.repeat(50)],
  ['a standard variant', '\u4FAE\uFE00 ∩\uFE00'],
  ['keycaps', '0️⃣1️⃣2️⃣3️⃣4️⃣5️⃣6️⃣7️⃣8️⃣9️⃣#️⃣*️⃣'.repeat(20)],
  ['a list with signs', '⚠️ a ✔️ b ⭐️ c ⚡️ d ❤️ e '.repeat(100)],
  [
    'many emoji',
    '👩‍💻👨🏽‍🚀🧑‍🤝‍🧑🏳️‍🌈🏴‍☠️❤️‍🔥👁️‍🗨️☀️☁️☂️☃️☄️♀️♂️✈️✉️✏️✒️✔️✖️✝️✡️❄️❇️♠️♣️♥️♦️♨️⚒️⚔️⚖️⚗️⚙️⚛️⚜️⚠️🅰️🅱️🈂️🌡️🌤️🌧️🌪️🌶️🎖️🎙️🏔️🏖️'.repeat(
      9,
    ),
  ],
  ['a page of Persian', 'می‌خواهم که کتاب‌ها را به خانه‌ی شما بیاورم. '.repeat(40)],
  ['a page of Sinhala', 'ශ්‍රී ලංකා ප්‍රජාතාන්ත්‍රික සමාජවාදී ජනරජය '.repeat(40)],
  ['braille', '⠓⠑⠇⠇⠕⠀⠺⠕⠗⠇⠙'],
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

  describe('carries no message in choices that look the same (N-07)', () => {
    const MESSAGE = Buffer.from('rm -rf ~/project');
    const bits = [...MESSAGE].flatMap((byte) => Array.from({ length: 8 }, (_, bit) => (byte >> bit) & 1));
    const halves = [...MESSAGE].flatMap((byte) => [byte >> 4, byte & 15]);
    const pairs = [...MESSAGE].flatMap((byte) =>
      [byte >> 6, byte >> 4, byte >> 2, byte].map((pair) => pair & 3),
    );
    const han = Array.from({ length: 40 }, (_, index) => String.fromCodePoint(0x4e_00 + 7 * index));
    const pictures = Array.from({ length: 128 }, (_, index) =>
      String.fromCodePoint((index < 64 ? 0x1_f6_00 : 0x1_f6_40) + index),
    );
    const selector = (value: number): string =>
      String.fromCodePoint(value < 16 ? 0xfe_00 + value : 0xe_01_00 - 16 + value);
    const plausible = (value: number): string => String.fromCodePoint(0xe_01_00 + value);
    const of = (values: readonly number[], unit: (value: number, index: number) => string): string =>
      values.map(unit).join('');

    it.each([
      ['bytes behind Han characters', of([...MESSAGE], (byte, at) => han[at] + selector(byte))],
      ['bytes behind the same one', of([...MESSAGE], (byte) => `一${selector(byte)}`)],
      ['half bytes, as variants that exist', of(halves, (half, at) => han[at] + plausible(half))],
      ['half bytes behind the same one', of(halves, (half) => `葛${plausible(half)}`)],
      ['bits behind the same one', of(bits, (bit) => `葛${bit === 1 ? plausible(0) : ''}`)],
      ['bits behind digits', of(bits, (bit, at) => `${at % 10}${bit === 1 ? '\uFE0F' : '\uFE0E'}`)],
      ['bits behind one emoji', of(bits, (bit) => `😀${bit === 1 ? '\uFE0F' : ''}`)],
      ['bits behind many', of(bits, (bit, at) => `${pictures[at]}${bit === 1 ? '\uFE0F' : ''}`)],
      ['bits between emoji', of(bits, (bit) => `😀${bit === 1 ? '\u200D' : ''}`) + '😀'],
      ['bits in words', of(bits, (bit) => `د${bit === 1 ? '\u200C' : ''}`) + 'د'],
      [
        'pairs of bits behind Mongolian letters',
        of(pairs, (pair) => `ᠠ${['', '\u180B', '\u180C', '\u180D'][pair]}`),
      ],
      ['fillers', of(bits, (bit) => (bit === 1 ? '\u3164' : '\uFFA0'))],
      ['blanks', of(bits, (bit) => (bit === 1 ? '\u2800' : ' '))],
    ])('%s', (_, secret) => {
      const hidden = Array.from(secret).filter((char) =>
        /[\p{Default_Ignorable_Code_Point}\u2800]/u.test(char),
      );
      const text = `An ordinary line.\n${secret}\nThe end.`;
      expect(hiddenIn(text)).toHaveLength(hidden.length);
      for (const shown of [
        visibleLines(text),
        visible(text),
        withoutHidden(text),
        visibleJson(JSON.stringify(text)),
      ])
        expect(shown).not.toMatch(/[\p{Default_Ignorable_Code_Point}\u2800]/u);
      expect(JSON.parse(visibleJson(JSON.stringify(text)))).toBe(text);
    });

    it('takes time in proportion to the text to find out', () => {
      const PUMPS = [
        '葛\u{E0100}',
        '😀\u200D',
        '😀\uFE0F',
        '\u2800',
        '\u2800\n',
        'د\u200C',
        '\u200D',
        '1\uFE0F',
        '❤️‍🔥',
      ];
      const slow = some(1, PUMPS).filter(
        (pump) =>
          growthOf(
            (text) => [visibleLines(text), hiddenIn(text)],
            (length) => pump.repeat(length),
            1_000,
            2,
          ) !== undefined,
      );
      expect(slow).toEqual([]);
    });
  });

  it('includes line breaks in one line only, and no line end of Windows', () => {
    expect(visible('a\n\tb\r\n')).toBe('a\\u000a\\u0009b\\u000d\\u000a');
    expect(visibleLines('a\n\tb\r\nc\rd')).toBe('a\n\tb\r\nc\\u000dd');
  });

  it('is told by what Unicode says of each character, also of those that are asked for first', () => {
    const hidden = /[\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Noncharacter_Code_Point}\p{Cc}]/u;
    const others = /[\t\n\u2800\uFFF9-\uFFFC\uFEFF]|[\u{13430}-\u{13442}]|\u{16FE4}|\u{1D159}/u;
    const wrong: string[] = [];
    for (let code = 0; code < 0x1_ff_ff; code += 1) {
      const char = String.fromCodePoint(code);
      if (!others.test(char) && hidden.test(char) !== hiddenIn(char).length > 0)
        wrong.push(code.toString(16));
      // So many marks on one letter are too many, whichever they are.
      if (/\p{M}/u.test(char) && hiddenIn(`a${char.repeat(9)}`).length === 0) wrong.push(`${code} stacked`);
    }
    expect(wrong).toEqual([]);
  });

  it('does not include the blanks of a picture that is made of dots', () => {
    const picture = '⠀⠀⠀⢀⣀⠀⠀\r\n⠀⠀⠀⠀⠀⠀⠀\r\n⠀⣠⣤⠀⠀⣤⠀\r\n';
    expect(visibleLines(picture)).toBe(picture);
    expect(hiddenIn(picture)).toEqual([]);
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
