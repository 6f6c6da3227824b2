import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { repository } from './support/app.ts';

/** The pages that people read. Fixtures are texts of others. */
const pages = execFileSync('git', ['ls-files', '*.md'], { cwd: repository, encoding: 'utf8' })
  .split('\n')
  .filter((path) => path !== '' && !path.startsWith('tests/') && existsSync(join(repository, path)));

const withoutCode = (text: string): string =>
  text.replace(/^(`{3,})[\s\S]*?^\1$/gm, '').replace(/`[^`\n]*`/g, '');

/** The address of a heading as GitHub makes it. */
const anchorOf = (heading: string): string =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\p{M} _-]/gu, '')
    .replaceAll(' ', '-');

function anchorsIn(path: string): string[] {
  const text = readFileSync(path, 'utf8').replace(/^(`{3,})[\s\S]*?^\1$/gm, '');
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading.trim()));
}

function brokenIn(page: string): string[] {
  const links = [...withoutCode(readFileSync(join(repository, page), 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)];
  return links
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [file = '', anchor] = target.split('#');
      const path = file === '' ? join(repository, page) : resolve(repository, dirname(page), file);
      if (relative(repository, path).startsWith('..') || !existsSync(path)) return true;
      return anchor !== undefined && path.endsWith('.md') && !anchorsIn(path).includes(anchor);
    });
}

/** Pages that say where something is in the code. */
const maps = pages.filter((page) => /^(?:AGENTS|docs\/architecture|docs\/decisions\/.*)\.md$/.test(page));
const paths = execFileSync('git', ['ls-files', '-c', '-o', '--exclude-standard'], {
  cwd: repository,
  encoding: 'utf8',
})
  .split('\n')
  .filter((path) => existsSync(join(repository, path)));

describe('the source files that a page names are there', () => {
  it.each(maps)('%s', (page) => {
    const text = readFileSync(join(repository, page), 'utf8');
    const named = [...text.matchAll(/`([\w./-]+\/[\w.-]+\.(?:tsx?|mjs))`/g)].map(([, path = '']) => path);
    expect(named.filter((path) => !paths.some((file) => `/${file}`.endsWith(`/${path}`)))).toEqual([]);
  });
});

describe('the links of a page lead to a file and a heading of this repository', () => {
  it.each(pages)('%s', (page) => {
    expect(brokenIn(page)).toEqual([]);
  });
});
