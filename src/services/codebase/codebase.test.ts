import { chmod, mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterAll, describe, expect, it } from 'vitest';
import { createLog } from '../../base/log.ts';
import { createSecrets } from '../../base/secrets.ts';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { linkFolder, writeFiles } from '../../../tests/support/folders.ts';
import { createCodebase, type CodeAnswer, type CodebaseParts } from './codebase.ts';

const log = createLog({ level: 'silent', write: () => undefined, json: false, secrets: createSecrets() });
const signal = new AbortController().signal;

const PROJECT = {
  'src/session.ts':
    '/** Ends the session of a user and frees its handles. */\nexport function closeSession(id: string): void {\n  sessions.delete(id);\n}\n\nexport class SessionStore {\n  /** Keeps a session for later. */\n  rememberSession(id: string): void {\n    this.all.add(id);\n  }\n}\n',
  'lib/retry.py':
    'def retry_with_backoff(action, times):\n    """Tries again after a pause that grows."""\n    return action()\n',
  'docs/notes.md': '# Notes\n\nSome words.\n\n## Closing sessions\n\nSessions are closed at night.\n',
};

interface Project {
  root: string;
  cache: string;
  ask(query: string, more?: { path?: string; lang?: string; limit?: number }): Promise<CodeAnswer>;
  again(parts?: Partial<CodebaseParts>): Project;
}

async function project(
  files: Record<string, string | Buffer> = PROJECT,
  parts: Partial<CodebaseParts> = {},
): Promise<Project> {
  const folder = await temporaryFolder(afterAll);
  const root = join(folder, 'project');
  await writeFiles(root, files);
  return opened({ root, cache: join(folder, 'cache'), budgetMs: 20_000, background: false, log, ...parts });
}

function opened(parts: CodebaseParts): Project {
  const codebase = createCodebase(parts);
  return {
    root: parts.root,
    cache: parts.cache,
    ask: (query, more = {}) => codebase.search({ query, limit: 8, ...more }, signal, () => undefined),
    again: (other = {}) => opened({ ...parts, ...other }),
  };
}

const paths = ({ hits }: CodeAnswer): string[] => hits.map(({ path }) => path);
const indexFile = async ({ cache }: Project): Promise<string> =>
  join(cache, 'code', (await readdir(join(cache, 'code'))).find((name) => name.endsWith('.index')) ?? '');

