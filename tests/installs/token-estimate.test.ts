import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tiktoken } from 'js-tiktoken/lite';
import o200k from 'js-tiktoken/ranks/o200k_base';
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../src/base/text/text-budget.ts';
import { repository } from '../support/app.ts';
import { installOf } from '../support/installs.ts';
import { FRENCH_TEXTS } from '../support/french-texts.ts';

const tokenizer = new Tiktoken(o200k);
/** What is stated in docs/guide/context.md: the error over all texts of a kind, and of any single one, in percent. */
const TOGETHER = 12;
const SINGLE = { least: -25, most: 40 };
const SIZES = { least: 800, most: 60_000 };
const SAMPLED = 40;

const KINDS: Record<string, RegExp> = {
  'English in Markdown': /\.md$/,
  YAML: /\.ya?ml$/,
  'CSV and JSON': /\.(?:csv|json)$/,
  'code and XML': /\.(?:py|js|ts|xml)$/,
};

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

/** Every so-manieth text, the same in every run. */
function sampled<T>(items: readonly T[]): T[] {
  const step = Math.max(1, Math.floor(items.length / SAMPLED));
  return items.filter((_, index) => index % step === 0);
}

function percentOff(estimated: number, real: number): number {
  return 100 * (estimated / real - 1);
}

describe('the estimate of tokens against a real tokenizer', async () => {
  const folders = [
    await installOf('6.12.0'),
    await installOf('6.0.0-alpha.7'),
    await installOf('4.44.3'),
    join(repository, 'src', 'operations'),
  ];
  const files = (await Promise.all(folders.map(filesBelow))).flat();
  const texts: [string, string[]][] = await Promise.all(
    Object.entries(KINDS).map(async ([kind, pattern]): Promise<[string, string[]]> => {
      const contents = await Promise.all(
        files.filter((file) => pattern.test(file)).map((file) => readFile(file, 'utf8')),
      );
      return [kind, sampled(contents.filter(({ length }) => length >= SIZES.least && length <= SIZES.most))];
    }),
  );

  it.each([...texts, ['French', [...FRENCH_TEXTS]] as [string, string[]]])('%s', (_kind, some) => {
    expect(some.length).toBeGreaterThanOrEqual(3);
    const real = some.map((text) => tokenizer.encode(text, [], []).length);
    const estimated = some.map(estimateTokens);
    const total = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);
    expect(Math.abs(percentOff(total(estimated), total(real)))).toBeLessThanOrEqual(TOGETHER);
    for (const [index, value] of estimated.entries()) {
      const off = percentOff(value, real[index] ?? 1);
      expect(off, some[index]?.slice(0, 80)).toBeGreaterThanOrEqual(SINGLE.least);
      expect(off, some[index]?.slice(0, 80)).toBeLessThanOrEqual(SINGLE.most);
    }
  });
});
