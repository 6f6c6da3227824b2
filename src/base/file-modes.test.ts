import { chmod, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { temporaryFolder } from '../../tests/support/app.ts';
import { withLock } from './file-lock.ts';
import { appendLog, replaceLog } from './file-log.ts';
import { appendLine, replaceShared } from './file-shared.ts';
import { ensureFolder, writeAtomic } from './file-state.ts';
import { STATE_FOLDER } from './product.ts';

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

  it('is for the user alone in the folders that are kept with the user', async () => {
    await chmod(folder, 0o755);
    await writeAtomic(join(folder, '.local/state', STATE_FOLDER, 'projects/a/state.json'), '{}');
    for (const path of ['.local', '.local/state', `.local/state/${STATE_FOLDER}/projects/a`])
      expect([path, await modeOf(path)]).toEqual([path, '700']);
    expect(await modeOf(`.local/state/${STATE_FOLDER}/projects/a/state.json`)).toBe('600');
  });

  it('keeps the rights that a file has', async () => {
    await writeAtomic(join(folder, 'one.json'), '{}');
    await chmod(join(folder, 'one.json'), 0o640);
    await replaceShared(folder, 'one.json', '[]');
    await replaceLog(join(folder, 'one.json'), ['[]']);
    expect(await modeOf('one.json')).toBe('640');
  });
});