describe('search', () => {
  it('finds functions, methods and sections by what they do', async () => {
    const { ask } = await project();
    const [first] = (await ask('end the session of a user')).hits;
    expect(first).toMatchObject({
      path: 'src/session.ts',
      start: 1,
      end: 4,
      symbol: 'closeSession',
      kind: 'function',
    });
    expect(first?.snippet.map(({ line }) => line)).toContain(2);
    expect((await ask('keeping a session')).hits[0]?.symbol).toBe('SessionStore.rememberSession');
    expect((await ask('try again after a pause')).hits[0]).toMatchObject({
      symbol: 'retry_with_backoff',
      language: 'python',
    });
    expect((await ask('night')).hits[0]).toMatchObject({
      symbol: 'Closing sessions',
      kind: 'section',
      start: 5,
    });
  });

  it('puts the definition of a name first, and quoted text before everything', async () => {
    const { ask } = await project({
      ...PROJECT,
      'src/use.ts': "import { closeSession } from './session.ts';\n\ncloseSession('a');\n",
    });
    const named = await ask('closeSession');
    expect(named.hits[0]?.symbol).toBe('closeSession');
    expect(named.hits[0]?.parts).toMatchObject({ exact: 0.5, symbol: 0.6 });
    expect(paths(named)).toContain('src/use.ts');
    expect((await ask('"closed at night"')).hits[0]?.path).toBe('docs/notes.md');
  });

  it('keeps to the path and the language', async () => {
    const { ask } = await project();
    expect(new Set(paths(await ask('session', { path: 'src' })))).toEqual(new Set(['src/session.ts']));
    expect(paths(await ask('session', { path: '*.md' }))).toEqual(['docs/notes.md']);
    expect(paths(await ask('session', { path: './docs/' }))).toEqual(['docs/notes.md']);
    expect(paths(await ask('session', { lang: 'md' }))).toEqual(['docs/notes.md']);
    expect((await ask('session', { lang: 'go' })).hits).toEqual([]);
    await expect(ask('x', { path: '../..' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(ask('x', { path: '/etc' })).rejects.toMatchObject({ code: 'forbidden' });
    await expect(ask('x', { path: 'srcs' })).rejects.toMatchObject({
      code: 'not_found',
      suggestions: ['src'],
    });
    await expect(ask('x', { lang: 'typscript' })).rejects.toMatchObject({
      code: 'invalid_input',
      suggestions: ['typescript'],
    });
  });

  it.each([
    ['without grammars', { grammars: true as const }],
    ['without ripgrep', { ripgrep: true as const }],
    ['without both', { grammars: true as const, ripgrep: true as const }],
  ])('works %s', async (_name, without) => {
    const { ask } = await project(PROJECT, { without });
    const answer = await ask('closeSession');
    expect(answer.hits[0]?.path).toBe('src/session.ts');
    expect(answer.hits[0]?.parts['exact']).toBe(0.5);
    expect(answer.notes.join()).toEqual(
      'grammars' in without ? expect.stringContaining('web-tree-sitter') : '',
    );
  });

  it('takes vectors into account when there is an embedder', async () => {
    const embedder = {
      id: 'two',
      dim: 2,
      // Knows one thing only: that ending and freeing are about the same.
      embed: async (texts: readonly string[]) =>
        texts.map((text) => (/dispose|frees/.test(text) ? [1, 0] : [0, 1])),
    };
    const one = await project(PROJECT, { embedder });
    const answer = await one.ask('dispose');
    expect(answer.hits[0]).toMatchObject({ symbol: 'closeSession', parts: { vector: 1 } });
    expect(answer.legs).toContain('vectors');
    const broken = one.again({
      embedder: { ...embedder, id: 'broken', embed: () => Promise.reject(new Error('no')) },
    });
    expect((await broken.ask('session')).notes.join()).toContain('words only');
  });
});

describe('what is looked into', () => {
  it('leaves out ignored, secret, generated, binary and linked files', async () => {
    const files = {
      'kept.ts': 'export const marker = 1;\n',
      '.gitignore': 'build/\n*.log\n!keep.log\n',
      '.ignore': 'private/\n',
      'build/out.ts': 'marker',
      'a.log': 'marker',
      'keep.log': 'marker',
      'private/x.ts': 'marker',
      '.env': 'marker=1',
      '.env.local': 'marker=1',
      'server.pem': 'marker',
      id_rsa: 'marker',
      'config/credentials.json': '{"marker":1}',
      'key.txt': '-----BEGIN RSA PRIVATE KEY-----\nmarker\n',
      'package-lock.json': '{"marker":1}',
      'app.min.js': 'marker',
      'bundle.js': `marker;${'x'.repeat(100_000)}`,
      'gen.go': '// Code generated by tool. DO NOT EDIT.\nvar marker = 1\n',
      'binary.ts': Buffer.from([0x6d, 0x61, 0x72, 0x6b, 0x65, 0x72, 0, 1, 2]),
      'node_modules/a/index.js': 'marker',
    };
    const variants = [
      await project(files),
      await project(files, { without: { ripgrep: true } }),
      await project(files),
    ];
    execFileSync('git', ['init', '-q', variants[2]?.root ?? '']);
    for (const { root, ask } of variants) {
      const outside = await temporaryFolder(afterAll);
      await writeFile(join(outside, 'secret.ts'), 'marker');
      await symlink(join(outside, 'secret.ts'), join(root, 'link.ts'));
      await linkFolder(outside, join(root, 'linked'));
      await linkFolder(root, join(root, 'loop'));
      expect(paths(await ask('marker')).sort()).toEqual(['keep.log', 'kept.ts']);
      expect(paths(await ask('"marker"')).sort()).toEqual(['keep.log', 'kept.ts']);
    }
  });

  it('masks secrets in what it shows', async () => {
    const { ask } = await project({
      'a.ts': 'const apiKey = "abcdef123456";\nconst token = "ghp_abcdefghijklmnopqrstuvwxyz0123";\n',
    });
    const text = JSON.stringify((await ask('api key')).hits);
    expect(text).toContain('***');
    expect(text).not.toMatch(/abcdef/);
  });

  it('bears long lines, CRLF, and text that is none', async () => {
    const { ask } = await project({
      'long.ts': `export function findMe() {\n  return '${'y'.repeat(100_000)}';\n}\n${'// filler\n'.repeat(2_000)}`,
      'crlf.ts': 'export function\tcarriageReturn() {\r\n  return 1;\r\n}\r\n',
      'latin.txt': Buffer.from([0xe9, 0xe8, 0xe0, 0xff, 0xfe]),
      'empty.ts': '',
    });
    const [long] = (await ask('findMe')).hits;
    expect(long?.symbol).toBe('findMe');
    expect(Math.max(...(long?.snippet.map(({ text }) => text.length) ?? []))).toBeLessThanOrEqual(160);
    expect(JSON.stringify((await ask('carriageReturn')).hits)).not.toContain('\\r');
    expect((await ask('x '.repeat(50_000))).hits).toEqual([]);
  });
});

describe('the index', () => {
  it('notices changed, new and removed files at the next question', async () => {
    const { root, ask } = await project();
    await ask('session');
    await writeFile(join(root, 'src/session.ts'), 'export function openDoor() {\n  return 1;\n}\n');
    await writeFile(join(root, 'src/new.ts'), 'export function newborn() {}\n');
    await rm(join(root, 'lib/retry.py'));
    expect((await ask('openDoor')).hits[0]?.symbol).toBe('openDoor');
    expect(paths(await ask('newborn'))).toEqual(['src/new.ts']);
    expect(paths(await ask('retry_with_backoff'))).toEqual([]);
    expect(paths(await ask('rememberSession handles'))).not.toContain('lib/retry.py');
    expect(JSON.stringify((await ask('session')).hits)).not.toContain('closeSession');
  });

  it('is kept for the next process, and a touched file is not taken apart again', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, at) => [
        `f${at}.ts`,
        `export function f${at}() {\n  return ${at};\n}\n`,
      ]),
    );
    const one = await project(files);
    await one.ask('f7');
    await utimes(join(one.root, 'f7.ts'), new Date(), new Date());
    const answer = await one.again().ask('f7');
    expect(answer).toMatchObject({ partial: false, files: { known: 300, indexed: 300 } });
    expect(answer.hits[0]?.symbol).toBe('f7');
    const other = one.again({ budgetMs: 0 });
    expect(await other.ask('f9')).toMatchObject({ files: { indexed: 300 } });
  });

  it('answers in part when the time is over, and goes on', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 500 }, (_, at) => [`d/f${at}.ts`, `export function word${at}() {}\n`]),
    );
    const one = await project(
      { ...files, 'z/last.ts': 'export function lastOfAll() {}\n' },
      { budgetMs: 0, background: true },
    );
    const first = await one.ask('lastOfAll');
    expect(first.partial).toBe(true);
    expect(first.notes.join()).toContain('not read yet');
    // Exact text is found in files that are not in the index yet.
    expect(paths(first)).toEqual(['z/last.ts']);
    const patient = one.again({ budgetMs: 30_000 });
    expect(await patient.ask('lastOfAll')).toMatchObject({ partial: false, files: { indexed: 501 } });
  });

  it('makes a damaged one anew and says so', async () => {
    const one = await project(
      Object.fromEntries(
        Array.from({ length: 400 }, (_, at) => [`f${at}.ts`, `export function g${at}() {\n  return 1;\n}\n`]),
      ),
    );
    await one.ask('g1');
    const place = await indexFile(one);
    const bytes = await readFile(place);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 9) ^ 255, bytes.length - 9);
    await writeFile(place, bytes);
    const answer = await one.again().ask('g1');
    expect(answer.notes.join()).toContain('damaged');
    expect(answer.hits[0]?.symbol).toBe('g1');
    await writeFile(place, 'nonsense');
    expect((await one.again().ask('g1')).notes.join()).toContain('damaged');
  });

  it('stays in memory where nothing can be written', async () => {
    const one = await project(
      Object.fromEntries(
        Array.from({ length: 400 }, (_, at) => [`f${at}.ts`, `export function h${at}() {\n  return 1;\n}\n`]),
      ),
    );
    await writeFile(one.cache, 'a file where the folder should be');
    const answer = await one.ask('h1');
    expect(answer.hits[0]?.symbol).toBe('h1');
    expect(answer.notes.join()).toContain('in memory only');
    await rm(one.cache);
    await mkdir(one.cache);
    await chmod(one.cache, 0o700);
  });

  it('is shared by processes that write at the same time', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 200 }, (_, at) => [`f${at}.ts`, `export function k${at}() {}\n`]),
    );
    const one = await project(files);
    const answers = await Promise.all(
      [one, one.again(), one.again(), one.again()].map(({ ask }) => ask('k150')),
    );
    for (const { hits } of answers) expect(hits[0]?.symbol).toBe('k150');
    expect((await one.again().ask('k150')).notes).toEqual([]);
    expect(
      (await readdir(join(one.cache, 'code')).catch(() => [])).filter((name) => name.endsWith('.tmp')),
    ).toEqual([]);
  });

  it('stops when the caller leaves', async () => {
    const one = await project();
    const codebase = createCodebase({
      root: one.root,
      cache: one.cache,
      budgetMs: 5_000,
      background: true,
      log,
    });
    const left = AbortSignal.abort();
    await expect(codebase.search({ query: 'x', limit: 1 }, left, () => undefined)).rejects.toThrow();
    expect(
      (await codebase.search({ query: 'session', limit: 1 }, signal, () => undefined)).hits,
    ).toHaveLength(1);
    codebase.stop();
  });
});
