import { describe, expect, it } from 'vitest';
import { maskCodeSecrets, maskConfigSecrets, shownText } from '../../src/base/secrets/scanner.ts';
import { secretCorpus, textOf, type CorpusFile, type CorpusLine } from '../support/secret-corpus.ts';

const corpus = await secretCorpus();
const lines = corpus.flatMap((file) => file.lines).filter(({ text }) => text.trim() !== '');

/** Each way out of the server, and which of a file's lines it can judge. */
interface Door {
  mask(path: string, text: string): string;
  takes(file: CorpusFile): boolean;
  knows(line: CorpusLine): boolean;
}

const DOORS: Record<string, Door> = {
  'a file that is served': {
    mask: maskConfigSecrets,
    takes: ({ path }) => /\.(?:ya?ml|toml|json|ini|conf|cnf|properties|tfvars|env)$/.test(path),
    knows: () => true,
  },
  'a passage of a file': {
    mask: (path, text) => maskCodeSecrets(text, path),
    takes: () => true,
    knows: () => true,
  },
  'text from anywhere': {
    mask: (_, text) => shownText(text, String),
    takes: () => true,
    // Without the name of a file, a word after a colon is a word of a sentence.
    knows: ({ secrets }) =>
      secrets.every((secret) => /^\S{6,}$/.test(secret) && /\d/.test(secret) && /[a-z]/i.test(secret)),
  },
};

function wrongLines(file: CorpusFile, { mask, knows }: Door): string[] {
  const text = textOf(file);
  const shown = mask(file.path, text).split('\n');
  expect(shown, 'the number of lines').toHaveLength(text.split('\n').length);
  return file.lines.flatMap((line, at) =>
    !knows(line) || line.isMasked(shown[at] ?? '') ? [] : [`${line.text}   is shown as   ${shown[at]}`],
  );
}

describe('lines of configuration files (S-16)', () => {
  it('are 300 and more, of 20 tools and more, with and without secrets', () => {
    expect(corpus.length).toBeGreaterThanOrEqual(20);
    expect(lines.length).toBeGreaterThanOrEqual(300);
    expect(lines.filter(({ secrets }) => secrets.length > 0).length).toBeGreaterThanOrEqual(150);
    expect(lines.filter(({ secrets }) => secrets.length === 0).length).toBeGreaterThanOrEqual(150);
  });

  for (const [name, door] of Object.entries(DOORS))
    it.each(corpus.filter(door.takes).map((file) => [file.tool, file] as const))(
      `${name}: %s loses its secrets and nothing else (S-16)`,
      (_, file) => {
        expect(wrongLines(file, door)).toEqual([]);
      },
    );

  it.each(Object.entries(DOORS))('%s: masking twice changes nothing more', (_, { mask, takes }) => {
    for (const file of corpus.filter(takes)) {
      const once = mask(file.path, textOf(file));
      expect(mask(file.path, once)).toBe(once);
    }
  });
});
