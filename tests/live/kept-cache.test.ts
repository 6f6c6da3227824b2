import { execFile } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { cachedSearch } from '../support/cached-search.ts';
import { childProgram } from '../support/child-program.ts';
import { writeTree } from '../support/generated-tree.ts';

const run = promisify(execFile);
const PROCESSES = 8;
const QUESTIONS = ['budget', 'sprint review', 'flow-3', 'zeppelin'];

it('eight processes that use, make and damage one cache at once all answer right', async () => {
  const [project, cache] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
  await writeTree(project, 12);
  const alone = await cachedSearch(project, await temporaryFolder(afterAll));
  const right: unknown[] = [];
  for (const question of QUESTIONS) right.push(await alone.answer(question));
  const child = await childProgram('tests/live/cache-child.ts');
  const all = await Promise.all(
    Array.from({ length: PROCESSES }, (_, number) =>
      run(process.execPath, [child, project, cache, String(number), ...QUESTIONS]),
    ),
  );
  const rounds = all.flatMap(({ stdout }) => stdout.trim().split('\n'));
  expect(rounds).toHaveLength(PROCESSES * 4);
  for (const answers of rounds) expect(JSON.parse(answers)).toEqual(right);

  // Whatever they have left, the next one that is left alone keeps everything, and nothing lies about.
  await expect
    .poll(async () => {
      const opened = await cachedSearch(project, cache);
      await opened.kept();
      return opened.made;
    })
    .toEqual({ read: false, described: 0, embedded: 0 });
  for (const part of ['catalogue', 'search'])
    expect(await readdir(join(cache, part))).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/)]);
});
