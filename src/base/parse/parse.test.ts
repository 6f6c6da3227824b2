import { ParseError } from '../errors.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { thrownBy } from '../../../tests/support/thrown.ts';
import {
  field,
  formatCsv,
  formatToml,
  formatYaml,
  isTable,
  parseCsv,
  parseFrontMatter,
  parseToml,
  parseYaml,
  textField,
} from './parse.ts';
import { cases } from '../../../tests/support/how-much.ts';

const BOM = '\uFEFF';

async function parseFailure(act: () => unknown): Promise<ParseError> {
  const error = await thrownBy(act);
  if (error instanceof ParseError) return error;
  throw new Error(`a ParseError was expected, not ${String(error)}`);
}

describe('parseYaml', () => {
  it('says the same of a plain table as the parser does, which it asks for all others', () => {
    const values = fc.constantFrom(
      '"a: b #c"',
      "'it is'",
      '"é – x"',
      'two words',
      'true',
      'Null',
      'a.b',
      'no',
      '1.0',
      'x: y',
    );
    const more = fc.constantFrom(
      '"a\\tb"',
      '"',
      "'it''s'",
      '',
      'a #b',
      '~',
      '&a b',
      '*a',
      '|',
      '- a',
      'a\tb',
      '2001-01-01',
      'end ',
    );
    const line = fc.tuple(
      fc.constantFrom('name', 'b-c', 'true', '__proto__', 'd_e', 'x'),
      fc.oneof(values, more),
    );
    const lines = fc.array(
      line.map(([key, value]) => `${key}: ${value}`),
      { maxLength: 4 },
    );
    const outcome = (text: string): unknown => {
      try {
        return parseYaml('x', text);
      } catch (error) {
        return String(error);
      }
    };
    const before = fc.constantFrom(0, 0, 17, 24);
    const breaks = fc.constantFrom(1, 1, 2, 24);
    fc.assert(
      fc.property(lines, before, breaks, (some, many, apart) => {
        const all = [...Array.from({ length: many }, (_, at) => `k${at}: words`), ...some];
        const text = `\n${all.join('\n'.repeat(apart))}\n`;
        // No plain table begins with a comment.
        expect(outcome(text)).toEqual(outcome(`#${text}`));
      }),
      { numRuns: cases(200) },
    );
  });

  it('reads values, with a byte order mark and CRLF too', () => {
    expect(parseYaml('x', `${BOM}a: 1\r\nb: [x, "y"]\r\nc: |\r\n  two\r\n  lines\r\n`)).toEqual({
      a: 1,
      b: ['x', 'y'],
      c: 'two\nlines\n',
    });
    expect(parseYaml('x', '')).toBeNull();
    expect(parseYaml('x', 'a: 1\n---\na: 2\n')).toEqual({ a: 1 });
  });

  it.each([
    ['a: 1\nb: [1\nc: 2\n', 3],
    [`${BOM}a: 1\nb: [1\nc: 2\n`, 3],
    ['a: 1\r\n\r\n\tb: 2\r\n', 3],
    ['a: "x', 1],
    ['a: 1\na: 2\n', 2],
    [`${BOM}a: 1\na: 2\n`, 2],
  ])('names the line that is wrong in %j', async (text, line) => {
    const error = await parseFailure(() => parseYaml('bmm/config.yaml', text));
    expect([error.file, error.line]).toEqual(['bmm/config.yaml', line]);
    expect(error.message.startsWith(`bmm/config.yaml:${line}: `)).toBe(true);
    expect(error.message.split('\n')).toHaveLength(1);
  });
});

describe('parseToml', () => {
  it('reads values, with a byte order mark and CRLF too', () => {
    expect(parseToml('x', `${BOM}a = 1\r\n[b]\r\nc = "d"\r\n`)).toEqual({ a: 1, b: { c: 'd' } });
  });

  it.each([
    ['a = 1\nb = \n', 2],
    [`${BOM}a = 1\r\nb = "x\r\n`, 2],
    ['a = 1\na = 2\n', 2],
    ['a = 99999999999999999999\n', 1],
  ])('names the line that is wrong in %j', async (text, line) => {
    const error = await parseFailure(() => parseToml('c.toml', text));
    expect([error.file, error.line]).toEqual(['c.toml', line]);
    expect(error.message.split('\n')).toHaveLength(1);
  });
});

