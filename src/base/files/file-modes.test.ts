import { chmod, mkdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { withLock } from './file-lock.ts';
import { appendLog, replaceLog } from './file-log.ts';
import { ensureFolder, keepPrivate } from './file-modes.ts';
import { appendLine, replaceShared } from './file-shared.ts';
import { writeAtomic } from './file-state.ts';
import { copyFiles, copyNew } from './file-tree.ts';
import { STATE_FOLDER } from '../product.ts';

let folder: string;
beforeEach(async () => {
  folder = await temporaryFolder((cleanUp) => onTestFinished(cleanUp));
});

const modeOf = async (path: string): Promise<string> =>
  ((await stat(join(folder, path))).mode & 0o7777).toString(8);

// Windows has other rights.
describe.skipIf(process.platform === 'win32')('what the server makes', () => {
  it.each([
    [0o2775, '2775', '664'],
    [0o755, '755', '644'],
    [0o700, '700', '600'],
    // A folder that is everybody's is no reason to let everybody write.
    [0o1777, '755', '644'],
  ])('is for whom a project of mode %o is', async (mode, folders, files) => {
    await mkdir(join(folder, 'project'));
    await chmod(join(folder, 'project'), mode);
    const root = join(folder, 'project/_bmad');
    await withLock(join(root, 'tasks/.lock'), { waitMs: 0 }, async () => {
      const { mode: lock } = await stat(join(root, 'tasks/.lock'));
      expect(lock & 0o040).toBe(mode & 0o040);
    });
    await writeAtomic(join(root, 'tasks/one.json'), '{}');
    await ensureFolder(join(root, 'log'));
    await appendLog(join(root, 'log/journal.jsonl'), ['{}']);
    await replaceLog(join(root, 'log/replaced.jsonl'), ['{}']);
    await appendLine(root, 'shared/notes.md', 'a');
    await replaceShared(root, 'shared/other.md', 'b');
    for (const path of ['', '/tasks', '/log', '/shared'])
      expect([path, await modeOf(`project/_bmad${path}`)]).toEqual([path, folders]);
    for (const path of [
      'tasks/one.json',
      'log/journal.jsonl',
      'log/replaced.jsonl',
      'shared/notes.md',
      'shared/other.md',
    ])
      expect([path, await modeOf(`project/_bmad/${path}`)]).toEqual([path, files]);
  });

  it.each([
    ['is not there yet', undefined],
    ['is there and open', 0o755],
    ['is there and everybody writes in it', 0o777],
  ])('is for the user alone in a private folder that %s', async (_, mode) => {
    await chmod(folder, 0o755);
    const state = join(folder, '.local/state/ours');
    await keepPrivate([state]);
    if (mode !== undefined) {
      await mkdir(state, { recursive: true });
      await chmod(state, mode);
    }
    await writeAtomic(join(state, 'top.json'), '{}');
    await writeAtomic(join(state, 'projects/a/state.json'), '{}');
    await ensureFolder(join(state, 'log'));
    await appendLog(join(state, 'log/journal.jsonl'), ['{}']);
    await copyNew(join(state, 'top.json'), join(state, 'copies/top.json'));
    const folders = ['projects', 'projects/a', 'log', 'copies'];
    for (const path of [...folders, ...(mode === undefined ? ['', '..', '../..'] : [])])
      expect([path, await modeOf(join('.local/state/ours', path))]).toEqual([path, '700']);
    for (const path of ['top.json', 'projects/a/state.json', 'log/journal.jsonl', 'copies/top.json'])
      expect([path, await modeOf(join('.local/state/ours', path))]).toEqual([path, '600']);
  });

  it('is for the user alone in a private folder that is reached by another way', async () => {
    await mkdir(join(folder, 'disk/ours'), { recursive: true });
    await symlink(join(folder, 'disk'), join(folder, 'link'));
    await keepPrivate([join(folder, 'link/ours')]);
    await writeAtomic(join(folder, 'link/ours/one.json'), '{}');
    await writeAtomic(join(folder, 'disk/ours/two.json'), '{}');
    expect(await modeOf('disk/ours/one.json')).toBe('600');
    expect(await modeOf('disk/ours/two.json')).toBe('600');
  });

  it('is not private because a folder has the name of ours', async () => {
    await mkdir(join(folder, 'private'));
    await keepPrivate([join(folder, 'private', STATE_FOLDER)]);
    await chmod(folder, 0o755);
    await writeAtomic(join(folder, STATE_FOLDER, '_bmad/one.json'), '{}');
    await writeAtomic(join(folder, 'private', `${STATE_FOLDER}-2`, 'one.json'), '{}');
    expect(await modeOf(`${STATE_FOLDER}/_bmad`)).toBe('755');
    expect(await modeOf(`${STATE_FOLDER}/_bmad/one.json`)).toBe('644');
    expect(await modeOf(`private/${STATE_FOLDER}-2/one.json`)).toBe('644');
  });

  it.each([
    [0o2775, '2775', '664'],
    [0o755, '755', '644'],
  ])(
    'is for whom a project of mode %o is also when it was copied from a private place',
    async (mode, folders, files) => {
      await writeAtomic(join(folder, 'mine/a/one.json'), '{}', { mode: 0o600 });
      await mkdir(join(folder, 'project'));
      await chmod(join(folder, 'project'), mode);
      await copyNew(join(folder, 'mine/a/one.json'), join(folder, 'project/x/one.json'));
      await copyFiles(join(folder, 'mine'), join(folder, 'project/all'));
      for (const path of ['x', 'all', 'all/a'])
        expect([path, await modeOf(`project/${path}`)]).toEqual([path, folders]);
      for (const path of ['x/one.json', 'all/a/one.json'])
        expect([path, await modeOf(`project/${path}`)]).toEqual([path, files]);
    },
  );

  it('keeps the rights that a file has', async () => {
    await writeAtomic(join(folder, 'one.json'), '{}');
    await chmod(join(folder, 'one.json'), 0o640);
    await replaceShared(folder, 'one.json', '[]');
    await replaceLog(join(folder, 'one.json'), ['[]']);
    expect(await modeOf('one.json')).toBe('640');
  });
});
