import { mkdir, readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../tests/support/app.ts';
import { isUsed } from './place.ts';

const refused = { code: 'forbidden', hint: expect.stringContaining('Remove the link') as unknown };

describe('the place of the memories in a project', () => {
  it.each(['', 'not-there'])('is no link that leads out of it, to "%s"', async (target) => {
    const [memory, elsewhere] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    const folder = join(memory, '.bmad-memory');
    await symlink(join(elsewhere, target), folder);
    await expect(isUsed(folder)).rejects.toMatchObject(refused);
    expect(await readdir(elsewhere)).toEqual([]);
  });

  it.each(['2026-11-17', '.bmad-memory.db', '.bmad-memory.jsonl'])(
    'is in use where it has %s',
    async (name) => {
      const folder = join(await temporaryFolder(afterAll), '.bmad-memory');
      expect(await isUsed(folder)).toBe(false);
      await mkdir(join(folder, 'unfinished'), { recursive: true });
      expect(await isUsed(folder)).toBe(false);
      await mkdir(join(folder, name));
      expect(await isUsed(folder)).toBe(true);
    },
  );

  it("may be a link where it is the user's own", async () => {
    const [state, elsewhere] = [await temporaryFolder(afterAll), await temporaryFolder(afterAll)];
    await symlink(elsewhere, join(state, 'shop-0123456789ab'));
    expect(await isUsed(join(state, 'shop-0123456789ab'))).toBe(false);
  });
});
