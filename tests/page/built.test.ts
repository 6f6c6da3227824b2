import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { repository } from '../support/app.ts';

const built = join(repository, 'dist', 'page');
const source = join(repository, 'src', 'page');

describe('the built page', () => {
  it('is at most 90 kB to download, in three files', async () => {
    const names = (await readdir(built)).sort();
    expect(names).toEqual(['index.html', 'page.css', 'page.js']);
    const sizes = await Promise.all(
      names.map(async (name) => gzipSync(await readFile(join(built, name))).length),
    );
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(90_000);
  });

  it('has nothing inline and names no other host', async () => {
    const html = await readFile(join(built, 'index.html'), 'utf8');
    expect(html).not.toMatch(/<style|style=|<script(?![^>]*src=)|\son[a-z]+=/);
    const [css, script] = await Promise.all(
      ['page.css', 'page.js'].map((name) => readFile(join(built, name), 'utf8')),
    );
    expect(css).not.toMatch(/url\(|@import/);
    expect(script).not.toMatch(/\beval\(|new Function\(/);
    // Beside the names of XML, a sentence of a package and the example for a git source.
    const addresses = [...(script ?? '').matchAll(/https?:\/\/[\w.-]+/g)].map(([address]) => address);
    expect([...new Set(addresses)].sort().filter((address) => !/w3\.org/.test(address))).toEqual([
      'https://github.com',
      'https://host',
    ]);
  });

  it('is one file of at most 60 kB as an app, which reaches no other place', async () => {
    const html = await readFile(join(repository, 'dist', 'app', 'board.html'), 'utf8');
    expect(Buffer.byteLength(html)).toBeLessThan(60_000);
    expect(html).not.toMatch(
      /<(?:link|img)\b|<script[^>]*src|@import|url\(|\beval\(|new Function\(|\bfetch\(/,
    );
    expect(html.match(/<\/script/g)?.length).toBe(1);
  });

  it('makes no element from a text', async () => {
    const files = (await readdir(source, { recursive: true })).filter((name) => /\.tsx?$/.test(name));
    expect(files.length).toBeGreaterThan(30);
    for (const file of files)
      expect(await readFile(join(source, file), 'utf8'), file).not.toMatch(
        /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment/i,
      );
  });
});
