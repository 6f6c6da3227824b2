import { request } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { contextIn, temporaryFolder } from '../../../../tests/support/app.ts';
import { writeFiles } from '../../../../tests/support/folders.ts';
import { pageDoor } from '../../../../tests/support/page-door.ts';

const state = await temporaryFolder(afterAll);
await writeFiles(state, {
  'built/index.html': '<!doctype html><title>page</title>',
  'built/page.js': 'export {};'.repeat(100),
  'built/page.css': 'body{}',
  'secret.txt': 'not for anybody',
});
const door = await pageDoor(await contextIn(state), afterAll, { state });

/** Exactly this path, which `fetch` would tidy up. */
function rawStatus(path: string, method = 'GET'): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(door.origin);
    request({ hostname, port, path, method }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    })
      .on('error', reject)
      .end();
  });
}

describe('the files of the page', () => {
  it('come with a policy that lets nothing else in, packed, and once', async () => {
    const page = await fetch(`${door.origin}/`);
    expect(page.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(page.headers.get('x-content-type-options')).toBe('nosniff');
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(await page.text()).toContain('<title>page</title>');
    const script = await fetch(`${door.origin}/page/page.js`, { headers: { 'accept-encoding': 'gzip' } });
    expect(script.headers.get('content-encoding')).toBe('gzip');
    expect(Number(script.headers.get('content-length'))).toBeLessThan(200);
    expect(await script.text()).toContain('export {};');
    const plain = await fetch(`${door.origin}/page/page.js`, { headers: { 'accept-encoding': 'gzip;q=0' } });
    expect(plain.headers.get('content-encoding')).toBeNull();
    const known = { 'if-none-match': script.headers.get('etag') ?? '' };
    expect((await fetch(`${door.origin}/page/page.js`, { headers: known })).status).toBe(304);
  });

  it.each([
    '/page/secret.txt',
    '/page/../secret.txt',
    '/page/%2e%2e/secret.txt',
    '/page/..%2fsecret.txt',
    '/page/built/../../secret.txt',
    '/page//etc/passwd',
    '/page/page.js/',
    '/page/__proto__',
    '/page/',
  ])('do not include %s', async (path) => {
    expect(await rawStatus(path)).toBe(404);
  });

  it('are only read', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) expect(await rawStatus('/', method)).toBe(405);
  });
});
