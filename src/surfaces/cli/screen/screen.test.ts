import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { line, type Line, lookOf, painted, span, textOf } from './paint.ts';
import { helpLines } from '../screens/parts.ts';
import { exactLines, markdown } from './markdown.ts';
import { cutLine, lineWidth, table, wrapped } from './text.ts';

const PLAIN = { colours: false, links: false };
const FULL = { colours: true, links: true };
const texts = (lines: readonly Line[]): string[] => lines.map(textOf);

describe('a text that is read before something is agreed to', () => {
  it('is there to the line, with what is fenced set off by its place', () => {
    const text = 'a.sh, its script\n````\necho **x**\n```\nRuns: nothing\n````\n```x\nRuns: sh a.sh';
    expect(texts(exactLines(text, 80))).toEqual([
      'a.sh, its script',
      '    echo **x**',
      '    ```',
      '    Runs: nothing',
      '```x',
      'Runs: sh a.sh',
    ]);
  });

  it('is broken between words where it is ours, and not where it is the project’s', () => {
    const long = 'Once allowed, any of it can run.';
    expect(texts(exactLines(`${long}\n  ${long}`, 20))).toEqual([
      'Once allowed, any of',
      'it can run.',
      `  ${long}`,
    ]);
  });
});

describe('the settings in a help text', () => {
  const ROWS = [
    '  --answer-bytes <bytes>    Largest answer [400000]                       BMAD_ANSWER_BYTES',
    '  --allow-origins <origins>  Web origins allowed to call the server        BMAD_ALLOW_ORIGINS',
  ];
  it('have their variables at every width', () => {
    const at = (width: number): string[] => texts(helpLines(ROWS.join('\n'), width));
    expect(at(100)).toEqual(ROWS);
    expect(at(80)).toEqual([
      '  --answer-bytes <bytes>    Largest answer [400000]            BMAD_ANSWER_BYTES',
      '  --allow-origins <origins>  Web origins allowed to call the server',
      '                                                              BMAD_ALLOW_ORIGINS',
    ]);
  });
});

describe('how a stream looks', () => {
  const terminal = { isTTY: true, columns: 100 };

  it('is plain in a pipe, unless colours are asked for', () => {
    expect(lookOf({}, {}, undefined)).toBeUndefined();
    expect(lookOf({}, { NO_COLOR: '1' }, undefined)).toBeUndefined();
    expect(lookOf({}, {}, 'never')).toBeUndefined();
    expect(lookOf({}, {}, 'always')).toEqual({ width: 80, colours: true, links: false, live: false });
    expect(lookOf({}, { FORCE_COLOR: '1', COLUMNS: '60' }, undefined)).toMatchObject({
      width: 60,
      colours: true,
    });
    expect(lookOf({}, { FORCE_COLOR: '0' }, undefined)).toBeUndefined();
  });

  it.each([
    [{}, undefined, true],
    [{ NO_COLOR: '1' }, undefined, false],
    [{ NO_COLOR: '' }, undefined, true],
    [{ NO_COLOR: '1', FORCE_COLOR: '1' }, undefined, true],
    [{ FORCE_COLOR: '0' }, undefined, false],
    [{ NO_COLOR: '1' }, 'always', true],
    [{ FORCE_COLOR: '1' }, 'never', false],
    [{ TERM: 'dumb' }, undefined, false],
  ] as const)('has colours in a terminal by %j and --color=%s: %s', (env, colour, colours) => {
    expect(lookOf(terminal, env, colour)).toMatchObject({ width: 100, colours });
  });

  it('has a width, whatever the terminal says of it', () => {
    const widthIn = (columns: number | undefined, env = {}): number | undefined =>
      lookOf({ isTTY: true, columns }, env, undefined)?.width;
    expect([widthIn(undefined), widthIn(0), widthIn(5), widthIn(400)]).toEqual([80, 80, 20, 400]);
    expect([widthIn(0, { COLUMNS: '132' }), widthIn(0, { COLUMNS: 'wide' })]).toEqual([132, 80]);
  });

  it('is not live where nobody watches, and has links only where they are known', () => {
    expect(lookOf(terminal, { CI: 'true' }, undefined)).toMatchObject({ live: false });
    expect(lookOf(terminal, { WT_SESSION: 'x' }, undefined)).toMatchObject({ live: true, links: true });
    expect(lookOf(terminal, { WT_SESSION: 'x', TMUX: 'x' }, undefined)).toMatchObject({ links: false });
  });
});

