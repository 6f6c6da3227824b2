import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { startHttpServer, type HttpServerProcess } from '../support/http-server.ts';
import { modern, sendRequest, type Received } from '../support/raw-http.ts';
import { rounds } from '../support/how-much.ts';

const EVE = 'the-token-of-eve-12345';
const ADA = 'the-token-of-ada-12345';
const HOSTILE = rounds(40, 80);

const cwd = await temporaryFolder(afterAll);
const home = await temporaryFolder(afterAll);
let server: HttpServerProcess;

beforeAll(async () => {
  const file = join(home, 'tokens');
  await writeFile(file, `${EVE} read\n${ADA} read\n`, { mode: 0o600 });
  server = await startHttpServer({ cwd, home, more: ['--http-token-file', file] });
  return async () => void (await server.stop());
});

function call(token: string, args: Record<string, unknown>): Promise<Received> {
  const { body, headers } = modern('tools/call', { name: 'bmad', arguments: args });
  return sendRequest(server.url, { body, headers: { ...headers, authorization: `Bearer ${token}` } });
}

const execute = (): Promise<Received> =>
  call(ADA, { operation: 'execute', agent: 'architect', message: 'Hello' });

const WORK: [name: string, args: (count: number) => Record<string, unknown>][] = [
  ['what looks like a secret', (count) => ({ operation: 'search', query: `${count} ${'eyJ-'.repeat(450)}` })],
  [
    'a long message',
    (count) => ({ operation: 'execute', agent: 'pm', message: `${count} ${'eyJ-'.repeat(20_000)}` }),
  ],
];

describe('callers take turns', () => {
  it.each(WORK)('with %s, one cannot stall another (S-09)', async (_, args) => {
    // What is loaded with the first call does not count.
    await call(EVE, args(0));
    expect((await execute()).text).toContain('Winston');
    let open = HOSTILE;
    const flood = Array.from({ length: HOSTILE }, async (_unused, count) => {
      await call(EVE, args(count + 1));
      open -= 1;
    });
    await Promise.race(flood);
    const honest = await execute();
    const unanswered = open;
    await Promise.all(flood);
    expect(honest.text).toContain('Winston');
    // It came after the first of them and waited for a few, not for all.
    expect(unanswered).toBeGreaterThan(HOSTILE / 3);
  });
});
