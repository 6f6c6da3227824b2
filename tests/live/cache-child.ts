import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cachedSearch } from '../support/cached-search.ts';

/**
 * A process that serves a project from a cache, `cache-child PROJECT CACHE NUMBER QUESTION…`, and harms the cache after
 * each answer, in another way each time. It prints what it has answered, a line a round.
 */
const [project = '', cache = '', number = '', ...questions] = process.argv.slice(2);

/** What goes wrong with files: one is cut off, changed, emptied or gone. Others may have removed it meanwhile. */
const HARMS: readonly ((path: string) => Promise<unknown>)[] = [
  (path) => truncate(path, 500),
  async (path) => {
    const bytes = await readFile(path);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 255;
    await writeFile(path, bytes);
  },
  (path) => writeFile(path, ''),
  (path) => rm(path),
];

for (const [round, harm] of HARMS.entries()) {
  const opened = await cachedSearch(project, cache);
  const answers: unknown[] = [];
  for (const question of questions) answers.push(await opened.answer(question));
  process.stdout.write(`${JSON.stringify(answers)}\n`);
  await opened.kept();
  const part = join(cache, (Number(number) + round) % 2 === 0 ? 'search' : 'catalogue');
  for (const name of await readdir(part).catch(() => [])) await harm(join(part, name)).catch(() => undefined);
}
