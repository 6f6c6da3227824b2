import fc from 'fast-check';
import type { ConfigText } from '../../src/hosts/splice.ts';

/** Configuration files as people and hosts write them: every style of every format. */

interface Style {
  end: string;
  unit: string;
  mark: string;
  /** Comments after and before things; JSON for some hosts has none. */
  comments: boolean;
  trailing: boolean;
  final: string;
}

const style: fc.Arbitrary<Style> = fc.record({
  end: fc.constantFrom('\n', '\n', '\r\n'),
  unit: fc.constantFrom('  ', '    ', '\t', ' '),
  mark: fc.constantFrom('', '', '\uFEFF'),
  comments: fc.boolean(),
  trailing: fc.boolean(),
  final: fc.constantFrom('', '\n', '\n', '\n\n', ' \n'),
});

const key = fc.constantFrom('a', 'theme', 'x-y', 'Ünï', 'a b', 'telemetry', 'zz', '9');
const scalar = fc.oneof(
  fc.constantFrom(
    '',
    'x',
    '# no comment',
    '// no comment',
    '/* no */',
    '[bmad]',
    'é€😀',
    '{',
    'C:\\dir\\n',
    "it's",
  ),
  fc.integer({ min: -5, max: 99_999 }),
  fc.boolean(),
);
const args = fc.array(fc.constantFrom('-y', 'pkg', '--x=[1]'), { maxLength: 3 });
const server = fc.record({ command: fc.constantFrom('npx', 'node', 'uvx'), args });
const servers = fc.dictionary(fc.constantFrom('github', 'my server', 'bmad2', 'Bmad'), server, {
  maxKeys: 3,
});
const settings = fc.dictionary(
  key,
  fc.oneof(scalar, fc.array(scalar, { maxLength: 2 }), fc.dictionary(key, scalar, { maxKeys: 2 })),
  { maxKeys: 4 },
);

interface Content {
  before: Record<string, unknown>;
  servers: Record<string, unknown> | undefined;
  after: Record<string, unknown>;
}

const content: fc.Arbitrary<Content> = fc.record({
  before: settings,
  servers: fc.option(servers, { nil: undefined }),
  after: fc.dictionary(fc.constantFrom('later', 'last'), scalar, { maxKeys: 2 }),
});

/** Signs of chance for one file: whether a comment comes here, whether this is on one line. */
const chances = fc.array(fc.boolean(), { minLength: 8, maxLength: 40 });

class Writer {
  #at = 0;
  readonly style: Style;
  readonly #chances: readonly boolean[];
  constructor(used: Style, drawn: readonly boolean[]) {
    this.style = used;
    this.#chances = drawn;
  }
  chance(): boolean {
    this.#at += 1;
    return this.#chances[this.#at % this.#chances.length] ?? false;
  }
}

function all({ before, servers: own, after }: Content, name: string): [string, unknown][] {
  return [
    ...Object.entries(before),
    ...(own === undefined ? [] : [[name, own] as [string, unknown]]),
    ...Object.entries(after),
  ];
}

function jsonValue(value: unknown, writer: Writer, indent: string): string {
  const { end, unit, comments, trailing } = writer.style;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const list = Array.isArray(value);
  const parts = list
    ? (value as unknown[]).map((inner) => jsonValue(inner, writer, indent + unit))
    : Object.entries(value).map(
        ([name, inner]) => `${JSON.stringify(name)}: ${jsonValue(inner, writer, indent + unit)}`,
      );
  const [open, close] = list ? '[]' : '{}';
  if (parts.length === 0) {
    const inner =
      !comments || list || writer.chance()
        ? ''
        : writer.chance()
          ? ' /* none */ '
          : `${end}${indent}${unit}// none yet${end}${indent}`;
    return `${open}${writer.chance() ? inner : ''}${close}`;
  }
  // A line comment ends only with its line, so that nothing with one can be on one line.
  if (writer.chance() && !parts.some((part) => /[\r\n]/.test(part))) {
    const gap = writer.chance() ? ' ' : '';
    return `${open}${gap}${parts.join(`,${gap}`)}${trailing && writer.chance() ? ',' : ''}${gap}${close}`;
  }
  const lines = parts.map((part, index) => {
    const last = index === parts.length - 1;
    const above = comments && writer.chance() ? `${indent}${unit}// about "it", { and }${end}` : '';
    const beside = comments && writer.chance() ? (writer.chance() ? ' // beside, it' : ' /* beside */') : '';
    return `${above}${indent}${unit}${part}${last && !trailing ? '' : ','}${beside}`;
  });
  const below = comments && writer.chance() ? `${end}${indent}${unit}/* the end */` : '';
  return `${open}${end}${lines.join(end)}${below}${end}${indent}${close}`;
}

