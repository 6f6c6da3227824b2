import { link, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { isUsed, preparePlace } from './place.ts';

const refused = { code: 'forbidden', hint: expect.stringContaining('Remove the link') as unknown };

describe('the place of the memories in a project', () => {
  it.each(['', 'not-there'])('is no link that leads out of it, to "%s"', async (target) => {
    const [memory, elsewhere] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    const folder = join(memory, '.bmad-memory');
    await symlink(join(elsewhere, target), folder);
    await expect(preparePlace({ folder, owner: 'project' })).rejects.toMatchObject(refused);
    await expect(isUsed(folder)).rejects.toMatchObject(refused);
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it.each([
    ['.bmad-memory.db', 'not-there'],
    ['.bmad-memory.db', 'notes'],
    ['.bmad-memory.db-wal', 'not-there'],
    ['.bmad-memory.jsonl', 'notes'],
  ])('has no %s that is a link to "%s" elsewhere', async (name, target) => {
    const [memory, elsewhere] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    await writeFile(join(elsewhere, 'notes'), 'mine');
    const folder = join(memory, '.bmad-memory');
    await mkdir(folder);
    await symlink(join(elsewhere, target), join(folder, name));
    await expect(preparePlace({ folder, owner: 'project' })).rejects.toMatchObject(refused);
    await expect(isUsed(folder)).rejects.toMatchObject(refused);
    expect(await readdir(elsewhere)).toEqual(['notes']);
  });

  it.each(['.bmad-memory.db', '.bmad-memory.db-wal', '.bmad-memory.jsonl'])(
    'has no %s that is another file as well (N-08)',
    async (name) => {
      const [memory, elsewhere] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
      await writeFile(join(elsewhere, 'notes'), 'mine');
      const folder = join(memory, '.bmad-memory');
      await mkdir(folder);
      await link(join(elsewhere, 'notes'), join(folder, name));
      const twice = { code: 'forbidden', message: expect.stringContaining('more than one name') as unknown };
      await expect(preparePlace({ folder, owner: 'project' })).rejects.toMatchObject(twice);
      await expect(isUsed(folder)).rejects.toMatchObject(twice);
      expect(await readFile(join(elsewhere, 'notes'), 'utf8')).toBe('mine');
    },
  );

  it('is made when there is none, and found again', async () => {
    const folder = join(await temporaryFolder(afterAll), '.bmad-memory');
    expect(await isUsed(folder)).toBe(false);
    await preparePlace({ folder, owner: 'project' });
    expect(await readdir(folder)).toEqual(['.gitignore']);
    await writeFile(join(folder, '.bmad-memory.db'), '');
    await preparePlace({ folder, owner: 'project' });
    expect(await isUsed(folder)).toBe(true);
  });

  it("may be a link where it is the user's own", async () => {
    const [state, elsewhere] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    await symlink(elsewhere, join(state, 'shop-0123456789ab'));
    await preparePlace({ folder: join(state, 'shop-0123456789ab'), owner: 'user' });
    expect(await isUsed(join(state, 'shop-0123456789ab'))).toBe(false);
  });
});
