import { ParseError } from '../expected.ts';
import { describe, expect, it } from 'vitest';
import { thrownBy } from '../../../tests/support/thrown.ts';
import { jsonIn } from './json.ts';
import { parseToml, parseYaml } from './parse.ts';

async function parseFailure(act: () => unknown): Promise<ParseError> {
  const error = await thrownBy(act);
  if (error instanceof ParseError) return error;
  throw new Error(`a ParseError was expected, not ${String(error)}`);
}

describe('hostile YAML', () => {
  it('refuses a bomb of aliases before it goes off', async () => {
    const levels = ['a0: &a0 [x,x,x,x,x,x,x,x,x]'];
    for (let level = 1; level <= 10; level++) {
      levels.push(
        `a${level}: &a${level} [${Array(9)
          .fill(`*a${level - 1}`)
          .join(',')}]`,
      );
    }
    const error = await parseFailure(() => parseYaml('bomb.yaml', levels.join('\n')));
    expect(error.message).toMatch(/^bomb\.yaml: Excessive alias count/);
  });

  it('lets a reasonable number of aliases through', () => {
    expect(parseYaml('x', `a: &a 1\nb: [${Array(90).fill('*a').join(',')}]`)).toMatchObject({ a: 1 });
  });

  it.each([
    ['[', '['.repeat(30_000)],
    ['[…]', '['.repeat(30_000) + ']'.repeat(30_000)],
    ['{a: ', '{a: '.repeat(30_000)],
    ['- ', '- '.repeat(30_000)],
    ['? ', '? '.repeat(30_000)],
    ['a:', Array.from({ length: 2_000 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')],
    ['five megabytes of [', '['.repeat(5_000_000)],
    ['!!seq', '!!seq '.repeat(3) + '['.repeat(30_000)],
  ])('refuses nesting without end: %s', async (_, text) => {
    expect((await parseFailure(() => parseYaml('deep.yaml', text))).file).toBe('deep.yaml');
  });

  it('runs nothing and knows no foreign types', () => {
    const text = `a: !!js/function 'function () { globalThis.hacked = true; }'\nb: !!python/object:os.system ls\n`;
    expect(parseYaml('x', text)).toEqual({
      a: 'function () { globalThis.hacked = true; }',
      b: 'ls',
    });
    expect('hacked' in globalThis).toBe(false);
  });

  it('does not let keys reach the prototype of objects', () => {
    const table = parseYaml(
      'x',
      '__proto__:\n  polluted: yes\nconstructor:\n  prototype:\n    polluted: yes\n',
    );
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.getPrototypeOf(table)).toBe(Object.prototype);
    expect(Object.keys(table as object)).toEqual(['__proto__', 'constructor']);
  });

  it('gets through a table of a hundred thousand keys, and finds the one that is there twice', async () => {
    const lines = Array.from({ length: 100_000 }, (_, index) => `key${index}: ${index}`);
    expect(Object.keys(parseYaml('x', lines.slice(0, 10_000).join('\n')) as object)).toHaveLength(10_000);
    const error = await parseFailure(() => parseYaml('long.yaml', [...lines, 'key7: x'].join('\n')));
    expect(error.message).toBe('long.yaml:100001: Map keys must be unique');
  });

  it('takes what is nested as deeply as anybody would write it', () => {
    const depth = 100;
    expect(JSON.stringify(parseYaml('x', '['.repeat(depth) + ']'.repeat(depth)))).toHaveLength(2 * depth);
  });
});

describe('hostile TOML', () => {
  it('refuses nesting without end', async () => {
    for (const text of [
      `a = ${'['.repeat(30_000)}`,
      `a = ${'{a='.repeat(30_000)}`,
      `a${'.a'.repeat(99_999)} = `,
    ])
      expect((await parseFailure(() => parseToml('deep.toml', text))).file).toBe('deep.toml');
  });

  it('does not let keys reach the prototype of objects', () => {
    const table = parseToml('x', '[__proto__]\npolluted = true\n[constructor.prototype]\npolluted = true\n');
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect(Object.keys(table)).toEqual(['__proto__', 'constructor']);
  });
});

describe('values nested too deeply for what comes after the parser (S-14)', () => {
  const dotted = Array.from({ length: 40_000 }, () => 'a').join('.');
  const aliases = Array.from({ length: 4 }, (_, level) =>
    level === 0 ? 'a0: &a0 [x]' : `a${level}: &a${level} ${'['.repeat(90)}*a${level - 1}${']'.repeat(90)}`,
  ).join('\n');

  it.each([
    ['a key of forty thousand parts', () => parseToml('deep.toml', `${dotted} = 1\n`)],
    ['a table of forty thousand parts', () => parseToml('deep.toml', `[${dotted}]\nb = 1\n`)],
    ['aliases of aliases', () => parseYaml('deep.yaml', aliases)],
    ['a list in itself', () => parseYaml('deep.yaml', 'a: &a [1, *a]\n')],
  ])('refuses %s', async (_, act) => {
    expect((await parseFailure(act)).message).toMatch(/^deep\.(?:toml|yaml): nested too deeply/);
  });

  it('has no value for JSON of that kind', () => {
    expect(jsonIn('['.repeat(100_000) + ']'.repeat(100_000))).toBeUndefined();
    expect(jsonIn('['.repeat(100) + ']'.repeat(100))).toBeDefined();
  });
});
