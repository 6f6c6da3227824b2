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

/** How often a call looks at files once the server has answered some, and nothing has happened since. */
async function looksOf(files: Record<string, string>): Promise<Record<string, number>> {
  const folder = await temporaryFolder(afterAll);
  await writeFiles(folder, files);
  const context = await contextIn(folder);
  const looks: Record<string, number> = {};
  for (const [name, args] of Object.entries(CALLS)) {
    const once = async (): Promise<number> =>
      (looks[name] = (await fileLooks(() => execute(bmad, args, context, testCall()))).count);
    // Whatever has changed just now is looked at until its time is over.
    let last = 0;
    await expect
      .poll(async () => {
        const before = last;
        last = await once();
        return before === last;
      })
      .toBe(true);
  }
  return looks;
}

it('looks at a handful of files for each call, and at no more in a larger project', async () => {
  const small = await looksOf({ 'README.md': '' });
  expect(small['list']).toBeLessThan(15);
  expect(small['read']).toBeLessThan(15);
  expect(small['execute']).toBeLessThan(90);
  const folders = Array.from({ length: 40 }, (_, at) => [`src/part-${at}/index.ts`, ''] as const);
  const large = await looksOf({ 'README.md': '', ...Object.fromEntries(folders) });
  for (const name of Object.keys(CALLS)) expect(large[name]).toBeLessThan((small[name] ?? 0) + 5);
});