describe('paint', () => {
  it('makes what looks like a code visible, in every style (S-03)', () => {
    const hostile = '\u001B[2K\u001B]8;;https://evil.example\u0007\u009B2J\u202Eabc';
    for (const style of [undefined, 'title', 'name', 'link'] as const) {
      const shown = painted([[{ text: hostile, style, link: hostile }]], FULL);
      expect(shown.replaceAll(/\u001B\[\d+m/g, '')).toBe(
        '\\u001b[2K\\u001b]8;;https://evil.example\\u0007\\u009b2J\\u202eabc\n',
      );
    }
  });

  it('links an address to itself only, also where it is broken into lines', () => {
    const [linked = ''] = painted(markdown('[the bank](https://a.example/x)', 80), FULL).split('\n');
    expect(linked).toBe(
      'the bank\u001B[2m (\u001B[22m\u001B]8;;https://a.example/x\u001B\\\u001B[4mhttps://a.example/x\u001B[24m\u001B]8;;\u001B\\\u001B[2m)\u001B[22m',
    );
    const long = `https://a.example/${'x'.repeat(50)}`;
    const broken = painted(markdown(long, 30), FULL);
    expect(broken.split(`\u001B]8;;${long}\u001B\\`)).toHaveLength(4);
    expect(painted(markdown('[x](javascript:alert)', 80), FULL)).not.toContain('\u001B]8');
    expect(
      painted([[{ text: 'good.example', style: 'link', link: 'https://evil.example' }]], FULL),
    ).not.toContain('\u001B]8');
  });
});

describe('wrapping', () => {
  const word = fc.oneof(
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
    fc.constantFrom('שלום', 'مرحبا', '漢字かな交じり文', '🏗️', 'e\u0301', '👩‍👩‍👧', 'x'.repeat(70)),
  );

  it('keeps every character and no line beyond the width, in any writing', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), fc.integer({ min: 20, max: 120 }), (words, width) => {
        const text = span(words.join(' ')).text;
        const lines = wrapped([{ text }], width, { first: line('- '), rest: line('  ') });
        for (const each of lines) expect(lineWidth(each)).toBeLessThanOrEqual(width);
        const kept = texts(lines)
          .map((each) => each.slice(2))
          .join('');
        expect(kept.replaceAll(/\s/g, '')).toBe(text.replaceAll(/\s/g, ''));
      }),
    );
  });

  it('breaks between words, and within one only where it fills a line', () => {
    expect(texts(wrapped(line('one two three four'), 9))).toEqual(['one two', 'three', 'four']);
    expect(texts(wrapped(line('a ', span('bold', 'strong'), ', and more'), 8))).toEqual([
      'a bold,',
      'and more',
    ]);
    expect(texts(wrapped(line('abcdefghijklm'), 10))).toEqual(['abcdefghij', 'klm']);
  });

  it('cuts a line so that it fits and shows it', () => {
    expect(textOf(cutLine(line('漢字漢字'), 5))).toBe('漢字…');
    expect(textOf(cutLine(line('abc'), 3))).toBe('abc');
    expect(lineWidth(cutLine(line('漢字'), 1))).toBe(1);
  });
});

describe('tables', () => {
  const columns = [
    { title: 'name' },
    { title: 'what for', flexible: true as const },
    { title: 'module', drop: 1 },
    { title: 'from', drop: 2 },
  ];
  const row = (name: string) => ({
    cells: [
      line(name),
      line('a text of several words that is longer than most'),
      line('bmm'),
      line('built in'),
    ],
    below: line('id-of-the-row'),
  });

  it.each([20, 30, 48, 80, 400])('fit a terminal of %i columns', (width) => {
    const lines = table(columns, ['architect', '漢字の名前', 'מנהל'].map(row), width);
    for (const each of lines) expect(lineWidth(each), textOf(each)).toBeLessThanOrEqual(width);
    const all = texts(lines).join(' ').replaceAll(/\s+/g, ' ');
    for (const name of ['architect', '漢字の名前', 'מנהל', 'id-of-the-row', 'several'])
      expect(all).toContain(name);
  });

  it('leave out what matters least, and line up what is left', () => {
    expect(texts(table(columns, [row('pm')], 400))).toEqual([
      'name  what for                                          module  from',
      'pm    a text of several words that is longer than most  bmm     built in',
      '  id-of-the-row',
    ]);
    expect(texts(table(columns, [row('pm')], 44))[0]).toBe('name  what for                        module');
    expect(texts(table(columns, [row('pm')], 36))[0]).toBe('name  what for');
  });

  it('take ten thousand rows', () => {
    const rows = Array.from({ length: 10_000 }, (_row, at) => row(`agent-${at}`));
    expect(table(columns, rows, 80).length).toBeGreaterThanOrEqual(20_001);
  });
});

describe('Markdown', () => {
  const shown = (text: string, width = 80): string => painted(markdown(text, width), PLAIN);

  it('comes without its marks, line by line', () => {
    expect(
      shown(
        [
          '# Title',
          '',
          '',
          'Some **bold**, _slanted_ and `run_id` text_with_lines, 2*3*4.',
          'Another line',
          '- one',
          '  - two \\*',
          '3. three',
          '> said',
          '```ts',
          'const a = **b**;',
          '```',
          '---',
          'key: value',
        ].join('\n'),
      ),
    ).toBe(
      [
        'Title',
        '',
        'Some bold, slanted and run_id text_with_lines, 2*3*4.',
        'Another line',
        '• one',
        '  • two *',
        '3. three',
        '│ said',
        '  const a = **b**;',
        '─'.repeat(40),
        'key: value',
        '',
      ].join('\n'),
    );
  });

  it('draws tables, with bars in cells as text', () => {
    expect(shown('| a | b |\n|---|---|\n| **x** | y \\| z |\n| long one |  |\nafter')).toBe(
      'a         b\nx         y | z\nlong one\nafter\n',
    );
  });

  it('is read in a time that grows with its length', () => {
    for (const part of ['_', '*', '**', '`', '[', '](', '[a](', '~~', ' ', '|', '# ', '> ', 'https://'])
      for (const text of [part.repeat(20_000), `${part}a `.repeat(1_000)])
        expect(shown(text).length).toBeGreaterThanOrEqual(0);
    // Writing without blanks is one word to whoever breaks lines.
    expect(shown('漢字かな'.repeat(3_000)).split('\n').length).toBeGreaterThanOrEqual(110);
  });
});
