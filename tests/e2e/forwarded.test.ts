import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { SCRIPT_PATH } from '../support/contract-project.ts';
import { writeFiles } from '../support/folders.ts';
import { serveHere } from '../support/http-server.ts';

const TOOL = 'run_completion_contract';
const TOKEN = 'a-token-of-this-test';

async function clone(onEnd: (cleanUp: () => Promise<void>) => void): Promise<{ cwd: string; home: string }> {
  const cwd = await temporaryFolder(onEnd);
  await writeFiles(cwd, {
    [SCRIPT_PATH]: 'touch "$PWD/ran"; echo "CC PASS — [go] — 2026-01-01 00:00:00"\n',
  });
  return { cwd, home: await temporaryFolder(onEnd) };
}

const ran = ({ cwd }: { cwd: string }): boolean => existsSync(join(cwd, 'ran'));

describe('a request that a proxy has forwarded to a server on this machine', () => {
  let place: Awaited<ReturnType<typeof clone>>;
  let url = '';
  beforeAll(async () => {
    place = await clone(afterAll);
    const server = await serveHere({
      ...place,
      more: ['--trust-project'],
      env: { BMAD_HTTP_TOKEN: TOKEN },
    });
    url = server.url;
    return async () => void (await server.stop());
  });

  it.each(['Forwarded', 'X-Forwarded-For', 'X-Forwarded-Host', 'X-Real-IP', 'Via'])(
    'is not local, as its header %s says (X-05)',
    async (name) => {
      const headers = { 'content-type': 'application/json', [name]: '203.0.113.7' };
      const run = (more: Record<string, string>) =>
        fetch(new URL(`/api/${TOOL}`, url), {
          method: 'POST',
          headers: { ...more, authorization: `Bearer ${TOKEN}` },
          body: '{}',
        });
      expect((await run(headers)).status).toBe(403);
      expect(ran(place)).toBe(false);
    },
  );

  it('is what keeps it from running: without such a header it does', async () => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` };
    const asked = await fetch(new URL(`/api/${TOOL}`, url), { method: 'POST', headers, body: '{}' });
    expect(asked.status).toBe(200);
    expect(ran(place)).toBe(true);
  });

  it('is refused where nobody has to show who they are (X-05)', async () => {
    const server = await serveHere(await clone(onTestFinished));
    onTestFinished(async () => void (await server.stop()));
    const asked = (headers: Record<string, string>) =>
      fetch(new URL('/api/search?query=x', server.url), { headers });
    expect((await asked({})).status).toBe(200);
    const refused = await asked({ 'x-forwarded-for': '203.0.113.7' });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('A proxy has forwarded this request');
  });
});
