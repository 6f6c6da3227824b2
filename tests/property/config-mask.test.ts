import * as fc from 'fast-check';
import { stringify as toToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { stringify as toYaml } from 'yaml';
import { maskConfigSecrets, maskSecretValues } from '../../src/base/secrets/scanner.ts';
import { cases } from '../support/how-much.ts';

const CANARY = 'c4n4ry';

/** A tree of settings. Every secret text holds the canary; every other text is marked, so that a loss is noticed. */
type Tree = string | number | boolean | Tree[] | { [key: string]: Tree };

const words = `word , #x # " ' '' \\ { } [ ] | > - % &a *b é 😀 """ ''' = ; $(x) yes ~ ***`.split(' ');
const spaces = [' ', ', ', ': ', ' #x', '- ', '\n', '\n\n', '\n  ', '\t', 'a long line of words '];
const piece = fc.constantFrom(...words, ...spaces);
const phrase = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const secret = fc.tuple(phrase, phrase).map(([before, after]) => before + CANARY + after);
const kept = fc
  .tuple(phrase, fc.nat(99_999), phrase)
  .map(([before, id, after]) => `${before}<keep${id}>${after}`);

const secretKey = fc.constantFrom(
  'password',
  'api_key',
  'clientSecret',
  'GITHUB_TOKEN',
  'db.passwd',
  'api key',
  'x-token',
);
const harmlessKey = fc.constantFrom(
  'name',
  'max_tokens',
  'token_budget',
  'user_name',
  'a b',
  'list',
  'Key',
  'path-x',
  'it',
);

const secretTree: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    secret,
    fc.array(tie('tree'), { minLength: 1, maxLength: 3 }),
    fc.dictionary(harmlessKey, tie('tree'), { minKeys: 1, maxKeys: 3 }),
  ),
})).tree;
const settings: fc.Arbitrary<Tree> = fc.letrec<{ tree: Tree; table: Tree }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(kept, fc.nat(), fc.boolean()),
    fc.array(tie('table'), { minLength: 1, maxLength: 3 }),
    fc.array(kept, { minLength: 1, maxLength: 3 }),
    tie('table'),
  ),
  table: fc
    .tuple(
      fc.dictionary(harmlessKey, tie('tree'), { maxKeys: 3 }),
      fc.dictionary(secretKey, secretTree, { maxKeys: 2 }),
      fc.dictionary(harmlessKey, tie('tree'), { maxKeys: 2 }),
    )
    .map(([before, secrets, after]) => ({ ...before, ...secrets, ...after })),
})).table;

type Style = [name: string, file: string, write: (tree: Tree) => string];
const styles: Style[] = [
  ['YAML', 'a.yaml', (tree) => toYaml(tree)],
  ['YAML without folding', 'a.yml', (tree) => toYaml(tree, { lineWidth: 0, indentSeq: false })],
  ['YAML in narrow lines', 'a.yaml', (tree) => toYaml(tree, { lineWidth: 20, indent: 4 })],
  ['YAML in double quotes', 'a.yaml', (tree) => toYaml(tree, { defaultStringType: 'QUOTE_DOUBLE' })],
  ['YAML in single quotes', 'a.yaml', (tree) => toYaml(tree, { defaultStringType: 'QUOTE_SINGLE' })],
  ['YAML in blocks', 'a.yaml', (tree) => toYaml(tree, { defaultStringType: 'BLOCK_LITERAL' })],
  ['YAML in flow', 'a.yaml', (tree) => toYaml(tree, { collectionStyle: 'flow' })],
  ['YAML in flow on one line', 'a.yaml', (tree) => toYaml(tree, { collectionStyle: 'flow', lineWidth: 0 })],
  ['JSON in YAML', 'a.yaml', (tree) => `config: ${JSON.stringify(tree, null, 2)}\n`],
  ['JSON on one line', 'a.json', (tree) => JSON.stringify(tree)],
  ['JSON', 'a.jsonc', (tree) => JSON.stringify(tree, null, 2)],
  ['JSON with tabs', 'a.json', (tree) => JSON.stringify({ tree }, null, '\t')],
  ['TOML', 'a.toml', (tree) => toToml(tree)],
];

/** The marks of a text that are no part of a secret. */
function marks(text: string): string[] {
  return text.match(/<keep\d+>/g) ?? [];
}

describe.each(styles)('%s', (_, file, write) => {
  it('lets no secret through, loses nothing else, and does not change what is masked', () => {
    fc.assert(
      fc.property(settings, fc.constantFrom('\n', '\r\n'), (tree, lineEnd) => {
        const text = write(tree).replaceAll('\n', lineEnd);
        const masked = maskConfigSecrets(file, text);
        expect(masked).not.toContain(CANARY);
        expect(marks(masked)).toEqual(marks(text));
        expect(maskConfigSecrets(file, masked)).toBe(masked);
        expect(JSON.stringify(maskSecretValues(tree))).not.toContain(CANARY);
      }),
      { numRuns: cases(150) },
    );
  });

  it('changes nothing where there is no secret', () => {
    const harmless = settings.map((tree) => JSON.parse(JSON.stringify(tree, withoutSecrets)) as Tree);
    fc.assert(
      fc.property(harmless, (tree) => {
        const text = write(tree);
        expect(maskConfigSecrets(file, text)).toBe(text);
      }),
    );
  });
});

function withoutSecrets(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([, inner]) => !JSON.stringify(inner).includes(CANARY)),
  );
}

describe('.env', () => {
  const line = fc.string({
    unit: fc.constantFrom('a', ' ', '#', ',', '}', '"', "'", '$', '\\', ';', 'é'),
    maxLength: 12,
  });
  const quoted = line.map((text) => JSON.stringify(text));
  it('lets no secret through and keeps the other lines', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(line, line)), fc.boolean(), (values, inQuotes) => {
        const lines = values.flatMap(([before, after], index) => {
          const value = `x${before}${CANARY}${after}`.replace(/\\+$/, '');
          return [`DB_PASSWORD=${inQuotes ? JSON.stringify(value) : value}`, `NAME_${index}=<keep${index}>`];
        });
        const masked = maskConfigSecrets('.env', lines.join('\n'));
        expect(masked).not.toContain(CANARY);
        expect(marks(masked)).toEqual(marks(lines.join('\n')));
        expect(maskConfigSecrets('.env', masked)).toBe(masked);
      }),
    );
  });

  it('lets values in quotes through unchanged when they are no secret', () => {
    fc.assert(
      fc.property(fc.array(quoted), (values) => {
        const text = values.map((value, index) => `NAME_${index}=${value}\n`).join('');
        expect(maskConfigSecrets('.env', text)).toBe(text);
      }),
    );
  });
});

describe('any text', () => {
  const fragments = fc.array(
    fc.oneof(
      piece,
      fc.constantFrom(
        'password',
        'token',
        ': ',
        '=',
        ' = ',
        '"',
        "'",
        '|',
        '\n',
        '\n  ',
        '{',
        '[',
        ',',
        '# ',
      ),
    ),
    { maxLength: 25 },
  );
  it.each(['a.yaml', 'a.toml', 'a.json', '.env'])('is masked once and for all in %s', (file) => {
    fc.assert(
      fc.property(fragments, (parts) => {
        const masked = maskConfigSecrets(file, parts.join(''));
        expect(maskConfigSecrets(file, masked)).toBe(masked);
      }),
      { numRuns: cases(1_000) },
    );
  });
});
