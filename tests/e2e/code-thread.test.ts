import { expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { PROJECT } from '../support/code-project.ts';
import { writeFiles } from '../support/folders.ts';
import { LineClient } from '../support/line-client.ts';

it('a server searches code in a thread, and refuses from there what it would refuse', async () => {
  const cwd = await temporaryFolder(onTestFinished);
  await writeFiles(cwd, PROJECT);
  const client = await LineClient.connect({
    cwd,
    home: await temporaryFolder(onTestFinished),
    env: { BMAD_LOG_LEVEL: 'debug' },
  });
  onTestFinished(async () => void (await client.close()));
  const search = async (args: object): Promise<string> =>
    JSON.stringify(await client.request('tools/call', { name: 'search_codebase', arguments: args }));
  expect(await search({ query: 'where is closeSession' })).toContain('src/session.ts');
  expect(await search({ query: 'anything', path: 'scr' })).toMatch(/no files at.*Did you mean: src\?/);
  expect(client.stderr).toContain('Code is searched in a separate thread');
  expect(client.strays).toEqual([]);
});
