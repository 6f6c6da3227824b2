import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSession, type Session } from '../../../tests/support/operations.ts';
import { contextIn, temporaryFolder, testCall } from '../../../tests/support/app.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { stateNames } from '../../base/files/file-state.ts';
import { execute } from '../execute.ts';
import { searchCodebase } from './search-codebase.ts';

let session: Session;
let folder: string;
beforeAll(async () => {
  folder = await temporaryFolder(afterAll);
  await writeFiles(folder, {
    '.git/HEAD': '',
    'src/session.ts': 'export function closeSession(id: string): void {\n  sessions.delete(id);\n}\n',
    ...Object.fromEntries(
      Array.from({ length: 60 }, (_, at) => [
        `src/part${at}.ts`,
        `/** A widget of kind ${at}. */\nexport function widget${at}() {\n${`  use('widget', ${at});\n`.repeat(20)}}\n`,
      ]),
    ),
  });
  const cache = join(folder, '.git', 'cache');
  // One that waits for the index, however long that takes.
  session = await openSession(afterAll, {
    patient: true,
    flags: { project: folder, allowProjects: [dirname(folder)], cache, embedder: 'none' },
  });
});

describe('search_codebase', () => {
  it('says first where no code matches, or there is none, and finds identifiers as they are', async () => {
    const bare = await temporaryFolder(afterAll);
    await writeFiles(bare, {
      '.git/HEAD': '',
      'config.yaml': 'cart:\n  lock: optimistic\n',
      'notes.md': '# Notes\n\nUS-142 is not the one.\n\nThe cart of US-042 keeps its items.\n',
    });
    const asked = { project: bare };
    const { answer, data } = await session.ok(searchCodebase, {
      query: 'where is the cart locked',
      ...asked,
    });
    expect(data['searched']).toEqual({ files: 2, code: 0, hits: 0 });
    expect(answer.body).toMatch(
      /^No code in the 2 files searched \(0 of code, 2 of documents and configuration\) matches\. These do:\n/,
    );
    const found = await session.ok(searchCodebase, { query: 'US-042', ...asked });
    expect(JSON.stringify((found.data['items'] as object[])[0])).toContain('US-042');
    const none = await session.ok(searchCodebase, { query: 'quaternion', ...asked });
    expect(none.answer.body).toContain('(0 of code, 2 of documents and configuration)');
    const part = await session.ok(searchCodebase, { query: 'cart items', path: '**/*.md', ...asked });
    expect(part.answer.body).toContain('notes.md');
    expect(part.answer.body).not.toMatch(/no code/i);
  });

  it('answers with place, symbol and lines', async () => {
    const { answer, data } = await session.ok(searchCodebase, { query: 'close a session' });
    expect(answer.body).toMatch(/^src\/session\.ts:1-3 function closeSession \(typescript\)\n/);
    expect(answer.body).toContain('  1 export function closeSession');
    expect(answer.note).toContain('1 of 1 match, best first.');
    expect(data).toMatchObject({ partial: false, total: 1, legs: ['words'] });
  });

  it('compares meaning with the built-in model, unless that is switched off', async () => {
    const cache = join(folder, '.git', 'other-cache');
    const meaning = await openSession(afterAll, { patient: true, flags: { project: folder, cache } });
    const { data } = await meaning.ok(searchCodebase, { query: 'close a session' });
    expect(data['legs']).toEqual(expect.arrayContaining(['words', 'vectors']));
    expect((data['items'] as { symbol?: string }[])[0]).toMatchObject({ symbol: 'closeSession' });
  });

  it('shows the nearest in meaning where no file has the words, the first time it is asked (36-2)', async () => {
    const project = await temporaryFolder(afterAll);
    await writeFiles(project, {
      '.git/HEAD': '',
      'README.md': '# readlist\nA list of things to read, kept in one JSON file.\n',
      'src/list.js': 'export const show = (items) => items.map(({ title }) => title);\n',
      '_bmad-output/planning-artifacts/architecture.md':
        '# Architecture: readlist\nOne process, no packages. Items are kept in one JSON file.\n',
      '_bmad-output/.memory/decisions-log.md': '- [2026-11-17] None\n',
    });
    // Vectors are made in the background, as in a server.
    const cache = join(project, '.git', 'cache');
    const meaning = await openSession(afterAll, { flags: { project, cache } });
    const asked = async (more: object) =>
      (await meaning.ok(searchCodebase, { query: 'persistence and storage', ...more })).answer;
    for (const path of ['**/*.md', '_bmad-output']) {
      const { body, note } = await asked({ path });
      expect(body).toMatch(
        /^The nearest in meaning among the \d files? searched \(0 of code, \d of documents and configuration\); none contains these words:\n/,
      );
      expect(body).toContain('Items are kept in one JSON file');
      expect(note).toBe('Try other words or a name.');
    }
    expect((await asked({})).body).toContain('kept in one JSON file');
  });

  it('keeps to the size of an answer', async () => {
    const { answer, data } = await session.ok(searchCodebase, { query: 'widget', limit: 50 });
    expect(Buffer.byteLength(answer.body)).toBeLessThanOrEqual(10_000);
    expect((data['items'] as unknown[]).length).toBeGreaterThan(8);
    expect(data['total']).toBe(60);
  });

  it('says when nothing is found, and how to look further only where a part was asked for (W3-C8)', async () => {
    const { answer } = await session.ok(searchCodebase, { query: 'zzzz' });
    expect(answer.body).toBe(
      'Nothing in the 61 files searched (61 of code, 0 of documents and configuration) matches "zzzz".',
    );
    expect(answer.note).toBe('Try other words or a name.');
    const part = await session.ok(searchCodebase, { query: 'zzzz', lang: 'typescript' });
    expect(part.answer.note).toContain('Without path and lang, the whole project is searched.');
  });

  it('refuses what it cannot use', async () => {
    expect((await session.fail(searchCodebase, { query: '  ' })).code).toBe('invalid_input');
    expect((await session.fail(searchCodebase, { query: 'x', limit: 0 })).code).toBe('invalid_input');
    expect((await session.fail(searchCodebase, { query: 'x', path: '../x' })).code).toBe('forbidden');
    expect((await session.fail(searchCodebase, { query: 'x', lang: 'pyton' })).suggestions).toEqual([
      'python',
    ]);
    expect((await session.ok(searchCodebase, { query: 'word '.repeat(20_000) })).data['total']).toBe(0);
  });

  it('needs a project', async () => {
    const nowhere = await openSession(afterAll, { cwd: '/' });
    const error = await nowhere.fail(searchCodebase, { query: 'x' });
    expect([error.code, error.hint]).toEqual(['not_found', expect.stringContaining('--project')]);
  });

  it.each([
    ['may only read', {}, false],
    ['asks a server that only reads', { readOnly: 'true' }, true],
  ])('keeps no index for a caller who %s', async (_, flags, mayWrite) => {
    const cache = join(await temporaryFolder(afterAll), 'cache');
    const settings = { project: folder, cache, embedder: 'none' };
    // Without work in the background, the index is written before the answer comes.
    const search = async (more: object, may: boolean): Promise<unknown> => {
      const context = await contextIn(folder, { flags: { ...settings, ...more }, patient: true });
      const call = { ...testCall(), mayWrite: may };
      const first = await execute(searchCodebase, { query: 'close a session' }, context, call);
      context.close();
      return first;
    };
    expect(await search(flags, mayWrite)).toMatchObject({ ok: true, data: { partial: false, total: 1 } });
    expect(await stateNames(cache)).toEqual([]);
    expect(await search({}, true)).toMatchObject({ ok: true });
    expect(await stateNames(cache)).toEqual(['code']);
  });

  it('keeps the index for a caller who may write after one who may only read', async () => {
    const cache = join(await temporaryFolder(afterAll), 'cache');
    const flags = { project: folder, cache, embedder: 'none' };
    const context = await contextIn(folder, { flags, patient: true });
    for (const mayWrite of [false, true]) {
      const call = { ...testCall(), mayWrite };
      expect(await execute(searchCodebase, { query: 'widget' }, context, call)).toMatchObject({ ok: true });
      expect(await stateNames(cache)).toEqual(mayWrite ? ['code'] : []);
    }
    context.close();
  });
});
