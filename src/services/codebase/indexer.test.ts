import { linkSync } from 'node:fs';
import { readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { codeProject, manyFiles, paths, type CodeProject } from '../../../tests/support/code-project.ts';
import { writeFiles } from '../../../tests/support/folders.ts';
import { rounds } from '../../../tests/support/how-much.ts';

const indexFile = async ({ cache }: CodeProject): Promise<string> =>
  join(cache, 'code', (await readdir(join(cache, 'code'))).find((name) => name.endsWith('.index')) ?? '');

describe('the index', () => {
  it('notices changed, new and removed files at the next question', async () => {
    const { root, ask } = await codeProject();
    await ask('session');
    await writeFile(join(root, 'src/session.ts'), 'export function openDoor() {\n  return 1;\n}\n');
    await writeFile(join(root, 'src/new.ts'), 'export function newborn() {}\n');
    await rm(join(root, 'lib/retry.py'));
    expect((await ask('openDoor')).hits[0]?.symbol).toBe('openDoor');
    expect(paths(await ask('newborn'))).toEqual(['src/new.ts']);
    expect(paths(await ask('retry_with_backoff'))).toEqual([]);
    expect(JSON.stringify((await ask('session')).hits)).not.toContain('closeSession');
  });

  it('notices every change where the system is asked to tell of them', async () => {
    const files = { ...manyFiles(520, 'told'), 'e/.gitignore': '' };
    const { root, ask } = await codeProject(files, { watch: true, without: { grammars: true } });
    // With all files read, and what was written here no longer new, the system answers for them.
    for (const query of ['told1', 'told2', 'told3']) expect((await ask(query)).partial).toBe(false);
    for (let at = 0; at < rounds(6, 12); at += 1) {
      const path = join(root, `d/f${at}.ts`);
      const text = `export const changed${at} = 1;\n`;
      if (at % 3 === 0) await writeFile(path, text);
      else if (at % 3 === 1) {
        await writeFile(`${path}~`, text);
        await rename(`${path}~`, path);
      } else await writeFile(join(root, `e/new${at}.ts`), text);
      expect((await ask(`changed${at}`)).hits).toHaveLength(1);
    }
    await writeFile(join(root, 'e/.gitignore'), '*.ts\n');
    expect((await ask('changed2')).hits).toEqual([]);
    await rm(join(root, 'd/f0.ts'));
    expect((await ask('changed0')).hits).toEqual([]);
  });

  it('is kept for the next process, also when files were touched', async () => {
    const one = await codeProject(manyFiles(80, 'kept'));
    await one.ask('kept7');
    await utimes(join(one.root, 'd/f7.ts'), new Date(), new Date());
    const answer = await one.again().ask('kept7');
    expect(answer).toMatchObject({ partial: false, files: { known: 80, indexed: 80 } });
    expect(answer.hits[0]?.symbol).toBe('kept7');
    expect((await one.again({ budgetMs: 0 }).ask('kept9')).files.indexed).toBe(80);
  });

  it('answers in part when the time is over, and goes on', async () => {
    const files = { ...manyFiles(1_200, 'word'), 'z/last.ts': 'export function lastOfAll() {}\n' };
    const one = await codeProject(files, { budgetMs: 0 });
    const first = await one.ask('lastOfAll');
    expect(first.partial).toBe(true);
    expect(first.notes.join()).toContain('files not read yet');
    // Exact text is found in files that are not in the index yet.
    expect(paths(first)).toEqual(['z/last.ts']);
    const background = one.again({ background: true });
    await expect.poll(async () => (await background.ask('lastOfAll')).partial).toBe(false);
    const patient = one.again({ budgetMs: 30_000 });
    expect(await patient.ask('lastOfAll')).toMatchObject({ partial: false, files: { indexed: 1_201 } });
  });

  it('reads a small project to the end before the first answer, whatever time it has (J-E11)', async () => {
    const files = { ...manyFiles(16, 'word'), 'src/list.ts': 'export function keepsTheList() {}\n' };
    for (const background of [false, true]) {
      const one = await codeProject(files, { budgetMs: 0, background });
      const first = await one.ask('which function keeps the list');
      expect(first).toMatchObject({ partial: false, files: { known: 17, indexed: 17 } });
      expect(paths(first)).toContain('src/list.ts');
    }
  });

  it('looks at no more files than it can bear, and says so', async () => {
    const folders = Array.from({ length: 50 }, (_, at) => `d${at}`);
    const first = Object.fromEntries(folders.map((folder) => [`${folder}/f0.txt`, '']));
    const one = await codeProject(first, { budgetMs: 100 });
    // Links to a file cost less than files, and count the same.
    for (let at = 50; at < 30_010; at += 1) {
      const folder = join(one.root, folders[at % 50] ?? '');
      linkSync(join(folder, 'f0.txt'), join(folder, `f${at}.txt`));
    }
    const answer = await one.ask('anything');
    expect(answer).toMatchObject({ partial: true, files: { known: 30_010 } });
    expect(answer.notes.join()).toContain('10 more files');
  });

  it('makes a damaged one anew and says so', async () => {
    const one = await codeProject(manyFiles(80, 'whole'));
    await one.ask('whole1');
    const place = await indexFile(one);
    const bytes = await readFile(place);
    bytes.writeUInt8(bytes.readUInt8(bytes.length - 9) ^ 255, bytes.length - 9);
    for (const content of [bytes, 'nonsense', bytes.subarray(0, 60), '']) {
      await writeFile(place, content);
      const answer = await one.again().ask('whole1');
      expect(answer.notes.join()).toContain('damaged');
      expect(answer.hits[0]?.symbol).toBe('whole1');
    }
  });

  it('grows at its end, and a part that was not written to the end is read again', async () => {
    const one = await codeProject(manyFiles(60, 'before'), { without: { grammars: true } });
    await one.ask('before1');
    const first = await readFile(await indexFile(one));
    await writeFiles(one.root, manyFiles(50, 'after'));
    await one.again().ask('after1');
    const both = await readFile(await indexFile(one));
    expect(both.subarray(0, first.length).equals(first)).toBe(true);
    await writeFile(await indexFile(one), both.subarray(0, -40));
    const partly = await one.again({ budgetMs: 0 }).ask('before55');
    expect(partly).toMatchObject({ files: { indexed: 60 }, hits: [{ path: 'd/f55.ts' }] });
    expect(partly.notes.join()).not.toContain('damaged');
    for (const again of [one.again(), one.again({ budgetMs: 0 })])
      expect((await again.ask('after1')).hits[0]?.path).toBe('d/f1.ts');
  });

  it('stays in memory where nothing can be written', async () => {
    const one = await codeProject(manyFiles(80, 'held'));
    await writeFile(one.cache, 'a file where the folder should be');
    const answer = await one.ask('held1');
    expect(answer.hits[0]?.symbol).toBe('held1');
    expect(answer.notes.join()).toContain('in memory only');
  });

  it('is shared by several that write at the same time', async () => {
    const one = await codeProject(manyFiles(80, 'shared'));
    const all = [one, one.again(), one.again(), one.again()];
    const answers = await Promise.all(all.map(({ ask }) => ask('shared50')));
    for (const { hits } of answers) expect(hits[0]?.symbol).toBe('shared50');
    expect((await one.again({ budgetMs: 0 }).ask('shared50')).files.indexed).toBe(80);
    expect((await readdir(join(one.cache, 'code'))).filter((name) => !name.endsWith('.index'))).toEqual([]);
  });

  it('stops when the caller leaves, and works for the next one', async () => {
    const one = await codeProject(manyFiles(300, 'left'), { background: true });
    const leaving = new AbortController();
    const asked = one.ask('left1', { signal: leaving.signal });
    leaving.abort();
    await expect(asked).rejects.toThrow('aborted');
    expect((await one.ask('left1')).hits[0]?.symbol).toBe('left1');
  });
});
