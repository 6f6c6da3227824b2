import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { repository } from './support/app.ts';

const page = await readFile(join(repository, 'SECURITY.md'), 'utf8');
const section = /^## Threat model$([^]*?)^## /m.exec(page)?.[1] ?? '';

/** Rows of the tables, without their heads. */
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| actor |'))
  .map((line) => line.slice(2, -2).split(' | '));

/** What is said where there is no test, because nothing stops anyone. */
const OPEN = 'none: this is open';

describe('the threat model', () => {
  it('has an actor, what they can do, what stops them, and a test that is there', async () => {
    expect(rows.length).toBeGreaterThan(20);
    const wrong: string[] = [];
    for (const cells of rows) {
      expect(cells, cells[0]).toHaveLength(4);
      const [actor = '', , stopped = '', tests = ''] = cells;
      if (tests === OPEN && stopped.startsWith('none')) continue;
      for (const named of tests.split('<br>')) {
        const [, file = '', title = ''] = /^`([^`]+\.test\.ts)` › `(.+)`$/.exec(named) ?? [];
        const source = await readFile(join(repository, file), 'utf8').catch(() => '');
        const isThere =
          ["'", '"', '`'].some((quote) => source.includes(`(${quote}${title}${quote}`)) ||
          source.split('\n').some((line) => line.trim() === `'${title}',`);
        if (title === '' || !isThere) wrong.push(`${actor}: ${named}`);
      }
    }
    expect(wrong).toEqual([]);
  });
});