function jsonText(made: Content, writer: Writer): string {
  const { comments, end, mark, final } = writer.style;
  const head = comments && writer.chance() ? `// settings${end}` : '';
  return `${mark}${head}${jsonValue(Object.fromEntries(all(made, 'mcpServers')), writer, '')}${final.replaceAll('\n', end)}`;
}

function tomlText({ before, servers: own, after }: Content, writer: Writer): string {
  const { end, mark, comments, final } = writer.style;
  const name = (text: string): string => (/^[\w-]+$/.test(text) ? text : JSON.stringify(text));
  const plain = (value: unknown): string => {
    if (Array.isArray(value) && comments && writer.chance())
      return `[${end}${value.map((inner) => `  ${plain(inner)}, # [no.header]${end}`).join('')}]`;
    if (Array.isArray(value)) return `[${value.map(plain).join(', ')}]`;
    if (typeof value === 'string' && writer.chance() && !/[\\']/.test(value)) return `'${value}'`;
    return JSON.stringify(value);
  };
  const line = (key1: string, value: unknown): string =>
    `${name(key1)} = ${plain(value)}${comments && writer.chance() ? ' # "a note' : ''}`;
  const top = Object.entries({ ...before, ...after });
  const isInner = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);
  const lines = [
    ...(comments ? ['# [mcp_servers.bmad]'] : []),
    ...top.filter(([, value]) => !isInner(value)).map(([key1, value]) => line(key1, value)),
    ...(writer.chance() ? [`long = """${end}[mcp_servers.bmad]${end}x = 1"""`, "raw = '''[x]'''"] : []),
    ...top
      .filter(([, value]) => isInner(value))
      .flatMap(([key1, value]) => [
        '',
        `[ ${name(key1)} ]`,
        ...Object.entries(value as object).map(([k, v]) => line(k, v)),
      ]),
    ...Object.entries(own ?? {}).flatMap(([server1, value]) => [
      '',
      `[mcp_servers.${name(server1)}]`,
      ...Object.entries(value as object).map(([k, v]) => line(k, v)),
      ...(writer.chance() ? [`[mcp_servers.${name(server1)}.env]`, 'A = "1"'] : []),
    ]),
  ];
  return `${mark}${lines.join(end)}${lines.length === 0 ? '' : final.replaceAll('\n', end)}`;
}

function yamlText(made: Content, writer: Writer): string {
  const { end, mark, comments, final } = writer.style;
  const unit = writer.style.unit.includes('\t') ? '  ' : writer.style.unit.padEnd(2);
  const plain = (value: unknown): string =>
    typeof value === 'string' && /^[a-zà-ÿ]+$/.test(value) && writer.chance() ? value : JSON.stringify(value);
  const block = (pairs: [string, unknown][], indent: string): string[] =>
    pairs.flatMap(([key1, value]) => {
      const name = /^[a-z][\w-]*$/.test(key1) ? key1 : JSON.stringify(key1);
      const note = comments && writer.chance() ? '   # note: x' : '';
      const above = comments && writer.chance() ? [`${indent}# above`] : [];
      if (typeof value !== 'object' || value === null)
        return [...above, `${indent}${name}: ${plain(value)}${note}`];
      const inner = Array.isArray(value) ? value : Object.entries(value);
      if (inner.length === 0)
        return [
          ...above,
          `${indent}${name}: ${Array.isArray(value) ? '[]' : writer.chance() ? '{}' : '{ }'}${note}`,
        ];
      if (Array.isArray(value))
        return [...above, `${indent}${name}:${note}`, ...value.map((each) => `${indent}- ${plain(each)}`)];
      return [
        ...above,
        `${indent}${name}:${note}`,
        ...(writer.chance() ? [''] : []),
        ...block(inner as [string, unknown][], indent + unit),
      ];
    });
  const lines = [
    ...(comments && writer.chance() ? ['# settings', '---'] : []),
    ...block(all(made, 'extensions'), ''),
    ...(writer.chance() ? ['text: |', '  extensions:', '    bmad: no', '  # no comment'] : []),
  ];
  return `${mark}${lines.join(end)}${lines.length === 0 ? '' : final.replace(' \n', '\n').replaceAll('\n', end)}`;
}

const WRITERS = [
  { format: 'json', key: 'mcpServers', write: jsonText },
  { format: 'toml', key: 'mcp_servers', write: tomlText },
  { format: 'yaml', key: 'extensions', write: yamlText },
] as const;

export const hostConfig: fc.Arbitrary<ConfigText> = fc
  .tuple(fc.constantFrom(...WRITERS), content, style, chances)
  .map(([{ format, key: holder, write }, made, used, drawn]) => ({
    file: `settings.${format}`,
    format,
    key: holder,
    text: write(made, new Writer(used, drawn)),
  }));
