import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { serverFile, temporaryFolder } from '../support/app.ts';
import { INITIALIZE, LineClient } from '../support/line-client.ts';
import { GIVEN } from '../support/sampling-client.ts';
import { copyFolder } from '../support/folders.ts';

/** A server that runs from a copy of the program, which can be changed under it. */
async function runningCopy(): Promise<{ client: LineClient; program: string }> {
  const [cwd, home, program] = [
    await temporaryFolder(onTestFinished),
    await temporaryFolder(onTestFinished),
    await temporaryFolder(onTestFinished),
  ];
  copyFolder(dirname(serverFile), program);
  const client = new LineClient({ cwd, home, program: join(program, 'bmad-mcp-server.cjs') });
  onTestFinished(async () => {
    client.child.stdin.end();
    await client.ended;
  });
  await client.request('initialize', INITIALIZE);
  await client.send({ jsonrpc: '2.0', method: 'notifications/initialized' });
  return { client, program };
}

it.each([
  ['gone', async (file: string) => rm(file)],
  ['half written', async (file: string) => writeFile(file, 'module.exports = {')],
])('a server whose operations are %s says to restart it, without paths', async (_what, change) => {
  const { client, program } = await runningCopy();
  await change(join(program, 'operations.cjs'));
  const { error } = await client.request('tools/call', { name: 'delegate_to_agent', arguments: GIVEN });
  expect(error?.message).toBe(
    'The program was replaced or removed while it was running.\n\nRestart the server.',
  );
  expect(JSON.stringify(error)).not.toContain(program);
});

it('a server of which a part is gone says to restart it, and does the rest', async () => {
  const { client, program } = await runningCopy();
  await rm(join(program, 'delegation.cjs'));
  const { result } = await client.request('tools/call', { name: 'delegate_to_agent', arguments: GIVEN });
  const text = JSON.stringify(result);
  expect(text).toContain('Restart the server.');
  expect(text).not.toContain(program);
  const listed = await client.request('tools/call', {
    name: 'bmad',
    arguments: { operation: 'list', query: 'agents' },
  });
  expect(JSON.stringify(listed.result)).toContain('architect');
});
