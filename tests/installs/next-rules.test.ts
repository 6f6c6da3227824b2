import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { QUOTES } from '../../src/services/progress/quotes.ts';
import { RULES } from '../../src/services/progress/rules.ts';
import { repository } from '../support/app.ts';
import { installOf, type Version } from '../support/installs.ts';

const rules = Object.entries(RULES).map(([id, { when }]) => ({
  id,
  when,
  quotes: QUOTES[id as keyof typeof RULES],
}));

describe("BMAD's own rules", () => {
  it('are each a line of BMAD, in the install that is named (M-50)', async () => {
    const wrong: string[] = [];
    for (const { id, quotes } of rules)
      for (const { version, file, line, says } of quotes) {
        const path = join(await installOf(version as Version), file);
        const there = (await readFile(path, 'utf8')).split(/\r?\n/)[line - 1] ?? '';
        if (!there.includes(says)) wrong.push(`${id}: ${version} ${file}:${line} says ${there.trim()}`);
      }
    expect(wrong).toEqual([]);
  });

  it('are in the guide, with every line that states them', async () => {
    const guide = await readFile(join(repository, 'docs/guide/next-step.md'), 'utf8');
    const rows = guide.split('\n').filter((line) => line.startsWith('|'));
    const missing = rules.flatMap(({ id, when, quotes }) => {
      const row = rows.find((line) => line.startsWith(`| ${when} |`)) ?? '';
      const places = quotes.map(({ version, file, line }) => `${version} \`${shortened(file)}:${line}\``);
      return places.filter((place) => !row.includes(place)).map((place) => `${id}: ${place}`);
    });
    expect(missing).toEqual([]);
  });
});

/** The last two parts of a path, which are enough to find it. */
function shortened(file: string): string {
  return file.split('/').slice(-2).join('/');
}
