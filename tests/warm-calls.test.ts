import { afterAll, expect, it } from 'vitest';
import { execute } from '../src/operations/execute.ts';
import { bmad } from '../src/operations/unified/bmad.ts';
import { contextIn, temporaryFolder, testCall } from './support/app.ts';
import { writeFiles } from './support/folders.ts';
import { fileLooks } from './support/looked-at.ts';

const CALLS = {
  list: { operation: 'list', query: 'agents' },
  read: { operation: 'read', agent: 'architect' },
  execute: { operation: 'execute', agent: 'architect', message: 'hi' },
};

/** How often each call looks at files once the server has answered some, and nothing has happened since: below a number. */
async function looksBelow(
  limits: Readonly<Record<string, number>>,
  files: Record<string, string>,
): Promise<Record<string, number>> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  const context = await contextIn(folder);
  const looks: Record<string, number> = {};
  for (const [name, args] of Object.entries(CALLS)) {
    const once = async (): Promise<number> =>
      (looks[name] = (await fileLooks(() => execute(bmad, args, context, testCall()))).count);
    // Whatever has changed just now is looked at until its time is over.
    await expect.poll(once).toBeLessThan(limits[name] ?? 0);
  }
  return looks;
}

it('looks at a handful of files for each call, and at no more in a larger project', async () => {
  const small = await looksBelow({ list: 15, read: 15, execute: 90 }, { 'README.md': '' });
  const folders = Array.from({ length: 40 }, (_, at) => [`src/part-${at}/index.ts`, ''] as const);
  const more = Object.fromEntries(Object.entries(small).map(([name, count]) => [name, count + 5]));
  expect(Object.keys(await looksBelow(more, { 'README.md': '', ...Object.fromEntries(folders) }))).toEqual(
    Object.keys(CALLS),
  );
});
