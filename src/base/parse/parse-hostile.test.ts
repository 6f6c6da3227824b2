import { attempt, orElse, ParseError } from '../errors.ts';
import { describe, expect, it } from 'vitest';
import { setImmediate } from 'node:timers/promises';
import { cpuOf } from '../../../tests/support/growth.ts';
import { some } from '../../../tests/support/how-much.ts';
import { thrownBy } from '../../../tests/support/thrown.ts';
import { jsonIn } from './json.ts';
import { yamlPairs } from './yaml-document.ts';
import { type CsvRow, csvRows, parseCsv, parseToml, parseYaml } from './parse.ts';

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

  it('gets through a table of thirty thousand keys, and finds the one that is there twice', async () => {
    const lines = Array.from({ length: 30_000 }, (_, index) => `key${index}: ${index}`);
    expect(Object.keys(parseYaml('x', lines.slice(0, 10_000).join('\n')) as object)).toHaveLength(10_000);
    const error = await parseFailure(() => parseYaml('long.yaml', [...lines, 'key7: x'].join('\n')));
    expect(error.message).toBe('long.yaml:30001: Map keys must be unique');
  });

  it('takes what is nested as deeply as anybody would write it', () => {
    const depth = 100;
    expect(JSON.stringify(parseYaml('x', '['.repeat(depth) + ']'.repeat(depth)))).toHaveLength(2 * depth);
  });
});

describe('YAML that keeps the parser busy (N-08d)', () => {
  const filled = (line: string, length: number): string => line.repeat(Math.ceil(length / line.length));
  const cpu = (text: string): number => {
    const parse = (): unknown => attempt(() => parseYaml('a.yaml', text), orElse(undefined));
    return Math.min(...[1, 2].map(() => cpuOf(parse)));
  };

  it('is not looked at for longer than one that is right, however many of its lines are wrong', () => {
    const plain = filled('- a\n', 20_000);
    let right = cpu(plain);
    /** Measured in turns with one that is right until it is not slow: all that disturbs a measurement makes it longer. */
    const isSlow = (text: string): boolean => {
      let least = Infinity;
      for (let round = 0; round < 8; round += 1) {
        least = Math.min(least, cpu(text));
        if (least <= 3 * Math.max(5, right)) return false;
        right = Math.min(right, cpu(plain));
      }
      return true;
    };
    const wrong = [
      '- ***\n',
      '- *\n',
      '- @\n',
      '- }\n',
      '- "\n',
      '- {\n',
      '- a b: c: d\n',
      '- !x a\n',
      '%\n',
    ];
    const slow = [...wrong, 'a\n'].filter((line) => {
      const text = line.startsWith('a\n') ? `a: |\n b\n${filled(line, 20_000)}` : filled(line, 20_000);
      return isSlow(text);
    });
    expect(slow).toEqual([]);
  });

  const REFERRING: [what: string, line: (at: number) => string][] = [
    ['an anchor of its own each', (at) => `m${at}: &n${at} {<<: *b}\no${at}: *n${at}\n`],
    ['one anchor', (at) => `m${at}: {<<: *b}\n`],
    ['the same name', (at) => `m${at}: &b {a: 1}\no${at}: *b\np${at}: {<<: *b}\n`],
  ];
  it.each(some(1, REFERRING))(
    'is refused before it is parsed if it refers to %s too often (X-07)',
    async (_what, line) => {
      let text = `a: &b {${Array.from({ length: 2_000 }, (_each, key) => `k${key}: 1`).join(', ')}}\n`;
      for (let at = 0; text.length < 130_000; at += 1) text += line(at);
      const plain = filled('- {a: 1}\n', text.length);
      expect((await parseFailure(() => parseYaml('a.yaml', text))).message).toBe('a.yaml: too many aliases');
      expect(cpu(text)).toBeLessThan(cpu(plain));
    },
  );

  it('may refer to itself as often as people write it (X-07)', () => {
    const text = Array.from({ length: 300 }, (_, at) => `a${at}: &a {x: 1}\nb${at}: *a\n`).join('');
    expect(Object.keys(parseYaml('a.yaml', text) as object)).toHaveLength(600);
    const stars = filled('- "*a"\n- |\n *a\n', 20_000);
    expect(new Set(parseYaml('a.yaml', stars) as string[])).toEqual(new Set(['*a', '*a\n']));
  });

  it('says which alias has no anchor, of the first document only', async () => {
    const error = await parseFailure(() => parseYaml('a.yaml', 'a: 1\nb:\n  - *b\nc: &b 1\n'));
    expect(error.message).toBe('a.yaml:3: Unresolved alias (the anchor must be set before the alias): b');
    expect(parseYaml('a.yaml', 'a: &a 1\nb: *a\nc: "*d"\n# *d\n---\n- *d\n')).toEqual({
      a: 1,
      b: 1,
      c: '*d',
    });
    expect(yamlPairs('a.yaml', 'a: 1\nb: *b*\n')).toMatchObject([{ key: 'a', value: 1 }, { key: 'b' }]);
  });

  it('has a limit, far above what people write', async () => {
    const error = await parseFailure(() => parseYaml('long.yaml', filled('- a\n', 2_000_000)));
    expect(error.message).toBe('long.yaml: too long: more than 1000000 tokens');
  });

  it('has no ordered maps, whose keys would be compared each with each', () => {
    for (const head of ['', '%YAML 1.1\n'])
      expect(parseYaml('a.yaml', `${head}--- !!omap\n- a: 1\n- a: 2\n`)).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it('does not get its keys into warnings of the process', async () => {
    const warnings: unknown[] = [];
    const warned = (warning: unknown): number => warnings.push(warning);
    process.on('warning', warned);
    expect(parseYaml('a.yaml', '? [a, b]\n: 1\n')).toEqual({ '[ a, b ]': 1 });
    await setImmediate();
    process.off('warning', warned);
    expect(warnings).toEqual([]);
  });
});

describe('hostile CSV', () => {
  it('has a limit, far above what people write: each row with too few cells takes long', async () => {
    for (const end of ['\n', '\r', '\r\n']) {
      const error = await parseFailure(() => parseCsv('long.csv', `a,b${end}${`a${end}`.repeat(50_000)}`));
      expect(error.message).toBe('long.csv: too long: more than 50000 lines');
    }
  });

  it('is not searched for a column in every row', () => {
    const text = `${'a,'.repeat(40_000)}name\n${'b\n'.repeat(10_000)}`;
    let rows: readonly CsvRow[] = [];
    const parsed = cpuOf(() => (rows = csvRows('a.csv', text)));
    expect(cpuOf(() => rows.map(({ cell }) => cell('name')))).toBeLessThan(parsed);
    expect(csvRows('a.csv', 'name,Other,NAME\na,b,c\n').map(({ cell }) => [cell('name'), cell('x')])).toEqual(
      [['a', '']],
    );
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
