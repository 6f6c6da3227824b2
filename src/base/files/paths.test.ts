import { describe, expect, it } from 'vitest';
import { refusal } from '../../../tests/support/thrown.ts';
import { contentPath, contentUri, fromRoot, inProject } from './paths.ts';

describe('contentPath', () => {
  it.each([
    ['bmm/config.yaml', 'bmm/config.yaml'],
    ['bmad://bmm/config.yaml', 'bmm/config.yaml'],
    ['bmad://bmm/my%20notes.md', 'bmm/my notes.md'],
    ['bmad://a/100%25.md', 'a/100%.md'],
    ['bmad://localhost/etc/passwd', 'localhost/etc/passwd'],
    ['a/..b/c...d/.hidden/e..f', 'a/..b/c...d/.hidden/e..f'],
    ['bmad://a?b#c', 'a?b#c'],
    ['-rf/--flag', '-rf/--flag'],
    ['__proto__/constructor', '__proto__/constructor'],
    ['名/😀 "x" [y] {z}.md', '名/😀 "x" [y] {z}.md'],
  ])('takes %j for %j', (input, path) => {
    expect(contentPath(input)).toBe(path);
  });

  const escapes = [
    '..',
    '../x',
    'a/../../x',
    'a/..',
    'a/./b',
    './a',
    '.',
    'bmad://../x',
    'bmad://a/../../x',
    '%2e%2e/x',
    '%2E%2E/x',
    '.%2e/x',
    '..%2fx',
    'a%2f..%2f..%2fx',
    '%2E%2E%2Fx',
    '%252e%252e/x',
    '%252e%252e%252fx',
    '%25252e%25252e/x',
    '..%255cx',
    '%c0%ae%c0%ae/x',
    '%c0%ae%c0%ae%c0%afx',
    '%25c0%25ae/x',
    '%e0%80%ae%e0%80%ae/x',
    '\uFF0E\uFF0E/x',
    '%EF%BC%8E%EF%BC%8E/x',
    '\u2024\u2024/x',
    '\u2025/x',
    'a\u2215..\u2215x',
    'a\u2044..\u2044x',
    'a\uFF0F..\uFF0Fx',
    '..\uFF3Cx',
    '..\uFE68x',
    '..\\x',
    'a\\..\\..\\x',
    '..%5cx',
    '%2e%2e%5Cx',
    '.. /x',
    '... /x',
    '.../x',
  ];
  it.each(escapes)('refuses %j, a way out of the content', async (input) => {
    expect((await refusal(() => contentPath(input))).code).toBe('forbidden');
  });

  it.each([
    '/etc/passwd',
    '%2fetc/passwd',
    'bmad:///etc/passwd',
    'bmad:////x',
    '//server/share',
    '\\\\server\\share',
    'a//b',
    'a/',
  ])('refuses %j, which is not a relative path', async (input) => {
    expect((await refusal(() => contentPath(input))).code).toBe('forbidden');
  });

  it.each([
    ['bmad:etc/passwd', 'bmad'],
    ['bmad:/etc/passwd', 'bmad'],
    ['file:///etc/passwd', 'file'],
    ['FILE:///etc/passwd', 'FILE'],
    ['http://example.org/x', 'http'],
    ['data:text/plain,x', 'data'],
    ['javascript:alert(1)', 'javascript'],
    ['bmad+file://x', 'bmad+file'],
    ['C:/x', 'C'],
    ['C:\\x', 'C'],
    ['file.md::$DATA', 'file.md'],
  ])('refuses %j for its scheme', async (input, scheme) => {
    const error = await refusal(() => contentPath(input));
    expect(error.code).toBe('invalid_input');
    expect(error.message).toBe(`The URI ${JSON.stringify(input)} has the scheme "${scheme}".`);
  });

  it.each([
    'a\0b',
    'a%00b',
    'a%2500b',
    'a%0d%0ab',
    'a\u001Bb',
    'a\u007Fb',
    'a\u0085b',
    'a\u2028b',
    'a%E2%80%A9b',
    'bmm/file.md::$DATA',
    'bmad://C:/x',
    'name./x',
    'name /x',
    'name.',
    'name ',
    'name%20',
    'a\uD800b',
    'a\uDC00',
    'a%b',
    'a%ED%A0%80b',
  ])('refuses %j for its characters', async (input) => {
    expect((await refusal(() => contentPath(input))).code).toBe('forbidden');
  });

  it.each(['odd/new\nline.md', 'odd/a\tb.md'])('takes %j, as file systems do', (path) => {
    expect(contentPath(contentUri(path))).toBe(path);
    expect(contentUri(path)).toMatch(/%0A|%09/);
  });

  it.each([
    ['nothing', '', 'The path is empty.'],
    ['a scheme alone', 'bmad://', 'The path is empty.'],
    ['100,000 characters', 'a'.repeat(100_000), 'The path is 100000 characters long.'],
    ['100,000 encoded dots', 'bmad://' + '%2e'.repeat(100_000), 'The path is 300007 characters long.'],
    ['5,000 segments', 'a/'.repeat(4_999) + 'a', 'The path is 9999 characters long.'],
    ['300 segments', 'a/'.repeat(299) + 'a', 'The path is too long.'],
    ['1,025 characters', 'a'.repeat(1_025), 'The path is too long.'],
  ])('refuses %s', async (_, input, message) => {
    const error = await refusal(() => contentPath(input));
    expect([error.code, error.message]).toEqual(['forbidden', message]);
  });

  it('takes a path of the greatest length, however long its URI is', () => {
    for (const letter of ['a', 'é', '名', '😀']) {
      const path = letter.repeat(1_024 / letter.length);
      expect(contentPath(contentUri(path))).toBe(path);
    }
  });

  it('repeats only the beginning of what it refuses', async () => {
    const long = Array.from({ length: 200 }, (_, index) => `n${index}`).join('-');
    for (const input of [
      `../${long}`,
      `x:${long}`,
      `${long}%`,
      `${long}\\`,
      `${long}%252e`,
      `a/../${'😀'.repeat(400)}`,
    ]) {
      const error = await refusal(() => contentPath(input));
      expect(error.text.length).toBeLessThan(350);
      expect(error.text).not.toContain(input.slice(0, 121));
    }
  });
});