describe('parseFrontMatter', () => {
  it.each([
    ['LF', '---\nname: a\n---\nbody\n'],
    ['CRLF and a byte order mark', `${BOM}---\r\nname: a\r\n---\r\nbody\n`],
    ['spaces after the marks', '---  \nname: a\n--- \t\nbody\n'],
  ])('splits a file with %s', (_, text) => {
    expect(parseFrontMatter('x', text)).toEqual({ data: { name: 'a' }, body: 'body\n' });
  });

  it.each([
    ['none', '# Title\n', '# Title\n'],
    ['none, and a byte order mark', `${BOM}# Title\n`, '# Title\n'],
    ['no end', '---\nname: a\nbody', '---\nname: a\nbody'],
    ['a rule further down only', 'text\n---\nmore\n---\n', 'text\n---\nmore\n---\n'],
    ['four dashes', '----\na: 1\n----\n', '----\na: 1\n----\n'],
    ['an empty block', '---\n---\nbody', 'body'],
    ['a list instead of a table', '---\n- a\n---\nbody', 'body'],
    ['a text instead of a table', '---\njust words\n---\nbody', 'body'],
    ['nothing but the marks', '---\n---', ''],
    ['an empty file', '', ''],
  ])('has no data for a file with %s', (_, text, body) => {
    expect(parseFrontMatter('x', text)).toEqual({ data: {}, body });
  });

  it('keeps a rule in the body', () => {
    expect(parseFrontMatter('x', '---\na: 1\n---\none\n---\ntwo').body).toBe('one\n---\ntwo');
  });

  it.each([
    ['---\na: 1\nb: [1\n---\nbody', 4],
    ['---\r\na: 1\r\na: 2\r\n---\r\nbody', 3],
    [`${BOM}---\na: 1\na: 2\n---\n`, 3],
  ])('counts lines from the top of the file in %j', async (text, line) => {
    const error = await parseFailure(() => parseFrontMatter('SKILL.md', text));
    expect([error.file, error.line]).toEqual(['SKILL.md', line]);
  });
});

describe('parseCsv', () => {
  it.each([
    [
      'plain rows',
      'a,b\n1,2\n',
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    ['quoted commas', 'a,"b, c"\n', [['a', 'b, c']]],
    ['quoted quotes', '"say ""hi""",b\n', [['say "hi"', 'b']]],
    [
      'line breaks in cells',
      '"one\ntwo","three\r\nfour"\nx,y\n',
      [
        ['one\ntwo', 'three\r\nfour'],
        ['x', 'y'],
      ],
    ],
    ['ragged rows', 'a,b,c\n1\n1,2,3,4\n', [['a', 'b', 'c'], ['1'], ['1', '2', '3', '4']]],
    [
      'a byte order mark and CRLF',
      `${BOM}a,b\r\n1,2\r\n`,
      [
        ['a', 'b'],
        ['1', '2'],
      ],
    ],
    [
      'both kinds of line ends',
      'a,b\n1,2\r\n3,4\n5,6\r\n',
      [
        ['a', 'b'],
        ['1', '2'],
        ['3', '4'],
        ['5', '6'],
      ],
    ],
    [
      'both kinds, CRLF first',
      'a,b\r\n1,2\n3,4',
      [
        ['a', 'b'],
        ['1', '2'],
        ['3', '4'],
      ],
    ],
    [
      'empty lines and cells',
      '\na,,\n\n,\n',
      [
        ['a', '', ''],
        ['', ''],
      ],
    ],
    ['quotes inside a cell', 'a "b" c,d\n', [['a "b" c', 'd']]],
    ['spaces', ' a , b \n', [[' a ', ' b ']]],
    ['no line end', 'a,b', [['a', 'b']]],
    ['nothing', '', []],
  ])('reads %s', (_, text, rows) => {
    expect(parseCsv('x.csv', text)).toEqual(rows);
  });

  it('names the file and the line of a quote that is never closed', async () => {
    const error = await parseFailure(() => parseCsv('help.csv', 'a,b\n1,"2\n3,4\n'));
    expect([error.file, error.line]).toEqual(['help.csv', 2]);
    expect(error.message).toMatchInlineSnapshot(`"help.csv:2: Quote Not Closed"`);
  });
});

describe('formatting', () => {
  it('writes CSV that needs no more quotes than it must', () => {
    expect(formatCsv([['a', 'b, c', 'say "hi"'], ['two\nlines', '', ' x '], ['']])).toBe(
      'a,"b, c","say ""hi"""\n"two\nlines",, x \n""\n',
    );
  });

  it('writes TOML and YAML that read the same', () => {
    const table = { name: 'a: "b"', list: ['x', 'y #z'], deep: { on: true, __proto: 'no' } };
    expect(parseToml('x', formatToml(table))).toEqual(table);
    expect(parseYaml('x', formatYaml(table))).toEqual(table);
  });
});

describe('tables', () => {
  it('tells a table from everything else', () => {
    expect([{}, Object.create(null)].map(isTable)).toEqual([true, true]);
    expect([null, undefined, [], 'x', 1, new Date()].map(isTable)).toEqual(Array(6).fill(false));
  });

  it('finds fields, but nothing that every object inherits', () => {
    const table = { a: 'text', b: 1 };
    expect(['a', 'b', 'toString', '__proto__', 'constructor'].map((name) => field(table, name))).toEqual([
      'text',
      1,
      undefined,
      undefined,
      undefined,
    ]);
    expect(['a', 'b', 'toString'].map((name) => textField(table, name))).toEqual([
      'text',
      undefined,
      undefined,
    ]);
  });
});
