import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../support/app.ts';
import { startHttpServer, type HttpServerProcess } from '../support/http-server.ts';

const FOLDERS = process.env['BMAD_TEST_FULL'] === undefined ? 500 : 2_000;
/** Those that get a store: each is some files that are written to the disk. */
const WRITTEN = 250;
/** Of these, as many as may still have their files when they have been put away. */
const STILL_OPEN = 200;
/** Files of one store: the database, its log and the memory that processes share. */
const FILES_OF_STORE = 3;

const [cwd, home] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
const names = Array.from({ length: FOLDERS }, (_, index) => `p${index}`);
let server: HttpServerProcess;
let origin = '';

beforeAll(async () => {
  for (const name of names) {
    await mkdir(join(cwd, name));
    await writeFile(join(cwd, name, 'project-context.yaml'), `project:\n  name: ${name}\n`);
  }
  await mkdir(join(cwd, 'plain'));
  server = await startHttpServer({ cwd, home });
  ({ origin } = new URL(server.url));
  return async () => void (await server.stop());
});

async function post(operation: string, body: object): Promise<{ status: number; text: string }> {
  const response = await fetch(`${origin}/api/${operation}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  return { status: response.status, text: await response.text() };
}

/** What the server has open, and how much memory it has, on a machine that tells. */
async function held(): Promise<{ handles: number; stores: number; megabytes: number }> {
  const { pid } = server.child;
  const { readlink } = await import('node:fs/promises');
  const folder = `/proc/${pid}/fd`;
  const links = await Promise.all(
    (await readdir(folder)).map((name) => readlink(join(folder, name)).catch(() => '')),
  );
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return {
    handles: links.length,
    stores: new Set(links.filter((link) => link.endsWith('.bmad-memory.db'))).size,
    megabytes: Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024),
  };
}

describe.skipIf(process.platform !== 'linux')('a server of which callers name many folders', () => {
  it('holds few of them at once, and gives back the others (S-04)', { timeout: 600_000 }, async () => {
    await post('recall_structured', { query: 'warm', project: 'p0' });
    const before = await held();
    let most = before;
    for (const [index, name] of names.entries()) {
      if (index < WRITTEN) {
        const text = `Remembered in the folder ${name}`;
        const { status } = await post('remember_structured', {
          type: 'decisions',
          agent: 'dev',
          text,
          project: name,
        });
        expect(status).toBe(200);
      }
      const { status } = await post('recall_structured', { query: 'remembered folder', project: name });
      expect(status).toBe(200);
      if (index % 50 !== 0) continue;
      const now = await held();
      most = {
        handles: Math.max(most.handles, now.handles),
        stores: Math.max(most.stores, now.stores),
        megabytes: Math.max(most.megabytes, now.megabytes),
      };
    }
    process.stderr.write(
      `${FOLDERS} folders: before ${JSON.stringify(before)}, most ${JSON.stringify(most)}\n`,
    );
    // Closed stores keep their files until the driver's statements are collected.
    expect(most.stores).toBeLessThan(STILL_OPEN);
    expect(most.handles).toBeLessThan(before.handles + STILL_OPEN * FILES_OF_STORE);
    // They took about 10 MB each when none was given back.
    expect(most.megabytes).toBeLessThan(before.megabytes + 400);
    // What was put away is found again.
    const again = await post('recall_structured', { query: 'remembered folder', project: 'p3' });
    expect(again.text).toContain('Remembered in the folder p3');
  });

  it('serves no folder that is not a project (S-04)', async () => {
    const { status, text } = await post('recall_structured', { query: 'anything', project: 'plain' });
    expect(status).toBe(403);
    expect(text).toContain('is not a project');
  });
});