describe('contentUri', () => {
  it.each([
    ['bmm/config.yaml', 'bmad://bmm/config.yaml'],
    ['bmm/my notes.md', 'bmad://bmm/my%20notes.md'],
    ['a/b+c@d,e.md', 'bmad://a/b+c@d,e.md'],
    ['a/100%.md', 'bmad://a/100%25.md'],
    ['a/%40.md', 'bmad://a/%2540.md'],
    ['what?#.md', 'bmad://what%3F%23.md'],
    ['é.md', 'bmad://%C3%A9.md'],
  ])('writes %j as %j', (path, uri) => {
    expect(contentUri(path)).toBe(uri);
  });
});

describe('a path that somebody has written', () => {
  it.each([
    ['{project-root}/docs/prd.md', 'docs/prd.md'],
    ['{project_root}\\docs\\prd.md', 'docs/prd.md'],
    ['{project-root}', ''],
    [' ./docs/../out/ ', 'out'],
    ['/srv/shop/out', 'out'],
    ['/srv/shop', ''],
    ['..', undefined],
    ['docs/../../x', undefined],
    ['/srv/shop2', undefined],
    ['{project-root}//etc', undefined],
  ])('%j is %j of the project', (written, path) => {
    expect(inProject('/srv/shop', written)).toBe(path);
  });

  it.each([
    ['{project-root}/_bmad/bmm/agents/pm.md', 'bmm/agents/pm.md'],
    ['{project_root}/{bmad_folder}/bmm/agents/pm.md', 'bmm/agents/pm.md'],
    ['bmad/bmm/agents/pm.md', 'bmm/agents/pm.md'],
    ['method/bmm/agents/pm.md', 'bmm/agents/pm.md'],
    ['bmm/agents/pm.md', 'bmm/agents/pm.md'],
    ['_bmad', '_bmad'],
  ])('%j is %j from the top of BMAD’s folder', (written, path) => {
    expect(fromRoot(written, 'method')).toBe(path);
  });
});
