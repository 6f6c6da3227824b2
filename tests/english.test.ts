import { describe, expect, it } from 'vitest';
import { commentsOf, findIn, proseOf, stringsOf } from '../scripts/english/find.ts';
import { PATTERNS } from '../scripts/english/patterns.ts';

const strings = (source: string): string[] => stringsOf(source).map(({ text }) => text);

describe('the strings of a TypeScript file', () => {
  it.each([
    ['both kinds of quotes', `const a = 'one'; const b = "it's two";`, ['one', "it's two"]],
    ['escapes', String.raw`'a\'b\n\u0041\x42\u{43}'`, ["a'b\nABC"]],
    ['a line that continues', "'one \\\ntwo'", ['one two']],
    ['a template with substitutions', '`${name} is ${a.b({ c: 1 })}.`', ['◌ is ◌.']],
    ['a template within a template', '`a ${b ? `inner ${c}` : "other"} z`', ['a ◌ z', 'inner ◌', 'other']],
    ['parts joined with +', "error('one ' +\n  'two ' + `three ${x}` + y)", ['one two three ◌']],
    ['no comments', "// it's one\n/* 'two' */ const a = 'three';", ['three']],
    ['no regular expressions', `x.replace(/['"]/g, 'q'); const b = /[/'"]/.test('r');`, ['q', 'r']],
    ['divisions', `const half = size / 2; const s = 'a / b'; (a) / b; c[0] / 'd'.length`, ['a / b', 'd']],
    ['a regular expression in a substitution', "`${/'/.test(a)} b`", ['◌ b']],
    ['a regular expression after return', `function f() { return /'/; } const a = 'b';`, ['b']],
    ['an address in a string', `'https://example.com' // 'not this'`, ['https://example.com']],
  ])('%s', (_name, source, expected) => expect(strings(source)).toEqual(expected));

  it('are found on the line they are written in', () => {
    const source = "const a = 1;\nthrow new Error(\n  'The line ' +\n    'was passed over.',\n);\n";
    expect(findIn('src/a.ts', source)).toMatchObject([{ line: 4, phrase: 'passed over' }]);
  });

  it('leave comments to those who ask for them', () => {
    const source = '/**\n * The line was\n * passed over.\n */\nconst a = 1;';
    expect(findIn('src/a.ts', source)).toEqual([]);
    expect(findIn('src/a.ts', source, true)).toMatchObject([{ line: 3, phrase: 'passed over' }]);
    expect(commentsOf('// one\nconst a = "b";')[0]?.text.trim()).toBe('one');
  });
});

describe('the prose of a page', () => {
  const page = [
    '# A page',
    '',
    'The line is <!-- told -->',
    'passed over, `or told`, or [told](told.md).',
    '',
    '```text',
    'told',
    '```',
    '- whoever',
    '',
  ].join('\n');

  it('is without code, comments and addresses', () => {
    expect(findIn('docs/page.md', page).map(({ line, phrase }) => `${line} ${phrase}`)).toEqual([
      '4 passed over',
      '4 told',
      '9 whoever',
    ]);
  });

  it('does not flow from one paragraph, row or item into the next', () => {
    expect(findIn('a.md', 'It may go\n\non from there.\n\n- it goes\n- on\n')).toEqual([]);
    expect(findIn('a.md', 'It may go\non with it.\n')).toHaveLength(1);
    expect(proseOf('a\n\nb')[0]?.text).toHaveLength(4);
  });
});

describe('each phrase', () => {
  it.each(PATTERNS.map((pattern) => [pattern.name, pattern] as const))('%s', (name, pattern) => {
    const names = (text: string): string[] => findIn('a.md', text).map((found) => found.pattern.name);
    expect(names(pattern.finds)).toContain(name);
    expect(names(pattern.leaves)).toEqual([]);
    expect(pattern.instead).not.toBe('');
  });

  it('has a name that no other has', () => {
    expect(new Set(PATTERNS.map(({ name }) => name)).size).toBe(PATTERNS.length);
  });
});
